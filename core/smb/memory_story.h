#ifndef RINGSCOPE_CORE_SMB_MEMORY_STORY_H_
#define RINGSCOPE_CORE_SMB_MEMORY_STORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
#include "core/smb/chunk_ways.h"
#include "core/smb/memory_demand.h"
#include "core/smb/memory_picture.h"

namespace ringscope::smb {

/// Times in ns that samples show: `least` is what several looks in a row saw, `most` also has the
/// time between looks of which only one saw it.
struct SampledTime {
  uint64_t least = 0;
  uint64_t most = 0;
  friend bool operator==(const SampledTime&, const SampledTime&) = default;
};

/// A memory as one look showed it.
struct SeenMemory {
  uint64_t time_ns = 0;
  ChunkCounts counts;
  uint64_t committed = 0;  // complete chunks that a commit before had named: they wait for the
                           // service
  std::optional<uint64_t> committed_since_ns = {};  // the first of them
  /// The first look that showed one of the chunks complete that are held back.
  std::optional<uint64_t> held_since_ns = {};
  uint64_t writers = 0;  // that had a chunk which they were writing

  /// Complete chunks that no commit had named yet: the producer holds them back.
  uint64_t held_back() const { return counts.complete - committed; }
  /// No writer could take a chunk.
  bool is_full() const { return counts.free == 0 && counts.used() > 0; }
};

/// Of a producer's shared memory, from its set-up to its end: what the looks at it show.
struct MemoryUse {
  ProducerId producer{};
  uint64_t size = 0;       // bytes
  uint64_t page_size = 0;  // bytes
  bool direct_patching = false;
  uint64_t looks = 0;      // in the log and understood
  uint64_t missing = 0;    // looks that the log lacks, or that need one which it lacks
  uint64_t bad_pages = 0;  // at most in one look: with bitmaps that make no sense
  uint64_t chunks = 0;     // at most in one look
  std::array<uint64_t, 8> layouts = {};  // pages at most in one look, by layout; 0: not divided
  std::optional<uint64_t> first_ns;
  std::optional<uint64_t> last_ns;
  /// The look with the most chunks in use; the first of them.
  std::optional<SeenMemory> peak;
  uint64_t most_being_written = 0;
  uint64_t most_held_back = 0;
  uint64_t most_committed = 0;
  uint64_t most_writers = 0;
  SampledTime full;          // no chunk was free
  uint64_t full_looks = 0;   // that showed it
  double used_chunk_ns = 0;  // chunks in use, times how long
  double chunk_ns = 0;       // all chunks, times how long

  /// Share of the chunks that were in use, on average over time; nullopt: the looks span no time.
  std::optional<double> MeanUse() const {
    return chunk_ns > 0 ? std::optional(used_chunk_ns / chunk_ns) : std::nullopt;
  }
};

/// Follows the looks at one producer's shared memory, and what its commits name of it.
class MemoryFollower {
 public:
  /// @param most_pages of memory that is followed: no look at larger memory is understood
  /// @param uses where the uses of its chunks are kept; nullptr: they are not
  explicit MemoryFollower(const SharedMemorySetUp& setup, size_t most_pages = kMaxPagesOfPicture,
                          std::shared_ptr<KeptUses> uses = nullptr);

  /// @return whether the look was understood: see seen()
  bool Add(const SharedMemoryLook& look, std::optional<uint64_t> time_ns);
  /// The chunks of shared memory that a request names wait for the service from here on.
  void Add(const CommitRequestParser& request, std::optional<uint64_t> time_ns);

  /// The memory is gone: only what it was used for is kept.
  void End();

  /// What the last look showed that was understood.
  const std::optional<SeenMemory>& seen() const { return seen_; }
  const MemoryPicture& picture() const { return picture_; }
  /// What that look showed with what commits have named since.
  /// @param time_ns of the last of them
  SeenMemory SeenSince(uint64_t time_ns) const;
  /// Whether a commit has named the chunk, and it is still as it was then.
  bool IsCommitted(ChunkSlot slot) const { return committed_.contains(slot); }
  const MemoryUse& use() const { return use_; }
  /// Pages that are followed.
  size_t pages() const { return pages_; }
  const ChunkWays& ways() const { return ways_; }
  /// Keeps the steps of each writer's chunks apart, too.
  void SplitByWriter() { ways_.SplitByWriter(); }
  /// What its writers asked for, if the uses of its chunks are kept; nullopt also without looks.
  std::optional<MemoryDemand> Demand() const;
  /// Whether what its writers wrote shows that they lost something, if the uses are kept.
  bool ShowsLoss() const;

 private:
  bool Apply(const SharedMemoryLook& look);
  SeenMemory Describe(uint64_t time_ns);
  void Account(const SeenMemory& seen, std::optional<uint64_t> same_until_ns);

  MemoryUse use_;
  const size_t pages_;
  MemoryPicture picture_;              // none before the first look
  std::vector<size_t> changed_;        // pages, by the last look
  std::optional<uint64_t> next_look_;  // number; absent: the next whole one
  std::optional<SeenMemory> seen_;
  struct Committed {
    ChunkHolder holder;
    std::optional<uint64_t> time_ns;
  };
  /// Chunks that commits have named and that are complete since.
  std::map<ChunkSlot, Committed> committed_;
  ChunkWays ways_;
  std::shared_ptr<KeptUses> uses_;
};

/// All memories of a session's log. Memory: bounded, whatever the log has.
class MemoryStory {
 public:
  /// Pages of all memories that live at a time; looks at further memories are not understood.
  static constexpr size_t kMaxPages = 65'536;

  /// @param ended how many memories that have ended are kept: the first ones
  /// @param most_uses of chunks that are kept, of all memories together: the first ones
  explicit MemoryStory(size_t ended = 0, size_t most_uses = 0)
      : max_ended_(ended),
        uses_left_(most_uses > 0 ? std::make_shared<size_t>(most_uses) : nullptr) {}

  void Add(const Op& op);
  /// Keeps the steps of each writer's chunks apart, of memories that are set up from now on.
  void SplitByWriter() { is_split_ = true; }
  /// Memories that were set up and not emulated, also those without looks; first those that have
  /// ended, as far as they are kept.
  std::vector<const MemoryFollower*> Memories() const;
  /// Memories that have ended and are not kept.
  uint64_t unlisted() const { return unlisted_; }
  /// The follower of a producer that has memory now; nullptr: it has none.
  const MemoryFollower* Of(ProducerId producer) const;

 private:
  void End(ProducerId producer);

  size_t max_ended_;
  std::shared_ptr<size_t> uses_left_;  // nullptr: none is kept
  bool is_split_ = false;
  uint64_t unlisted_ = 0;
  size_t pages_ = 0;  // of live_
  std::vector<std::unique_ptr<MemoryFollower>> ended_;
  std::map<ProducerId, std::unique_ptr<MemoryFollower>> live_;
  CommitRequestParser parser_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_MEMORY_STORY_H_
