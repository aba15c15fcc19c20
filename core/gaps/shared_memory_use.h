#ifndef RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_
#define RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/log_moment.h"
#include "core/base/sequence_map.h"
#include "core/gaps/memory_looks.h"
#include "core/log/op.h"
#include "core/perfetto/fragment.h"

namespace ringscope {

/// Why a writer found no free chunk in its producer's shared memory.
enum class AbortReason : uint8_t {
  kNotShown,      // the commits before it do not fill the memory
  kLargePacket,   // the packet alone fills it
  kBurst,         // the producer's commits just before it fill it
  kServiceQuiet,  // so do those that come at once after a time without any commit
  // As a look at the memory shows it when it was full.
  kHeldByWriters,   // most chunks were being written: each writer holds one
  kHeldBack,        // most were complete, and the producer did not commit them for a while
  kServiceLate,     // most waited for the service, which had been asked to take them before
  kHeldByRecorder,  // the recorder held the producer's requests back just before
};
struct AbortRow {
  AbortReason value;
  const char* name;
  const char* text;
  const char* proof;      // follows `text`, with members of AbortFacts in braces
  const char* otherwise;  // what helps beside more shared memory: "let writers wait"
};
template <>
inline constexpr auto kEnumRows<AbortReason> = EnumTable<AbortRow>({
    {AbortReason::kNotShown, "not_shown", "the shared memory was full; the log does not show why",
     ": it has {size}, and the producer had committed only {window}; its other writers can have "
     "held the chunks",
     "let writers wait (BUFFER_EXHAUSTED_STALL_THEN_DROP)"},
    {AbortReason::kLargePacket, "large_packet", "a packet was larger than the shared memory",
     ": {packet} of it were committed before it was aborted, and the shared memory has {size}",
     "write smaller packets, with pauses between them"},
    {AbortReason::kBurst, "burst",
     "the producer wrote a burst that its shared memory does not hold",
     ": it committed {window}, and its shared memory has {size}",
     "let writers wait (BUFFER_EXHAUSTED_STALL_THEN_DROP), or write smaller packets with pauses "
     "between them"},
    {AbortReason::kServiceQuiet, "service_quiet",
     "the shared memory was full while the service was blocked",
     ": nothing was committed for {quiet}; then {window}, and the shared memory has {size}",
     "let writers wait (BUFFER_EXHAUSTED_STALL_THEN_DROP)"},
    {AbortReason::kHeldByWriters, "held_by_writers",
     "the producer's writers held all chunks of the shared memory", ": {full}",
     "let fewer writers write at a time"},
    {AbortReason::kHeldBack, "held_back", "the producer held complete chunks back",
     " for {held} or more: {full}", "use a shorter shmem_batch_commits_duration_ms, or flushes"},
    {AbortReason::kServiceLate, "service_late",
     "the service was late to free chunks of the shared memory",
     ": chunks waited {waiting} for it: {full}",
     "let writers wait (BUFFER_EXHAUSTED_STALL_THEN_DROP)"},
    {AbortReason::kHeldByRecorder, "held_by_recorder",
     "the recorder held the producer's requests back", ": they waited {held} for it",
     "read the session after its end"},
});

/// What the log shows of the moment in which a writer aborted a packet.
struct AbortFacts {
  AbortReason reason = AbortReason::kNotShown;
  std::optional<uint64_t> smb_size;  // bytes
  uint64_t packet_bytes = 0;         // of the packet, that were committed before it was aborted
  uint64_t window_bytes = 0;         // that the producer committed in the kWindowNs before
  uint64_t quiet_ns = 0;             // how long nobody committed anything before this request
  /// The last look in that time in which no chunk was free; absent: no look shows that.
  std::optional<smb::SeenMemory> full = {};
  /// `full`: since looks show the first chunk complete that is held back; kHeldByRecorder: by it.
  uint64_t held_ns = 0;
  uint64_t since_commit_ns = 0;  // `full`: since the producer's commit before it
  uint64_t waiting_ns = 0;  // `full`: since the first commit whose chunks waited for the service

  static constexpr uint64_t kWindowNs = 100'000'000;
  /// A service that takes longer is late; a producer that waits longer holds chunks back.
  static constexpr uint64_t kLateNs = 1'000'000;
  static constexpr uint64_t kHeldBackNs = 10'000'000;
};

/// Follows how much producers commit, and the looks at their memory, to find why it was full.
/// Memory: O(sequences + commits of a tenth of a second).
class SharedMemoryUse {
 public:
  void OnRecord(const Op& op, const LogMoment& moment);
  /// A chunk as it is committed. @return the facts, if it ends with the marker of an aborted packet
  std::optional<AbortFacts> AddChunk(const ChunkCommit& commit, const WrittenChunk& written);

 private:
  struct Sent {
    uint64_t time_ns = 0;
    uint64_t bytes = 0;
  };
  struct Producer {
    std::optional<uint64_t> smb_size;
    std::deque<Sent> sent;  // in the window before the last commit
    uint64_t sent_bytes = 0;
    std::optional<uint64_t> committed_ns;  // its last commit
    std::optional<smb::SeenMemory> full;   // the last look with no free chunk
    uint64_t since_commit_ns = 0;          // `full`: since its commit before that
    std::optional<uint64_t> released_ns;   // when the recorder last stopped to hold its requests
    uint64_t held_ns = 0;                  // for how long
  };
  void OnLook(ProducerId id);
  /// What a look at the full memory adds.
  static void AddLook(const Producer& producer, uint64_t now_ns, AbortFacts& facts);

  LogMoment now_;
  std::optional<uint64_t> last_commit_ns_;  // of any producer, before the record under way
  uint64_t quiet_ns_ = 0;
  std::map<ProducerId, Producer> producers_;
  smb::MemoryLooks looks_;
  SequenceMap<uint64_t> open_;  // bytes of the packet that continues in the next chunk
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_
