#ifndef RINGSCOPE_CORE_GAPS_MEMORY_LOOKS_H_
#define RINGSCOPE_CORE_GAPS_MEMORY_LOOKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/gaps/memory_picture.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

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

/// A time in ns that samples show: at least that of looks in a row which saw it, at most also the
/// time between looks of which only one saw it.
struct SampledTime {
  uint64_t least = 0;
  uint64_t most = 0;
};

/// The use of a producer's shared memory from its set-up to its end, as looks show it.
struct MemoryUse {
  ProducerId producer{};
  uint64_t size = 0;       // bytes
  uint64_t page_size = 0;  // bytes
  uint64_t looks = 0;      // in the log and understood
  uint64_t missing = 0;    // looks that the log lacks, or that depend on one which it lacks
  uint64_t bad_pages = 0;  // at most in one look: with bitmaps that make no sense
  uint64_t chunks = 0;     // at most in one look
  uint64_t most_writers = 0;
  uint64_t full_looks = 0;  // that showed no free chunk
  SampledTime full;         // in which no chunk was free
  std::optional<uint64_t> first_ns;
  std::optional<SeenMemory> peak;  // the first look with the most chunks in use
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
  /// Forgets the picture of memory that is gone, and keeps its use.
  void End();

  /// The last look, if it was understood.
  const std::optional<SeenMemory>& seen() const { return seen_; }
  const MemoryPicture& picture() const { return picture_; }
  const MemoryUse& use() const { return use_; }
  /// Pages that are followed.
  size_t pages() const { return pages_; }

 private:
  using ChunkSlot = std::pair<size_t, size_t>;  // page, index of the chunk in it
  /// A chunk that its writer has completed.
  struct Complete {
    ChunkHolder holder;
    std::optional<uint64_t> since_ns;  // the look that first showed it, if one before did not
    bool committed = false;            // a commit has named it
    std::optional<uint64_t> committed_ns;
  };

  bool Apply(const SharedMemoryLook& look);
  bool IsComplete(ChunkSlot slot, ChunkHolder holder) const;
  SeenMemory Describe(std::optional<uint64_t> time_ns);
  void CountFullTime(const SeenMemory& seen, std::optional<uint64_t> same_until_ns);

  MemoryUse use_;
  const size_t pages_;
  MemoryPicture picture_;              // none before the first look
  std::optional<uint64_t> next_look_;  // number; absent: only a whole look is understood
  std::optional<SeenMemory> seen_;
  std::map<ChunkSlot, Complete> complete_;
};

/// Follows all shared memories of a session's log. Memory: bounded, whatever the log has.
class MemoryLooks {
 public:
  /// Pages of all memories that live at a time; looks at further memories are not understood.
  static constexpr size_t kMaxPages = 65'536;

  /// @param ended how many memories that have ended are kept: the first ones
  explicit MemoryLooks(size_t ended = 0) : max_ended_(ended) {}

  void Add(const Op& op);
  /// Memories that were set up, also those without looks; first those that have ended.
  std::vector<const MemoryFollower*> Memories() const;
  /// Memories that have ended and are not kept.
  uint64_t unlisted() const { return unlisted_; }
  /// Returns the follower of a producer's memory, or nullptr if it has none now.
  const MemoryFollower* Of(ProducerId producer) const;

 private:
  void End(ProducerId producer);

  size_t max_ended_;
  uint64_t unlisted_ = 0;
  size_t pages_ = 0;  // of live_
  std::vector<std::unique_ptr<MemoryFollower>> ended_;
  std::map<ProducerId, std::unique_ptr<MemoryFollower>> live_;
  CommitRequestParser parser_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_GAPS_MEMORY_LOOKS_H_
