#ifndef RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_
#define RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_

#include <deque>
#include <map>

#include "core/base/log_moment.h"
#include "core/base/sequence_map.h"
#include "core/log/op.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/memory_picture.h"

namespace ringscope::smb {

/// Shared memory as one look showed it.
struct SeenMemory {
  uint64_t time_ns = 0;
  ChunkCounts counts;
  uint64_t committed = 0;  // complete chunks that a commit has named: they wait for the service
  std::optional<uint64_t> committed_since_ns = {};  // the first of these commits
  /// The first look that showed one of the chunks complete that the producer holds back.
  std::optional<uint64_t> held_since_ns = {};
  uint64_t writers = 0;  // that had a chunk which they were writing

  /// Complete chunks that no commit has named yet: the producer holds them back.
  uint64_t held_back() const { return counts.complete - committed; }
  /// Returns true if no writer could take a chunk.
  bool is_full() const { return counts.free == 0 && counts.used() > 0; }
};

/// Follows the looks at one producer's shared memory, and the commits of its chunks.
/// Memory: O(chunks of the memory).
class MemoryFollower {
 public:
  /// @param most_pages of memory that is followed: no look at larger memory is understood
  explicit MemoryFollower(const SharedMemorySetUp& setup, size_t most_pages = kMaxPagesOfPicture);

  /// Returns true if the look was understood: see seen().
  bool Add(const SharedMemoryLook& look, std::optional<uint64_t> time_ns);
  /// Marks the chunks of shared memory that a request names: they wait for the service from now on.
  void Add(const CommitRequestParser& request, std::optional<uint64_t> time_ns);

  /// The last look, if it was understood.
  const std::optional<SeenMemory>& seen() const { return seen_; }
  const MemoryPicture& picture() const { return picture_; }
  /// Time of the first look that was understood.
  std::optional<uint64_t> first_ns() const { return first_ns_; }
  /// Pages that are followed.
  size_t pages() const { return pages_; }

 private:
  using ChunkSlot = std::pair<size_t, size_t>;  // page, index of the chunk in it
  /// A chunk that its writer has completed.
  struct Complete {
    ChunkHolder holder;
    std::optional<uint64_t> since_ns;  // the look that first showed it, if one before did not
    bool committed = false;            // a commit has named it
    std::optional<uint64_t> committed_ns = {};
  };

  const size_t pages_;
  MemoryPicture picture_;              // none before the first look
  std::optional<uint64_t> next_look_;  // number; absent: only a whole look is understood
  std::optional<uint64_t> first_ns_;
  std::optional<SeenMemory> seen_;
  std::map<ChunkSlot, Complete> complete_;
};

/// Follows all shared memories of a session's log. Memory: bounded, whatever the log has.
class MemoryLooks {
 public:
  /// Pages of all memories that live at a time; looks at further memories are not understood.
  static constexpr size_t kMaxPages = 65'536;

  void Add(const Op& op);
  /// Returns the follower of a producer's memory, or nullptr if it has none now.
  const MemoryFollower* Of(ProducerId producer) const { return FindIn(live_, producer); }

 private:
  void End(ProducerId producer);

  size_t pages_ = 0;
  std::map<ProducerId, MemoryFollower> live_;
  CommitRequestParser parser_;
};

}  // namespace ringscope::smb

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

/// The moment in which a writer aborted a packet, as far as the log shows it.
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
  struct Producer {
    std::optional<uint64_t> smb_size;
    std::deque<std::pair<uint64_t, uint64_t>>
        sent;  // in the window before now: time, ns, and bytes
    uint64_t sent_bytes = 0;
    std::optional<uint64_t> committed_ns;  // its last commit
    std::optional<smb::SeenMemory> full;   // the last look with no free chunk
    uint64_t since_commit_ns = 0;          // `full`: since its commit before that
    std::optional<uint64_t> released_ns;   // when the recorder last stopped to hold its requests
    uint64_t held_ns = 0;                  // for how long
  };
  /// Adds what a look at the full memory shows.
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
