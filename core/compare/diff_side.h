#ifndef RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_
#define RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/base/wire.h"
#include "core/compare/log_diff.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope {

/// A packet that one side returned, with a hash in place of its bytes.
struct ReturnedPacket : PacketReturn {
  DiffPlace place;
  bool is_placed = true;  // false: a plug-in did not report where the packet is
  ChunkId last_chunk{};
  uint32_t content = 0;
  bool again = false;        // was returned before, as far as that is known
  bool late = false;         // a later packet of its sequence was returned before
  bool knows_order = false;  // it has a place, and so have all before it in its sequence

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
  std::optional<ChunkName> missed;  // the chunk of one that failed, if the engine reports it
};

/// A chunk as one side has it.
struct ChunkOnSide {
  bool held = false;
  /// Place after the packet that was returned last: offset of its first fragment, plus 1.
  uint32_t returned_to = 0;
  LogMoment committed;
  std::unique_ptr<DiffWhy> why;                         // why packets of it may be missing
  std::vector<std::pair<uint32_t, DiffWhy>> abandoned;  // by offset of the packet's first fragment
};

/// The chunks that at least one side holds, or lost during the current record.
struct DiffChunks {
  std::unordered_map<ChunkAt, Both<ChunkOnSide>> chunks;
  std::vector<ChunkAt> maybe_gone;  // that a side does not hold any more, or never took in
};

/// The replay of one side of a comparison: the packets and results of the last record, and the
/// facts that explain why a packet was not returned.
class DiffSide : public ReplayListener {
 public:
  DiffSide(Side side, ReplayOptions options, DiffChunks& chunks,
           std::function<void(const std::string&)> warn)
      : side_(side), chunks_(chunks), warn_(std::move(warn)), replay_(std::move(options), *this) {}

  Status Apply(const Op& op, uint64_t number) {
    StartRecord();
    return EndRecord(replay_.Apply(op, number));
  }
  /// The reads at the end, as one more record.
  Status Finish() {
    StartRecord();
    return EndRecord(replay_.Finish());
  }
  const Replay& replay() const { return replay_; }
  /// Forgets what a buffer held, but not what it returned: a new buffer takes its id.
  void ForgetBuffer(BufferId id) {
    BufferState& buffer = buffers_[id];
    buffer = {.touched = {}, .read = buffer.read, .sequences = {}};
  }

  // Of the last record:
  const std::vector<ReturnedPacket>& packets() const { return packets_; }
  const std::vector<PatchResult>& patches() const { return patches_; }
  const LogMoment& moment() const { return moment_; }

