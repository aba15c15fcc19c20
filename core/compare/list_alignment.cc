#include "core/compare/list_alignment.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace ringscope {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

using List = std::span<const uint64_t>;

class Aligner {
 public:
  Aligner(List a, List b) : a_(a), b_(b) {}

  std::vector<AlignedPair> Run() {
    // Stretches still to be aligned; the first in the lists is taken first.
    std::vector<Stretch> todo = {
        {0, static_cast<uint32_t>(a_.size()), 0, static_cast<uint32_t>(b_.size())}};
    while (!todo.empty()) {
      Stretch stretch = todo.back();
      todo.pop_back();
      TakeCommonEnds(stretch);
      if (stretch.a_begin == stretch.a_end || stretch.b_begin == stretch.b_end) continue;
      if (!AlignExactly(stretch)) PairEqual(stretch, todo);
    }
    std::sort(pairs_.begin(), pairs_.end());
    return std::move(pairs_);
  }

 private:
  struct Stretch {
    uint32_t a_begin, a_end;
    uint32_t b_begin, b_end;
  };

  void TakeCommonEnds(Stretch& s) {
    while (s.a_begin < s.a_end && s.b_begin < s.b_end && a_[s.a_begin] == b_[s.b_begin])
      pairs_.emplace_back(s.a_begin++, s.b_begin++);
    while (s.a_begin < s.a_end && s.b_begin < s.b_end && a_[s.a_end - 1] == b_[s.b_end - 1])
      pairs_.emplace_back(--s.a_end, --s.b_end);
  }

  /// Myers' greedy algorithm: the furthest point on each diagonal, for 0, 1, 2, ... edits.
  /// @return false if more than kMaxExactEdits are needed
  bool AlignExactly(const Stretch& s) {
    const auto n = static_cast<int32_t>(s.a_end - s.a_begin);
    const auto m = static_cast<int32_t>(s.b_end - s.b_begin);
    const auto most = static_cast<int32_t>(
        std::min<uint64_t>(kMaxExactEdits, static_cast<uint64_t>(n) + static_cast<uint64_t>(m)));
    std::vector<std::vector<int32_t>> history;  // furthest x of diagonals -d, -d+2, ..., d
    for (int32_t d = 0; d <= most; ++d) {
      std::vector<int32_t> reached(static_cast<size_t>(d) + 1);
      for (int32_t k = -d; k <= d; k += 2) {
        int32_t x = StepTo(history, d, k).x;
        while (x < n && x - k < m && x - k >= 0 && At(a_, s.a_begin, x) == At(b_, s.b_begin, x - k))
          ++x;
        reached[static_cast<size_t>((k + d) / 2)] = x;
        if (x >= n && x - k >= m) {
          history.push_back(std::move(reached));
          WalkBack(s, history, k);
          return true;
        }
      }
      history.push_back(std::move(reached));
    }
    return false;
  }

  static uint64_t At(List list, uint32_t begin, int32_t i) {
    return list[begin + static_cast<uint32_t>(i)];
  }

  struct Step {
    int32_t x = 0;
    bool is_from_above = false;  // it took an element of b
  };
  /// Returns the furthest start on diagonal k after d edits: one more than those on its neighbours.
  static Step StepTo(const std::vector<std::vector<int32_t>>& history, int32_t d, int32_t k) {
    if (d == 0) return {};
    const auto at = [d, &before = history[static_cast<size_t>(d - 1)]](int32_t diagonal) {
      return before[static_cast<size_t>((diagonal + d - 1) / 2)];
    };
    const bool is_from_above = k == -d || (k != d && at(k - 1) < at(k + 1));
    return {is_from_above ? at(k + 1) : at(k - 1) + 1, is_from_above};
  }

  void WalkBack(const Stretch& s, const std::vector<std::vector<int32_t>>& history, int32_t k) {
    int32_t x =
        history.back()[static_cast<size_t>((k + static_cast<int32_t>(history.size()) - 1) / 2)];
    for (auto d = static_cast<int32_t>(history.size()) - 1; d >= 0; --d) {
      const Step step = StepTo(history, d, k);
      while (x > step.x) {
        --x;
        pairs_.emplace_back(s.a_begin + static_cast<uint32_t>(x),
                            s.b_begin + static_cast<uint32_t>(x - k));
      }
      k += step.is_from_above ? 1 : -1;
      if (!step.is_from_above) --x;
    }
  }

  struct Occurrences {
    uint32_t in_a = 0;
    std::vector<uint32_t> in_b;  // places
    size_t paired = 0;

    bool are_unique() const { return in_a == 1 && in_b.size() == 1; }
  };

  /// Pairs the elements that occur once on each side, as far as their order is the same, and leaves
  /// the stretches between for later. If there are none, pairs the n-th of equal elements with the
  /// n-th, as far as that keeps the order.
  void PairEqual(const Stretch& s, std::vector<Stretch>& todo) {
    std::unordered_map<uint64_t, Occurrences> elements;
    for (uint32_t i = s.a_begin; i < s.a_end; ++i) ++elements[a_[i]].in_a;
    for (uint32_t j = s.b_begin; j < s.b_end; ++j) elements[b_[j]].in_b.push_back(j);
    const bool cuts = std::ranges::any_of(
        elements, [](const auto& element) { return element.second.are_unique(); });
    std::vector<uint32_t> from_a, to_b;
    for (uint32_t i = s.a_begin; i < s.a_end; ++i) {
      Occurrences& equal = elements[a_[i]];
      if (equal.paired == equal.in_b.size() || (cuts && !equal.are_unique())) continue;
      from_a.push_back(i);
      to_b.push_back(equal.in_b[equal.paired++]);
    }
    const std::vector<uint32_t> kept = LongestAscending(to_b);
    Stretch rest = s;
    for (size_t n = kept.size(); n-- > 0;) {  // the last first, as the first is taken first
      const uint32_t i = from_a[kept[n]];
      const uint32_t j = to_b[kept[n]];
      pairs_.emplace_back(i, j);
      if (cuts) todo.push_back({i + 1, rest.a_end, j + 1, rest.b_end});
      rest.a_end = i;
      rest.b_end = j;
    }
    if (cuts) todo.push_back(rest);
  }

  const List a_;
  const List b_;
  std::vector<AlignedPair> pairs_;
};

}  // namespace

std::vector<AlignedPair> Align(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  return Aligner(a, b).Run();
}

std::vector<uint32_t> LongestAscending(std::span<const uint32_t> values) {
  std::vector<uint32_t> tails;                         // index of the least end of each length
  std::vector<uint32_t> before(values.size(), kNone);  // index before it in its run
  for (uint32_t i = 0; i < values.size(); ++i) {
    const auto place =
        std::lower_bound(tails.begin(), tails.end(), values[i],
                         [&](uint32_t tail, uint32_t value) { return values[tail] < value; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<uint32_t> run;
  for (uint32_t i = tails.empty() ? kNone : tails.back(); i != kNone; i = before[i])
    run.push_back(i);
  std::reverse(run.begin(), run.end());
  return run;
}

}  // namespace ringscope
