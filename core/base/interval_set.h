#ifndef RINGSCOPE_CORE_BASE_INTERVAL_SET_H_
#define RINGSCOPE_CORE_BASE_INTERVAL_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringscope {

/// A set of numbers that mostly come in runs: which chunk ids a sequence has used. It keeps at most
/// kMaxRuns runs; beyond that the lowest holes are filled, so that memory stays bounded.
class IntervalSet {
 public:
  static constexpr size_t kMaxRuns = 4096;

  void Insert(uint64_t value) {
    if (!runs_.empty() && runs_.back().last + 1 == value) {  // the usual case
      runs_.back().last = value;
      return;
    }
    auto at = std::ranges::upper_bound(runs_, value, {}, &Run::first);
    if (at != runs_.begin() && std::prev(at)->last >= value) return;
    at = runs_.insert(at, {value, value});
    if (const auto next = std::next(at); next != runs_.end() && next->first == value + 1) {
      at->last = next->last;
      runs_.erase(next);
    }
    if (at != runs_.begin() && std::prev(at)->last + 1 == value) {
      std::prev(at)->last = at->last;
      runs_.erase(at);
    }
    if (runs_.size() > kMaxRuns) {
      runs_[1].first = runs_[0].first;
      runs_.erase(runs_.begin());
    }
  }

  bool Contains(uint64_t value) const { return ContainsAll(value, value); }
  /// Both ends included.
  bool ContainsAll(uint64_t first, uint64_t last) const {
    const auto at = std::ranges::upper_bound(runs_, first, {}, &Run::first);
    return at != runs_.begin() && std::prev(at)->last >= last;
  }
  /// Returns true if any number of these is in the set; both ends included.
  bool ContainsAny(uint64_t first, uint64_t last) const {
    const auto at = std::ranges::upper_bound(runs_, last, {}, &Run::first);
    return at != runs_.begin() && std::prev(at)->last >= first;
  }
  size_t runs() const { return runs_.size(); }
  /// Calls `visit(first, last)` for each run of numbers between two of the set that are not in it,
  /// ascending.
  template <typename Visit>
  void VisitHoles(Visit visit) const {
    for (size_t i = 1; i < runs_.size(); ++i) visit(runs_[i - 1].last + 1, runs_[i].first - 1);
  }

 private:
  struct Run {
    uint64_t first, last;  // inclusive
  };
  std::vector<Run> runs_;  // ascending, disjoint, not adjacent
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_INTERVAL_SET_H_
