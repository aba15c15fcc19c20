#ifndef RINGSCOPE_CORE_DIFF_DIFF_SIDE_H_
#define RINGSCOPE_CORE_DIFF_DIFF_SIDE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/diff/diff_chunks.h"
#include "core/diff/log_diff.h"
#include "core/session/buffer_event.h"
#include "core/session/replay.h"

namespace ringscope {

/// A packet that one side returned during the record under way.
struct ReturnedPacket {
  DiffPlace place;
  ChunkId last_chunk{};
  uint32_t content = 0;
  uint64_t size = 0;
  uint64_t hash = 0;
  uint32_t loss_bits = 0;
  Identity identity;
  bool valid = true;
  bool again = false;  // was returned before, as far as that is known
  bool late = false;   // a later packet of its sequence was returned before

  friend bool operator==(const ReturnedPacket&, const ReturnedPacket&) = default;
};

struct PatchResult {
  BufferId buffer{};
  bool ok = false;
  friend bool operator==(const PatchResult&, const PatchResult&) = default;
};

/// One side of a comparison: a replay under watch. Collects what it returns record by record, and
/// keeps what is needed to explain why something did not.
class DiffSide : public ReplayListener {
 public:
  DiffSide(Side side, ReplayOptions options, DiffChunks& chunks,
           std::function<void(const std::string&)> warn);

  Status Apply(const Op& op, uint64_t number);
  Status Finish() { return replay_.Finish(); }
  /// Forgets the packets returned so far.
  void StartRecord();
  /// A new buffer has taken the id of an earlier one: forgets what is known of that.
  void ForgetBuffer(BufferId buffer);

  const std::vector<ReturnedPacket>& packets() const { return packets_; }
  const std::vector<PatchResult>& patches() const { return patches_; }
  const LogMoment& moment() const { return moment_; }
  /// Whether the engine reported anything of what happens inside, so far.
  bool reports_events() const { return reports_events_; }
  Replay& replay() { return replay_; }
  Session& session() { return replay_.session(); }
  /// Buffers that something happened to during the record under way.
  const std::set<BufferId>& touched() const { return touched_; }

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

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op&, const LogMoment& moment) override { moment_ = moment; }
  void OnBufferSetUp(SessionBuffer& buffer) override { touched_.insert(buffer.id); }
  void OnChunk(BufferId buffer, const ChunkCommit&, std::optional<Refusal>) override {
    touched_.insert(buffer);
  }
  void OnReadBegun(BufferId buffer) override { touched_.insert(buffer); }
  void OnBufferEvent(const BufferEvent& event) override;
  void OnPatch(BufferId buffer, bool ok) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnClonePacket(const SessionPacket& packet) override;
  void OnCloneDone(BufferId, uint64_t, const BufferStats&) override { ++clones_; }
  void OnWarning(const std::string& text) override { warn_(text); }

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

  void TakeIn(const BufferEvent& event, ChunkOnSide& chunk);
  void TakeOut(const BufferEvent& event, ChunkOnSide& chunk);
  void NoteWhy(const BufferEvent& event, DiffWhy::Kind kind, ChunkOnSide& chunk);
  ReturnedPacket Describe(const SessionPacket& packet);
  BufferState& StateFor(BufferId buffer);
  ChunkOnSide& OnThisSide(const ChunkAt& chunk);

  const Side side_;
  DiffChunks& chunks_;
  std::function<void(const std::string&)> warn_;
  Replay replay_;
  LogMoment moment_;
  uint64_t record_count_ = 0;  // records so far, and one for the end
  std::vector<ReturnedPacket> packets_;
  std::vector<PatchResult> patches_;
  std::set<BufferId> touched_;
  std::vector<std::pair<size_t, ChunkName>> missed_;  // index in patches_
  std::map<BufferId, BufferState> buffers_;
  std::pair<BufferId, BufferState*> last_buffer_{BufferId{}, nullptr};
  std::pair<ChunkAt, ChunkOnSide*> last_chunk_{ChunkAt{}, nullptr};  // of this record
  Recent recent_;
  std::string joined_;  // scratch
  uint32_t clones_ = 0;
  bool reports_events_ = false;  // the engine reports events
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DIFF_DIFF_SIDE_H_
