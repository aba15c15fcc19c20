#ifndef RINGSCOPE_CORE_GAPS_MEMORY_LOOKS_H_
#define RINGSCOPE_CORE_GAPS_MEMORY_LOOKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
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
    std::optional<uint64_t> committed_ns;
  };

  bool Apply(const SharedMemoryLook& look);
  bool IsComplete(ChunkSlot slot, ChunkHolder holder) const;
  SeenMemory Describe(std::optional<uint64_t> time_ns);

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
  const MemoryFollower* Of(ProducerId producer) const;

 private:
  void End(ProducerId producer);

  size_t pages_ = 0;
  std::map<ProducerId, MemoryFollower> live_;
  CommitRequestParser parser_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_GAPS_MEMORY_LOOKS_H_
