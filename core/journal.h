#ifndef RINGSCOPE_CORE_JOURNAL_H_
#define RINGSCOPE_CORE_JOURNAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/engine.h"
#include "core/ids.h"

namespace ringscope {

/// "7:3#120": sequence 7:3, chunk 120.
std::string ToString(ChunkName name);

/// One thing that happened inside a buffer.
struct JournalEvent {
  enum class Kind : uint8_t {
    kCommitted,
    kRewritten,
    kRelocated,
    kDiscarded,
    kEvicting,
    kErased,
    kPatched,
    kPatchMissed,
    kReturned,
    kGivenUp,
    kLossBit,
    kWrap,
    kPadding,
    kStalled,
  };

  Kind kind = Kind::kCommitted;
  uint64_t record = 0;  // number of the log's record under way
  std::optional<uint64_t> time_ns;
  BufferId buffer{};
  ChunkName chunk;             // for kReturned and kGivenUp: where the packet begins
  uint64_t offset = 0;         // bytes, of the chunk (or the padding) in the buffer
  uint32_t outer_size = 0;     // bytes occupied; for kPadding its size
  uint32_t payload_size = 0;   // bytes of valid fragments
  uint32_t payload_avail = 0;  // of these, not consumed
  uint8_t flags = 0;           // of the shared-memory ABI
  bool incomplete = false;
  std::optional<ChunkName> by;  // kEvicting: the commit that needs the room
  DiscardReason discard{};      // kDiscarded
  PatchMiss miss{};             // kPatchMissed
  StallReason stall{};          // kStalled
  uint32_t loss_bits = 0;       // kLossBit, kGivenUp: the cause; kReturned: what the packet carries
  uint32_t patches = 0;         // kPatched, kPatchMissed: how many were sent
  uint32_t first_offset = 0;    // kReturned, kGivenUp: of the packet in its first chunk's payload
  ChunkId last_chunk{};         // kReturned, kGivenUp: where the packet ends, as far as known
  uint64_t packet_size = 0;     // kReturned: bytes
};

/// The event in words, without record and time: "1:4#17 evicted unread for 2:1#90 (4,096 bytes)".
std::string Describe(const JournalEvent& event);
const char* Name(JournalEvent::Kind kind);
const char* Name(DiscardReason reason);
const char* Name(StallReason reason);
const char* Name(PatchMiss miss);

/// Turns what observers are told into events. Give `Observer` to Session::Options::observe, and
/// announce each record before it is applied.
class Journal {
 public:
  using Listener = std::function<void(const JournalEvent&)>;

  explicit Journal(Listener listener);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// What happens from now on is the doing of this record.
  void BeginRecord(uint64_t number, std::optional<uint64_t> time_ns) {
    record_ = number;
    if (time_ns) time_ns_ = time_ns;
  }
  /// The observer for a buffer; lives as long as the journal.
  EngineObserver* Observer(BufferId buffer);

 private:
  class BufferObserver;
  void Emit(JournalEvent& event);

  Listener listener_;
  uint64_t record_ = 0;
  std::optional<uint64_t> time_ns_;
  std::map<BufferId, std::unique_ptr<BufferObserver>> observers_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_JOURNAL_H_
