#ifndef RINGSCOPE_CORE_GAPS_PACKET_TIMES_H_
#define RINGSCOPE_CORE_GAPS_PACKET_TIMES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/ledger/packet_values.h"

namespace ringscope {

/// The packets' own times (CLOCK_BOOTTIME, ns), from their commit until their fate is known.
/// Memory: 8 bytes for each packet of the chunks that the ledger remembers.
class PacketTimes {
 public:
  /// Notes the time of a packet, where it is known, by its first fragment.
  void Add(BufferId buffer, ChunkName chunk, size_t fragment, std::optional<uint64_t> time_ns) {
    times_.Set({buffer, chunk}, fragment, time_ns.value_or(0));
  }
  /// Forgets a chunk, but for its last packet, which may continue in later ones.
  void Forget(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
    const std::vector<uint64_t> times = times_.Forget({buffer, {sequence, IdOf(chunk)}});
    if (!times.empty()) last_[sequence] = {chunk, times.size() - 1, times.back()};
  }
  /// Returns the packet's own time, or else that of its commit; 0: neither is known.
  uint64_t Of(const PacketAccount& account) const {
    if (const uint64_t time_ns = times_.Of(account); time_ns != 0) return time_ns;
    const Last* const last = last_.Find(account.sequence);
    const bool is_last = last != nullptr && last->chunk == account.first_chunk &&
                         last->fragment == account.fragment && last->time_ns != 0;
    return is_last ? last->time_ns : account.written.time_ns.value_or(0);
  }

 private:
  /// The last packet of the chunk that was forgotten last.
  struct Last {
    uint64_t chunk = 0;
    uint64_t fragment = 0;
    uint64_t time_ns = 0;
  };
  PacketValues<uint64_t> times_;  // 0: not known
  SequenceMap<Last> last_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_PACKET_TIMES_H_
