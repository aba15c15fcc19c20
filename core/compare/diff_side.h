#ifndef RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_
#define RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/compare/diff_chunks.h"
#include "core/compare/log_diff.h"
#include "core/compare/side_tape.h"
#include "core/session/buffer_event.h"
#include "core/session/session.h"

namespace ringscope {

/// One side of a comparison, as its tapes show it: what it returned during the record that was
/// played last, and what is needed to explain why it did not return something.
class DiffSide {
 public:
  DiffSide(Side side, DiffChunks& chunks, std::function<void(const std::string&)> warn)
      : side_(side), chunks_(chunks), warn_(std::move(warn)) {}

  /// The next record is the first one of this tape.
  void StartTape(SideTape& tape);
  /// Plays the next record of the tape, which must have one.
  /// @return the error with which the replay ended there
  Status PlayRecord();
  /// A new buffer has taken the id of an earlier one: forgets what is known of that, but not what
  /// it has returned and how much it held.
  void ForgetBuffer(BufferId buffer);

  /// Those returned during the record.
  ReturnedPackets packets() const {
    return {tape_->packets, first_packet_, packets_played_ - first_packet_};
  }
  std::span<const PatchResult> patches() const { return patches_; }
  const LogMoment& moment() const { return moment_; }
  /// Whether the engine reported anything of what happens inside, so far.
  bool reports_events() const { return reports_events_; }
  /// Buffers that something happened to during the record.
  const std::vector<BufferId>& touched() const { return touched_; }
  /// What a buffer has counted by now; nullptr: it was not set up.
  const CountedBuffer* Counted(BufferId buffer) const;
  /// Why the buffer's engine cannot continue after the record; nullptr: it can.
  const Error* Failure(BufferId buffer) const;

  /// Why this side did not return a packet.
  DiffWhy WhyNot(const DiffPlace& place, ChunkId last_chunk) const;
  /// A buffer of this side as the record under way found it, and one sequence in it; `near` is the
  /// chunk to look around.
  SideState StateOf(BufferId buffer, std::optional<ChunkName> near) const;
  SideBuffer Outcome(const SessionBuffer& buffer) const;
  /// Chunk of the patch of the record under way that missed in this place of the order; absent if
  /// the engine does not report it.
  std::optional<ChunkName> MissedPatch(size_t index) const;
  /// The chunk that something happened to last during the record under way.
  std::optional<ChunkName> LastTouched(BufferId buffer) const;

 private:
  /// What a sequence waits for.
  struct Stall {
    LogMoment moment;
    ChunkId chunk{};
    StallReason reason{};
  };
  struct SequenceState {
    bool returned = false;  // anything, so far
    ChunkId chunk{};        // place of the latest packet that was returned
    uint32_t offset = 0;
    std::optional<Stall> stall;
  };
  struct Fill {
    uint64_t write_cursor = 0;
    uint64_t held_chunks = 0;
    uint64_t held_bytes = 0;
    uint64_t wraps = 0;
  };
  struct BufferState {
    Fill now;
    Fill before;          // the record `record`
    uint64_t record = 0;  // count of the last one that changed something
    // Of all buffers that had the id:
    uint64_t peak_bytes = 0;
    PacketCount read;
    SequenceMap<SequenceState> sequences;
  };
  /// The last events, without returned packets, which are reported in full elsewhere.
  class Recent {
   public:
    static constexpr size_t kCapacity = 4096;
    void Add(const BufferEvent& event);
    void Forget(BufferId buffer);
    /// Calls `visit` from the newest to the oldest, until it returns false.
    template <typename F>
    void VisitBackwards(F visit) const {
      for (size_t i = 0; i < events_.size(); ++i)
        if (!visit(events_[(next_ + events_.size() - 1 - i) % events_.size()])) return;
    }

   private:
    std::vector<BufferEvent> events_;
    size_t next_ = 0;
  };

  void Play(const BufferEvent& event);
  void Play(ReturnedPacket& packet);
  void StartRecord();
  void TakeIn(const BufferEvent& event, ChunkOnSide& chunk);
  void TakeOut(const BufferEvent& event, ChunkOnSide& chunk);
  void NoteWhy(const BufferEvent& event, DiffWhy::Kind kind, ChunkOnSide& chunk);
  BufferState& StateFor(BufferId buffer);
  ChunkOnSide& OnThisSide(const ChunkAt& chunk);

  const Side side_;
  DiffChunks& chunks_;
  std::function<void(const std::string&)> warn_;
  // The tape, and what of it is the record's that was played last.
  SideTape* tape_ = nullptr;
  size_t next_step_ = 0;
  size_t packets_played_ = 0;
  size_t first_packet_ = 0;
  std::span<const PatchResult> patches_;
  std::span<const FailedBuffer> failed_;
  std::vector<BufferId> touched_;
  std::vector<std::pair<size_t, ChunkName>> missed_;  // index in patches_

  LogMoment moment_;
  uint64_t record_count_ = 0;  // records so far, and one for the end
  std::map<BufferId, CountedBuffer> counted_;
  std::map<BufferId, BufferState> buffers_;
  std::pair<BufferId, BufferState*> last_buffer_{BufferId{}, nullptr};
  std::pair<ChunkAt, ChunkOnSide*> last_chunk_{ChunkAt{}, nullptr};  // of this record
  Recent recent_;
  bool reports_events_ = false;  // the engine reports events
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_
