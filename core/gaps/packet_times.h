#ifndef RINGSCOPE_CORE_GAPS_PACKET_TIMES_H_
#define RINGSCOPE_CORE_GAPS_PACKET_TIMES_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/ledger/ledger.h"

namespace ringscope {

/// The packets' own times (CLOCK_BOOTTIME, ns), from their commit until their fate is known.
/// Memory: 8 bytes for each packet of the chunks that the ledger remembers.
class PacketTimes {
 public:
  /// Notes the time of a packet, where it is known, by its first fragment.
  void Add(BufferId buffer, ChunkName chunk, size_t fragment, std::optional<uint64_t> time_ns) {
    std::vector<uint64_t>& times = times_[{buffer, chunk}];
    if (times.size() <= fragment) times.resize(fragment + 1);
    times[fragment] = time_ns.value_or(0);
  }
  /// Forgets a chunk, but for its last packet, which may continue in later ones.
  void Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
    const auto times = times_.find({buffer, {sequence, IdOf(chunk)}});
    if (times == times_.end()) return;
    last_[sequence] = {chunk, times->second.size() - 1, times->second.back()};
    times_.erase(times);
  }
  /// Returns the packet's own time, or else that of its commit; 0: neither is known.
  uint64_t Of(const PacketAccount& account) const {
    const auto times = times_.find({account.buffer, {account.sequence, IdOf(account.first_chunk)}});
    const Last* const last = last_.Find(account.sequence);
    uint64_t time_ns = 0;
    if (times != times_.end() && account.fragment < times->second.size())
      time_ns = times->second[account.fragment];
    else if (last != nullptr && last->chunk == account.first_chunk &&
             last->fragment == account.fragment)
      time_ns = last->time_ns;
    return time_ns != 0 ? time_ns : account.written.time_ns.value_or(0);
  }

 private:
  /// The last packet of the chunk that was forgotten last.
  struct Last {
    uint64_t chunk = 0;
    uint64_t fragment = 0;
    uint64_t time_ns = 0;
  };
  std::unordered_map<ChunkAt, std::vector<uint64_t>> times_;  // by fragment; 0: not known
  SequenceMap<Last> last_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_PACKET_TIMES_H_
