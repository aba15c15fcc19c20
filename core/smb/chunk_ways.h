#ifndef RINGSCOPE_CORE_SMB_CHUNK_WAYS_H_
#define RINGSCOPE_CORE_SMB_CHUNK_WAYS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/smb/chunk_use.h"
#include "core/smb/memory_picture.h"
#include "core/smb/time_spread.h"

namespace ringscope::smb {

/// How long a step of chunks took. Looks show it only to within the time between two of them.
struct StepTimes {
  TimeSpread least;
  TimeSpread most;
};

/// The steps of chunks.
struct ChunkSteps {
  StepTimes written;    // from the moment that a writer took the chunk until it returned it
  StepTimes held_back;  // until a commit named it: the producer held it back
  StepTimes served;     // until it was no longer complete: it waited for the service, which then
                        // copied it
};

/// The way of one chunk, by the times of looks and commits, ns.
struct ChunkWay {
  ChunkHolder holder;
  uint64_t since_ns = 0;                       // the last moment before it that looks show
  std::optional<uint64_t> free_until_ns = {};  // the last look that did not have it
  std::optional<uint64_t> seen_ns = {};  // the first that has it, if that is before its commit
  bool returned = false;
  /// Between these it was returned: the last look in which it was not complete, and the first in
  /// which it is.
  std::optional<std::pair<uint64_t, uint64_t>> returned_ns = {};
  std::optional<uint64_t> committed_ns = {};
  ChunkContent content = {};
  std::optional<uint64_t> left_ns = {};  // the first look that does not have it any more
};

/// The way of each chunk through a producer's shared memory, as the looks show it: taken by a
/// writer, complete, named by a commit, free again.
/// Memory: O(chunks of the memory).
class ChunkWays {
 public:
  /// Where each use of a chunk goes when it is over.
  using UseSink = std::function<void(const ChunkUse&)>;
  void SendUsesTo(UseSink sink) { sink_ = std::move(sink); }
  /// Calls `sink` for the uses that are not over.
  void ForEachOpen(const UseSink& sink) const;

  /// These pages may be others in the next look than they were in the look before.
  void Change(std::span<const size_t> pages) { changed_.insert(pages.begin(), pages.end()); }
  /// The memory as it was at a look.
  /// @param same_until_ns when it was last as at the look before
  void Look(uint64_t time_ns, const MemoryPicture& picture,
            std::optional<uint64_t> same_until_ns = {});
  /// A look is missing: what was seen so far is not continued.
  void Interrupt();
  /// The memory is gone, with the uses that are not over.
  void End();
  /// A commit that the service gets names the chunk.
  void Commit(uint64_t time_ns, ChunkSlot slot, ChunkHolder holder,
              const ChunkContent& content = {});

  /// Chunks that are in the memory.
  const std::map<ChunkSlot, ChunkWay>& under_way() const { return ways_; }
  /// Those that the last look does not show any more, and the one before did.
  const std::vector<std::pair<ChunkSlot, ChunkWay>>& left() const { return left_; }

  /// Of all writers.
  const ChunkSteps& steps() const { return steps_; }

  /// Keeps the steps of each writer apart, too.
  void SplitByWriter() { is_split_ = true; }
  /// Of at most kMaxSplit writers, those that came first.
  const std::map<WriterId, ChunkSteps>& by_writer() const { return by_writer_; }
  static constexpr size_t kMaxSplit = 256;

 private:
  /// Its use, with an end between these times.
  static ChunkUse UseOf(const ChunkWay& way, Moment freed);
  /// The first moment at which it may have been free, as far as looks until now show it.
  uint64_t UsedUntil(const ChunkWay& way) const;
  using Span = std::pair<uint64_t, uint64_t>;
  /// A step of one of the writer's chunks began between two moments and ended between two others.
  void AddStep(WriterId writer, StepTimes ChunkSteps::*step, Span start, Span end);
  void See(uint64_t time_ns, ChunkSlot slot, bool complete, ChunkHolder holder);
  /// @return the way that is over; nullopt: there was none
  std::optional<ChunkWay> Leave(uint64_t time_ns, ChunkSlot slot);
  void LeaveByLook(uint64_t time_ns, ChunkSlot slot);
  void LookAtPage(uint64_t time_ns, size_t page, const MemoryPicture::Page& seen);

  UseSink sink_;
  std::map<ChunkSlot, ChunkWay> ways_;
  std::vector<std::pair<ChunkSlot, ChunkWay>> left_;
  std::optional<uint64_t> last_ns_;  // of the look before, or of a later one that saw the same
  uint64_t interrupted_ns_ = 0;      // the last look before one that is missing
  std::set<size_t> changed_;         // pages, since the last look
  ChunkSteps steps_;
  bool is_split_ = false;
  std::map<WriterId, ChunkSteps> by_writer_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_CHUNK_WAYS_H_