  /// Returns true if the engine has reported any event so far.
  bool reports_events() const { return reports_events_; }
  /// Returns nullptr if the buffer was not set up.
  const SessionBuffer* Buffer(BufferId buffer) const {
    const auto found = replay_.session().buffers().find(buffer);
    return found == replay_.session().buffers().end() ? nullptr : &found->second;
  }
  DiffWhy WhyNot(const DiffPlace& place, ChunkId last_chunk) const {
    const auto find = [&](ChunkId id) { return Find({place.buffer, {place.sequence, id}}); };
    const ChunkOnSide* const chunk = find(place.chunk);
    if (chunk == nullptr || !reports_events_) return {};
    for (const auto& [offset, why] : chunk->abandoned)
      if (offset == place.offset) return why;
    if (!chunk->held) return chunk->why ? *chunk->why : DiffWhy{};

    // Its beginning is there: perhaps a later fragment is not.
    constexpr uint32_t kMostChunks = 4096;
    const uint32_t more = std::min(Distance(place.chunk, last_chunk), kMostChunks);
    for (uint32_t i = 1; i <= more; ++i) {
      const ChunkOnSide* const later = find(ChunkId{Raw(place.chunk) + i});
      if (later != nullptr && !later->held && later->why) return *later->why;
    }
    if (const auto buffer = buffers_.find(place.buffer); buffer != buffers_.end())
      if (const auto* sequence = buffer->second.sequences.Find(place.sequence))
        if (sequence->stall) return *sequence->stall;
    return {.kind = DiffWhy::Kind::kHeld};
  }
  BufferOutcome Outcome(const SessionBuffer& buffer) const {
    BufferOutcome outcome = OutcomeOf(buffer);
    if (const auto state = buffers_.find(buffer.id); state != buffers_.end())
      outcome.read = state->second.read;
    return outcome;
  }
  /// The chunk of the last event of the last record.
  std::optional<ChunkName> LastTouched(BufferId buffer) const {
    const auto found = buffers_.find(buffer);
    return found == buffers_.end() ? std::nullopt : found->second.touched;
  }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op&, const LogMoment& moment) override { moment_ = moment; }
  void OnPatch(BufferId buffer, bool ok) override {
    patches_.push_back({buffer, ok, std::exchange(missed_, std::nullopt)});
  }
  void OnBufferEvent(const BufferEvent& event) override {
    using Kind = DiffWhy::Kind;
    if (event.As<BufferEvent::Returned>() != nullptr) return;
    reports_events_ = true;
    if (event.As<BufferEvent::Wrapped>() == nullptr) buffers_[event.buffer].touched = event.chunk;
    const ChunkAt at{event.buffer, event.chunk};
    const auto on_this_side = [&]() -> ChunkOnSide& { return chunks_.chunks[at][side_]; };
    if (event.As<BufferEvent::Committed>() != nullptr) {
      TakeIn(at, on_this_side());
    } else if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
      ChunkOnSide& chunk = on_this_side();
      chunk.why = std::make_unique<DiffWhy>(
          DiffWhy{.kind = Kind::kDiscarded, .moment = moment_, .discard = discarded->reason});
      if (!chunk.held) chunks_.maybe_gone.push_back(at);
    } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
      ChunkOnSide& chunk = on_this_side();
      if (erased->why == Erasure::kOverwritten || erased->why == Erasure::kCleared ||
          erased->why == Erasure::kConsumed)
        chunk.why = std::make_unique<DiffWhy>(
            DiffWhy{.kind = erased->why == Erasure::kOverwritten ? Kind::kEvicted
                            : erased->why == Erasure::kCleared   ? Kind::kCleared
                                                                 : Kind::kNotFound,
                    .moment = moment_,
                    .by = erased->by,
                    .with = erased->with});
      TakeOut(at, chunk);
    } else if (const auto* abandoned = event.As<BufferEvent::Abandoned>()) {
      on_this_side().abandoned.emplace_back(
          abandoned->place.first_offset,
          DiffWhy{.kind = Kind::kAbandoned, .moment = moment_, .loss_bits = abandoned->cause});
    } else if (const auto* stalled = event.As<BufferEvent::Stalled>()) {
      buffers_[event.buffer].sequences[event.chunk.sequence].stall = DiffWhy{
          .kind = Kind::kWaits, .moment = moment_, .stall = stalled->reason, .with = event.chunk};
    } else if (event.As<BufferEvent::PatchMissed>() != nullptr) {
      missed_ = event.chunk;
    }
  }
  Status OnPacket(const SessionPacket& packet) override {
    NoteOrder(AddPacket(packet, 0));
    return {};
  }
  void OnClonePacket(const SessionPacket& packet) override { AddPacket(packet, clones_ + 1); }
  void OnCloneDone(BufferId, uint64_t, const BufferStats&) override { ++clones_; }
  void OnWarning(const std::string& text) override {
    if (warn_) warn_(text);
  }

 private:
  struct SequenceState {
    bool has_unplaced = false;  // a packet without a place was returned
    bool returned = false;      // anything, so far
    ChunkId chunk{};            // place of the latest packet that was returned
    uint32_t offset = 0;
    std::optional<DiffWhy> stall;
  };
  struct BufferState {
    std::optional<ChunkName> touched;  // by the last event of the last record
    PacketCount read;                  // of all buffers that had the id
    SequenceMap<SequenceState> sequences;
  };

  void StartRecord() {
    constexpr size_t kMostKept = 65536;
    // A read of a whole buffer is rare, and its memory would stay.
    if (packets_.capacity() > kMostKept) packets_ = {};
    for (auto& [id, buffer] : buffers_) buffer.touched.reset();
    packets_.clear();
    patches_.clear();
  }
  Status EndRecord(Status status) {
    RS_RETURN_IF_ERROR(status);
    for (ReturnedPacket& packet : packets_) packet.moment = moment_;
    for (const auto& [id, buffer] : replay_.session().buffers())
      RS_RETURN_IF_ERROR(CheckEngine(id, *buffer.engine));
    return {};
  }
  ReturnedPacket& AddPacket(const SessionPacket& session_packet, uint32_t clone) {
    const Packet& packet = *session_packet.packet;
    ReturnedPacket& returned = packets_.emplace_back();
    returned.place = {.buffer = session_packet.buffer,
                      .clone = clone,
                      .sequence = packet.sequence,
                      .chunk = packet.place.first_chunk,
                      .offset = packet.place.first_offset};
    returned.is_placed = packet.place != kUnknownPlace;
    returned.last_chunk = packet.place.last_chunk;
    returned.content = packet.slices.empty() ? 0 : ReadPacketFacts(packet.slices[0]).content;
    returned.size = packet.size;
    const Bytes bytes = Joined(packet.slices, joined_);
    returned.hash = XXH3_64bits(bytes.data(), bytes.size());
    returned.loss_bits = packet.dropped;
    returned.identity = packet.identity;
    returned.valid = session_packet.valid;
    return returned;
  }
  void NoteOrder(ReturnedPacket& returned) {
    BufferState& buffer = buffers_[returned.place.buffer];
    buffer.read += {1, returned.size};
    SequenceState& sequence = buffer.sequences[returned.place.sequence];
    sequence.stall.reset();
    sequence.has_unplaced |= !returned.is_placed;
    returned.knows_order = !sequence.has_unplaced;
    if (!returned.is_placed) return;
    const auto [id, offset] = std::pair(returned.place.chunk, returned.place.offset);
    returned.late = sequence.returned && (id == sequence.chunk ? offset < sequence.offset
                                                               : Precedes(id, sequence.chunk));
    if (!returned.late) {
      sequence.chunk = id;
      sequence.offset = offset;
      sequence.returned = true;
    }
    const auto found = chunks_.chunks.find(returned.chunk());
    if (found == chunks_.chunks.end()) return;
    ChunkOnSide& chunk = found->second[side_];
    returned.again = offset < chunk.returned_to;
    chunk.returned_to = std::max(chunk.returned_to, offset + 1);
  }
  void TakeIn(const ChunkAt& at, ChunkOnSide& chunk) {
    // An engine may take a chunk id twice.
    if (chunk.held) TakeOut(at, chunk);
    chunk.held = true;
    chunk.why.reset();
    chunk.committed = moment_;
  }
  void TakeOut(const ChunkAt& at, ChunkOnSide& chunk) {
    if (!chunk.held) return;
    chunk.held = false;
    chunks_.maybe_gone.push_back(at);
  }
  const ChunkOnSide* Find(const ChunkAt& chunk) const {
    const auto found = chunks_.chunks.find(chunk);
    return found == chunks_.chunks.end() ? nullptr : &found->second[side_];
  }

  const Side side_;
  DiffChunks& chunks_;
  std::function<void(const std::string&)> warn_;
  Replay replay_;
  // Of the last record:
  std::vector<ReturnedPacket> packets_;
  std::vector<PatchResult> patches_;
  LogMoment moment_;

  uint32_t clones_ = 0;
  std::map<BufferId, BufferState> buffers_;
  bool reports_events_ = false;
  std::optional<ChunkName> missed_;  // of the patch under way
  std::string joined_;               // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DIFF_SIDE_H_
