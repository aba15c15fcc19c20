#ifndef RINGSCOPE_CORE_SMB_MEMORY_TRIAL_H_
#define RINGSCOPE_CORE_SMB_MEMORY_TRIAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/smb/memory_demand.h"
#include "core/smb/memory_story.h"

namespace ringscope::smb {

// What a producer's shared memory would have done at another size: a writer that needs a chunk gets
// a free one, or loses what it writes (drop), or waits (stall). The demand is the recorded one; so
// is the time that the producer took to commit each chunk, and the service to free it. But what
// fills half of the memory is committed at once.

enum class WhenNoneIsFree : uint8_t { kDrop, kStall };

/// Perfetto's largest shared memory.
inline constexpr uint64_t kMaxMemoryBytes = uint64_t{32} << 20;
/// A writer that waits searches so often; then the process aborts, or the writer drops.
inline constexpr uint64_t kMostSearches = 300;

/// Requests for a chunk that found none free.
struct DropOutcome {
  uint64_t refused = 0;  // by events at their likely times; as recorded: losses, see MemoryDemand
  /// That begin in what was refused: at most so many are lost. Absent: the log does not show them.
  std::optional<uint64_t> packets;
  uint64_t least = 0;            // in any order of events that the looks allow
  std::optional<uint64_t> most;  // absent: not all of the demand is known, or pages are others
  uint64_t peak = 0;             // chunks in use at a time
  uint64_t full_ns = 0;          // no chunk was free
};

/// Writers that waited for a chunk.
struct StallOutcome {
  uint64_t waits = 0;
  uint64_t waited_ns = 0;  // all writers together
  uint64_t longest_ns = 0;
  uint64_t gave_up = 0;   // after kMostSearches
  uint64_t early_ns = 0;  // waited, if all was freed as early as looks allow
  uint64_t late_ns = 0;   // waited, if all was freed as late as looks allow
};

/// For how long the service may free nothing.
struct QuietOutcome {
  /// Until a writer finds no chunk, beginning at the worst moment; absent: never in this time.
  std::optional<uint64_t> simulated_ns;
  std::optional<uint64_t> mean_ns;  // size / mean rate of writing; absent: nothing was written
  std::optional<uint64_t> peak_ns;  // size / rate in the tenth of a second with the most
};

/// A memory of another size.
struct MemoryTrial {
  uint64_t size = 0;
  uint64_t page_size = 0;
  uint64_t chunks = 0;
  bool is_recorded = false;  // these are the size and page size that it had
  std::optional<DropOutcome> drop;
  std::optional<StallOutcome> stall;
  QuietOutcome quiet;
};

/// Tries sizes with one demand.
class MemoryTrials {
 public:
  /// @param page_size IsPageSize; of the trials
  MemoryTrials(const MemoryDemand& demand, uint64_t page_size);
  MemoryTrials(const MemoryTrials&) = delete;
  MemoryTrials& operator=(const MemoryTrials&) = delete;

  /// @param size bytes, at least a page
  MemoryTrial Try(uint64_t size, bool drop = true, bool stall = true) const;
  /// The smallest size, of the recorded one and its doublings, at which nothing is refused; absent:
  /// at no size that Perfetto allows. What was recorded as lost is assumed to be asked for.
  std::optional<uint64_t> Enough() const;

 private:
  HeldChunks Held(uint64_t size) const { return {demand_.ChunkSize(page_size_), size}; }
  DropOutcome Drop(uint64_t chunks, uint64_t size, bool as_recorded) const;
  /// Drop's limits, for pages as recorded and a size that was not.
  void AddLimits(uint64_t chunks, uint64_t size, DropOutcome& outcome) const;
  StallOutcome Stall(uint64_t chunks, uint64_t size) const;
  QuietOutcome Quiet(uint64_t chunks, uint64_t size) const;

  const MemoryDemand& demand_;
  const uint64_t page_size_;
  std::vector<ChunkUse> made_shown_, made_likely_;  // if they are not the demand's
  const std::vector<ChunkUse>* shown_;              // uses that looks and commits show
  const std::vector<ChunkUse>* likely_;             // with those that are assumed
};

/// What a producer's recorded demand calls for.
struct MemoryNeed {
  ProducerId producer{};
  uint64_t size = 0;       // bytes, as recorded
  uint64_t losses = 0;     // see MemoryDemand
  uint64_t chunks = 0;     // as recorded
  uint64_t most_used = 0;  // chunks in use at a time
  /// Bytes, see MemoryTrials::Enough.
  std::optional<uint64_t> enough;
  /// For how long the service may free nothing: as recorded, and with what is enough. At most as
  /// long as there were looks.
  uint64_t quiet_ns = 0;
  uint64_t quiet_then_ns = 0;  // the same if nothing is enough
};

enum class WhichMemories : uint8_t { kAll, kWithLosses };
/// Of memories whose uses of chunks are kept, and that have looks.
std::vector<MemoryNeed> NeedsOf(const MemoryStory& story, WhichMemories which);

}  // namespace ringscope::smb

template <>
inline constexpr std::array ringscope::kEnumNames<ringscope::smb::WhenNoneIsFree> = {"drop",
                                                                                     "stall"};

#endif  // RINGSCOPE_CORE_SMB_MEMORY_TRIAL_H_
