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
#include "core/session/buffer_event.h"
#include "core/session/replay.h"

namespace ringscope {

/// A packet that one side returned, with a hash in place of its bytes.
struct ReturnedPacket {
  DiffPlace place;
  bool is_placed = true;  // false: a plug-in did not report where the packet is
  ChunkId last_chunk{};
  uint32_t content = 0;
  uint64_t size = 0;
  uint64_t hash = 0;
  uint32_t loss_bits = 0;
  Identity identity;
  bool valid = true;
  bool again = false;  // was returned before, as far as that is known
  bool late = false;   // a later packet of its sequence was returned before

  ChunkAt chunk() const { return {place.buffer, {place.sequence, place.chunk}}; }
  /// Returns true if both are the same packet: by their places, or by their content where a side
  /// does not report the place.
  bool IsSameAs(const ReturnedPacket& other) const {
    if (is_placed && other.is_placed) return place == other.place;
    return place.buffer == other.place.buffer && place.clone == other.place.clone &&
           place.sequence == other.place.sequence && size == other.size && hash == other.hash;
  }
};

struct PatchResult {
  BufferId buffer{};
  bool ok = false;
};

/// The replay of one side of a comparison: the packets and results of the last record, and the
/// facts that explain why a packet was not returned.
class DiffSide : public ReplayListener {
 public:
  DiffSide(Side side, ReplayOptions options, DiffChunks& chunks,
           std::function<void(const std::string&)> warn)
      : side_(side), chunks_(chunks), warn_(std::move(warn)), replay_(std::move(options), *this) {}

  Status Apply(const Op& op, uint64_t number);
  /// The reads at the end, as one more record.
  Status Finish();
  const Replay& replay() const { return replay_; }
  /// Forgets what a buffer held, but not what it returned: a new buffer takes its id.
  void ForgetBuffer(BufferId buffer);

  // Of the last record:
  std::span<const ReturnedPacket> packets() const { return packets_; }
  std::span<const PatchResult> patches() const { return patches_; }
  const LogMoment& moment() const { return moment_; }
  /// Buffers that something happened to.
  const std::vector<BufferId>& touched() const { return touched_; }
  /// Counters of the clones that were read.
  const std::vector<std::pair<BufferId, BufferStats>>& cloned() const { return cloned_; }

  /// Returns true if the engine has reported any event so far.
  bool reports_events() const { return reports_events_; }
  /// Returns nullptr if the buffer was not set up.
  const SessionBuffer* Buffer(BufferId buffer) const;
  DiffWhy WhyNot(const DiffPlace& place, ChunkId last_chunk) const;
  /// A buffer of this side as the last record found it.
  /// @param near chunk whose neighbours and events are listed
  SideState StateOf(BufferId buffer, std::optional<ChunkName> near) const;
  SideBuffer Outcome(const SessionBuffer& buffer) const;
  /// The chunk of a patch of the last record that missed; nullopt if the engine does not report it.
  std::optional<ChunkName> MissedPatch(size_t index) const;
  /// The chunk of the last event of the last record.
  std::optional<ChunkName> LastTouched(BufferId buffer) const;

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op&, const LogMoment& moment) override { moment_ = moment; }
  void OnBufferSetUp(SessionBuffer& buffer) override { Touch(buffer.id); }
  void OnChunk(BufferId buffer, const ChunkCommit&, std::optional<Refusal>) override {
    Touch(buffer);
  }
  void OnReadBegun(BufferId buffer) override { Touch(buffer); }
  void OnPatch(BufferId buffer, bool ok) override {
    patches_.push_back({buffer, ok});
    Touch(buffer);
  }
  void OnBufferEvent(const BufferEvent& event) override;
  Status OnPacket(const SessionPacket& packet) override {
    NoteOrder(AddPacket(packet, 0));
    return {};
  }
  void OnClonePacket(const SessionPacket& packet) override { AddPacket(packet, clones_ + 1); }
  void OnCloneDone(BufferId buffer, uint64_t, const BufferStats& stats) override {
    cloned_.emplace_back(buffer, stats);
    ++clones_;
  }
  void OnWarning(const std::string& text) override { warn_(text); }

 private:
  /// The chunk that a sequence waits for.
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

  void StartRecord();
  Status EndRecord(Status status) const;
  void Touch(BufferId buffer);
  ReturnedPacket& AddPacket(const SessionPacket& packet, uint32_t clone);
  void NoteOrder(ReturnedPacket& packet);
  void TakeIn(const BufferEvent& event, ChunkOnSide& chunk);
  void TakeOut(const BufferEvent& event, ChunkOnSide& chunk);
  void NoteWhy(const BufferEvent& event, DiffWhy::Kind kind, ChunkOnSide& chunk);
  BufferState& StateFor(BufferId buffer);

  const Side side_;
  DiffChunks& chunks_;
  std::function<void(const std::string&)> warn_;
  Replay replay_;
  // Of the last record:
  std::vector<ReturnedPacket> packets_;
  std::vector<PatchResult> patches_;
  std::vector<BufferId> touched_;
  std::vector<std::pair<BufferId, BufferStats>> cloned_;
  std::vector<std::pair<size_t, ChunkName>> missed_;  // index in patches_
  LogMoment moment_;

  uint64_t record_count_ = 0;  // records so far, and one for the end
  uint32_t clones_ = 0;
  std::map<BufferId, BufferState> buffers_;
  std::pair<BufferId, BufferState*> last_buffer_{BufferId{}, nullptr};
  std::pair<ChunkAt, ChunkOnSide*> last_chunk_{ChunkAt{}, nullptr};  // of this record
  Recent recent_;
  bool reports_events_ = false;
  std::string joined_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_
