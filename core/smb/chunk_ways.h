#ifndef RINGSCOPE_CORE_SMB_CHUNK_WAYS_H_
#define RINGSCOPE_CORE_SMB_CHUNK_WAYS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/smb/memory_picture.h"
#include "core/smb/time_spread.h"

namespace ringscope::smb {

/// Where a chunk is in a memory: its page and its place there.
using ChunkSlot = std::pair<size_t, size_t>;

/// How long a step of chunks took. Looks show it only to within the time between two of them.
struct StepTimes {
  TimeSpread least;
  TimeSpread most;
};

/// The way of one chunk, by the times of looks and commits, ns.
struct ChunkWay {
  ChunkHolder holder;
  std::optional<uint64_t> free_until_ns = {};  // the last look that did not have it
  std::optional<uint64_t> seen_ns = {};        // the first that has it, if that is before its commit
  bool returned = false;
  /// Between these it was returned: the last look in which it was not complete, and the first in
  /// which it is.
  std::optional<std::pair<uint64_t, uint64_t>> returned_ns = {};
  std::optional<uint64_t> committed_ns = {};
  std::optional<uint64_t> left_ns = {};  // the first look that does not have it any more
};

/// The way of each chunk through a producer's shared memory, as the looks show it: taken by a
/// writer, complete, named by a commit, free again.
/// Memory: O(chunks of the memory).
class ChunkWays {
 public:
  /// The memory as it was at a look.
  void Look(uint64_t time_ns, const MemoryPicture& picture);
  /// A look is missing: what was seen so far is not continued.
  void Interrupt();
  /// A commit that the service gets names the chunk.
  void Commit(uint64_t time_ns, ChunkSlot slot, ChunkHolder holder);

  /// Chunks that are in the memory.
  const std::map<ChunkSlot, ChunkWay>& under_way() const { return ways_; }
  /// Those that the last look does not show any more, and the one before did.
  const std::vector<std::pair<ChunkSlot, ChunkWay>>& left() const { return left_; }

  /// The first look that showed this chunk complete; nullopt: not known, or it is not.
  std::optional<uint64_t> ReturnedAt(ChunkSlot slot) const {
    const auto way = ways_.find(slot);
    if (way == ways_.end() || !way->second.returned_ns) return std::nullopt;
    return way->second.returned_ns->second;
  }
  /// From the moment that a writer took the chunk until it returned it.
  const StepTimes& written() const { return written_; }
  /// Until a commit named it: the producer held it back.
  const StepTimes& held_back() const { return held_back_; }
  /// Until it was no longer complete: it waited for the service, which then copied it.
  const StepTimes& served() const { return served_; }

 private:
  void See(uint64_t time_ns, ChunkSlot slot, bool complete, ChunkHolder holder);
  void Leave(uint64_t time_ns, ChunkSlot slot);

  std::map<ChunkSlot, ChunkWay> ways_;
  std::vector<std::pair<ChunkSlot, ChunkWay>> left_;
  std::optional<uint64_t> last_ns_;  // of the look before
  StepTimes written_;
  StepTimes held_back_;
  StepTimes served_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_CHUNK_WAYS_H_
