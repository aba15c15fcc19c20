#ifndef RINGSCOPE_CORE_GAPS_STALLS_H_
#define RINGSCOPE_CORE_GAPS_STALLS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/ledger/ledger.h"
#include "core/session/replay_listener.h"

namespace ringscope {

/// How the wait at a chunk ended.
enum class StallEnd : uint8_t {
  kOpen,         // not at all: the log ends
  kPatched,      // its patch came
  kCompleted,    // the next chunk was committed, or the rest of it, or the buffer passed over it
  kOverwritten,  // it was evicted
  kCloned,       // its buffer was taken over, or cleared, for a clone
};
template <>
inline constexpr std::array kEnumNames<StallEnd> = {"open", "patched", "completed", "overwritten",
                                                    "cloned"};

/// A chunk at which reads of its sequence stopped, or which was evicted before it had its patches.
struct Stall {
  ChunkName chunk;
  StallReason reason{};
  LogMoment first_read;  // that stopped at it
  uint64_t passes = 0;   // read passes that stopped at it
  uint64_t packets = 0;  // that waited: from that chunk on, written before it ended
  StallEnd end = StallEnd::kOpen;
  LogMoment ended;
  std::optional<LogMoment> patched;  // its patch came, too late
  uint64_t held_size = 0;            // `patched`: bytes that were written from the chunk to then

  /// How long reads waited; 0: not known.
  uint64_t duration_ns() const {
    return first_read.time_ns && ended.time_ns && *ended.time_ns > *first_read.time_ns
               ? *ended.time_ns - *first_read.time_ns
               : 0;
  }
};

/// The stalls of one sequence. Memory: O(stalls that cost packets), up to a limit.
class SequenceStalls {
 public:
  void OnEvent(const BufferEvent& event);
  /// A packet of the sequence has its fate.
  void OnPacketFate(const PacketAccount& account);
  /// A patch for a chunk that is gone.
  /// @param held_size bytes that were written from that chunk to now
  void OnLatePatch(ChunkName chunk, const LogMoment& at, uint64_t held_size);

  /// All that a read stopped at, and the packets and passes that waited.
  uint64_t count() const { return count_; }
  uint64_t passes() const { return passes_; }
  uint64_t packets() const { return packets_; }
  uint64_t longest_ns() const { return longest_ns_; }
  /// Returns the stalls that did not end by a patch or a completion.
  const std::vector<Stall>& lossy() const { return lossy_; }
  /// Returns the last of these at this chunk, or nullptr.
  const Stall* FindLossy(ChunkName chunk) const;

 private:
  void End(StallEnd end, const LogMoment& at);

  std::optional<Stall> open_;
  std::optional<Stall> last_;  // that ended well: packets that waited are reported after it
  std::optional<uint64_t> last_pass_;
  std::vector<Stall> lossy_;
  uint64_t count_ = 0;
  uint64_t passes_ = 0;
  uint64_t packets_ = 0;
  uint64_t longest_ns_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_STALLS_H_
