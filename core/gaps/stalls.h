#ifndef RINGSCOPE_CORE_GAPS_STALLS_H_
#define RINGSCOPE_CORE_GAPS_STALLS_H_

#include <cstdint>
#include <optional>
#include <utility>
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
  uint64_t passes = 0;   // read passes that stopped at it
  uint64_t packets = 0;  // that waited: from that chunk on, written before it ended
  StallEnd end = StallEnd::kOpen;
  LogMoment ended;
  std::optional<LogMoment> patched;  // its patch came, too late
  std::optional<LogMoment> cloned;   // `patched` came after this clone, which was replayed
  SequenceKey newer_by;              // kOverwritten: wrote most of the newer data
  uint64_t newer_by_size = 0;        // bytes, in chunks
  uint64_t newer_size = 0;           // bytes of all newer data; 0: not known
  uint64_t held_size = 0;            // `patched`: bytes that were written from the chunk to then
};

/// The stalls of one sequence that did not end by a patch or a completion. Memory: up to a limit.
class SequenceStalls {
 public:
  void OnEvent(const BufferEvent& event);
  /// A packet of the sequence has its fate.
  void OnPacketFate(const PacketAccount& account);
  /// A patch for a chunk that is gone.
  /// @param held_size bytes that were written from that chunk to now
  void OnLatePatch(ChunkName chunk, const LogMoment& at, uint64_t held_size);

  /// Returns the last of these at this chunk, or nullptr.
  const Stall* FindLossy(ChunkName chunk) const;
  Stall* FindLossy(ChunkName chunk) {
    return const_cast<Stall*>(std::as_const(*this).FindLossy(chunk));
  }

 private:
  void End(StallEnd end, const LogMoment& at);

  std::optional<Stall> open_;
  std::optional<uint64_t> last_pass_;
  std::vector<Stall> lossy_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_STALLS_H_
