#ifndef RINGSCOPE_CORE_GAPS_GAP_TRACK_H_
#define RINGSCOPE_CORE_GAPS_GAP_TRACK_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "core/ledger/ledger.h"

namespace ringscope {

/// The order in which a sequence's packets were lost and read, as runs. Accounts come with their
/// fates, not in order; each is put where it belongs. Memory: O(runs).
class GapTrack {
 public:
  static constexpr uint32_t kNoDetail = UINT32_MAX;

  enum class Kind : uint8_t { kLost, kRead, kPending };

  struct Point {
    uint64_t chunk = 0;
    uint32_t offset = 0;
    friend auto operator<=>(const Point&, const Point&) = default;
  };

  /// Consecutive packets of one kind.
  struct Run {
    Point first;
    Point last;
    uint64_t last_chunk = 0;  // where the last packet ends
    uint32_t last_fragment = 0;
    Kind kind = Kind::kLost;
    uint32_t detail = kNoDetail;  // what the caller knows of it
  };

  /// Puts in a packet that was not lost.
  /// @param detail kNoDetail: nothing special; else the packet starts a run of its own
  void AddKept(const PacketAccount& account, Kind kind, uint32_t detail);
  /// Puts in a lost packet. @return its run, to be used before the next call
  Run& AddLost(const PacketAccount& account);

  /// Once all packets are in: runs of lost packets with nothing between them become one.
  /// `merge(detail, other)`: the second run's detail goes into the first one's.
  template <typename Merge>
  void Join(Merge merge) {
    std::vector<Run> joined;
    for (const Run& run : runs_) {
      if (joined.empty() || joined.back().kind != Kind::kLost || run.kind != Kind::kLost) {
        joined.push_back(run);
        continue;
      }
      Run& before = joined.back();
      before.last = run.last;
      before.last_chunk = std::max(before.last_chunk, run.last_chunk);
      before.last_fragment = run.last_fragment;
      if (before.detail == kNoDetail)
        before.detail = run.detail;
      else if (run.detail != kNoDetail)
        merge(before.detail, run.detail);
    }
    runs_.swap(joined);
  }

  const std::vector<Run>& runs() const { return runs_; }

 private:
  using Iterator = std::vector<Run>::iterator;
  Iterator FirstAfter(Point point);

  std::vector<Run> runs_;  // in order, apart from each other
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_TRACK_H_
