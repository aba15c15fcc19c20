#include "core/journal.h"

#include <fmt/format.h>

#include "core/data_loss.h"

namespace ringscope {
namespace {

using Kind = JournalEvent::Kind;

const char* WaitsFor(StallReason reason) {
  switch (reason) {
    case StallReason::kNeedsPatch:
      return "a patch of it";
    case StallReason::kMissingChunk:
      return "the chunk behind it";
    case StallReason::kIncomplete:
      return "its completion";
  }
  return "";
}

const char* InWords(DiscardReason reason) {
  switch (reason) {
    case DiscardReason::kSealed:
      return "the buffer was full before";
    case DiscardReason::kFull:
      return "the buffer is full: it takes nothing from now on";
    case DiscardReason::kTooLarge:
      return "it is larger than the buffer allows";
    case DiscardReason::kAlreadyConsumed:
      return "this chunk or a newer one was consumed before";
    case DiscardReason::kBadRecommit:
      return "a re-commit that breaks the rules";
  }
  return "";
}

std::string State(const JournalEvent& event) {
  std::string text = fmt::format("{} bytes at {}", event.outer_size, event.offset);
  if (event.payload_avail == 0 && event.payload_size > 0)
    text += ", all consumed";
  else if (event.payload_avail < event.payload_size)
    text += fmt::format(", {} of {} consumed", event.payload_size - event.payload_avail,
                        event.payload_size);
  if (event.incomplete) text += ", incomplete";
  if ((event.flags & kNeedsPatching) != 0) text += ", needs patching";
  return text;
}

std::string PacketSpan(const JournalEvent& event) {
  std::string text = fmt::format("the packet at {}+{}", ToString(event.chunk), event.first_offset);
  if (event.last_chunk != event.chunk.chunk) text += fmt::format(" to #{}", Raw(event.last_chunk));
  return text;
}

}  // namespace

std::string ToString(ChunkName name) {
  return fmt::format("{}:{}#{}", Raw(name.sequence.producer), Raw(name.sequence.writer),
                     Raw(name.chunk));
}

const char* Name(JournalEvent::Kind kind) {
  switch (kind) {
    case Kind::kCommitted:
      return "committed";
    case Kind::kRewritten:
      return "rewritten";
    case Kind::kRelocated:
      return "relocated";
    case Kind::kDiscarded:
      return "discarded";
    case Kind::kEvicting:
      return "evicted";
    case Kind::kErased:
      return "erased";
    case Kind::kPatched:
      return "patched";
    case Kind::kPatchMissed:
      return "patch_missed";
    case Kind::kReturned:
      return "returned";
    case Kind::kGivenUp:
      return "given_up";
    case Kind::kLossBit:
      return "loss_bit";
    case Kind::kWrap:
      return "wrap";
    case Kind::kPadding:
      return "padding";
    case Kind::kStalled:
      return "stalled";
  }
  return "";
}

const char* Name(DiscardReason reason) {
  switch (reason) {
    case DiscardReason::kSealed:
      return "sealed";
    case DiscardReason::kFull:
      return "full";
    case DiscardReason::kTooLarge:
      return "too_large";
    case DiscardReason::kAlreadyConsumed:
      return "already_consumed";
    case DiscardReason::kBadRecommit:
      return "bad_recommit";
  }
  return "";
}

const char* Name(StallReason reason) {
  switch (reason) {
    case StallReason::kNeedsPatch:
      return "needs_patch";
    case StallReason::kMissingChunk:
      return "missing_chunk";
    case StallReason::kIncomplete:
      return "incomplete";
  }
  return "";
}

const char* Name(PatchMiss miss) {
  return miss == PatchMiss::kNoSuchChunk ? "no_such_chunk" : "out_of_bounds";
}

std::string Describe(const JournalEvent& event) {
  const std::string chunk = ToString(event.chunk);
  switch (event.kind) {
    case Kind::kCommitted:
      return fmt::format("{} committed: {}", chunk, State(event));
    case Kind::kRewritten:
      return fmt::format("{} re-committed in place: {}", chunk, State(event));
    case Kind::kRelocated:
      return fmt::format("{} moves to the write cursor, from {}", chunk, event.offset);
    case Kind::kDiscarded:
      return fmt::format("{} discarded: {}", chunk, InWords(event.discard));
    case Kind::kEvicting:
      return fmt::format("{} evicted for {}: {}", chunk, event.by ? ToString(*event.by) : "?",
                         State(event));
    case Kind::kErased:
      return fmt::format("{} leaves the buffer", chunk);
    case Kind::kPatched:
      return fmt::format("{} patched ({})", chunk, event.patches);
    case Kind::kPatchMissed:
      return fmt::format("{} not patched: {}", chunk,
                         event.miss == PatchMiss::kNoSuchChunk ? "it is not in the buffer"
                                                               : "the patch lies outside of it");
    case Kind::kReturned:
      return fmt::format("{} read: {} bytes{}", PacketSpan(event), event.packet_size,
                         event.loss_bits == 0
                             ? ""
                             : fmt::format(", flagged {}", LossBitsToString(event.loss_bits)));
    case Kind::kGivenUp:
      return fmt::format("{} given up: {}", PacketSpan(event), LossBitsToString(event.loss_bits));
    case Kind::kLossBit:
      return fmt::format("{}: {} is noted for the next packet", chunk,
                         LossBitsToString(event.loss_bits));
    case Kind::kWrap:
      return "the write cursor wraps";
    case Kind::kPadding:
      return fmt::format("padding of {} bytes at {}", event.outer_size, event.offset);
    case Kind::kStalled:
      return fmt::format("{} stalls its sequence: it waits for {}", chunk, WaitsFor(event.stall));
  }
  return "";
}

class Journal::BufferObserver : public EngineObserver {
 public:
  BufferObserver(Journal& journal, BufferId buffer) : journal_(journal), buffer_(buffer) {}

  void OnCommitted(const ObservedChunk& chunk) override { Emit(Kind::kCommitted, chunk); }
  void OnRewritten(const ObservedChunk& chunk) override { Emit(Kind::kRewritten, chunk); }
  void OnRelocated(const ObservedChunk& chunk) override { Emit(Kind::kRelocated, chunk); }
  void OnErased(const ObservedChunk& chunk) override { Emit(Kind::kErased, chunk); }

  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override {
    JournalEvent event = At(Kind::kDiscarded, {commit.sequence, commit.chunk});
    event.discard = reason;
    event.payload_size = static_cast<uint32_t>(commit.payload.size());
    event.flags = commit.flags;
    event.incomplete = !commit.complete;
    journal_.Emit(event);
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    JournalEvent event = Of(Kind::kEvicting, chunk);
    event.by = ChunkName{by.sequence, by.chunk};
    journal_.Emit(event);
  }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    JournalEvent event = Of(Kind::kPatched, chunk);
    event.patches = static_cast<uint32_t>(patches.patches.size());
    journal_.Emit(event);
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    JournalEvent event = chunk != nullptr
                             ? Of(Kind::kPatchMissed, *chunk)
                             : At(Kind::kPatchMissed, {patches.sequence, patches.chunk});
    event.patches = static_cast<uint32_t>(patches.patches.size());
    event.miss = miss;
    journal_.Emit(event);
  }
  void OnPacketReturned(const Packet& packet) override {
    JournalEvent event = Of(Kind::kReturned, packet.sequence, packet.place);
    event.packet_size = packet.size;
    event.loss_bits = packet.dropped;
    journal_.Emit(event);
  }
  void OnPacketGivenUp(SequenceKey sequence, const PacketPlace& place, uint32_t cause) override {
    JournalEvent event = Of(Kind::kGivenUp, sequence, place);
    event.loss_bits = cause;
    journal_.Emit(event);
  }
  void OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) override {
    JournalEvent event = At(Kind::kLossBit, {sequence, chunk});
    event.loss_bits = bit;
    journal_.Emit(event);
  }
  void OnWrap() override {
    JournalEvent event = At(Kind::kWrap, ChunkName{});
    journal_.Emit(event);
  }
  void OnPadding(uint64_t offset, uint32_t size) override {
    JournalEvent event = At(Kind::kPadding, ChunkName{});
    event.offset = offset;
    event.outer_size = size;
    journal_.Emit(event);
  }
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override {
    JournalEvent event = At(Kind::kStalled, {sequence, chunk});
    event.stall = reason;
    journal_.Emit(event);
  }

 private:
  JournalEvent At(Kind kind, ChunkName chunk) const {
    JournalEvent event;
    event.kind = kind;
    event.buffer = buffer_;
    event.chunk = chunk;
    return event;
  }
  JournalEvent Of(Kind kind, const ObservedChunk& chunk) const {
    JournalEvent event = At(kind, {chunk.sequence, chunk.chunk});
    event.offset = chunk.offset;
    event.outer_size = chunk.outer_size;
    event.payload_size = chunk.payload_size;
    event.payload_avail = chunk.payload_avail;
    event.flags = chunk.flags;
    event.incomplete = chunk.incomplete;
    return event;
  }
  JournalEvent Of(Kind kind, SequenceKey sequence, const PacketPlace& place) const {
    JournalEvent event = At(kind, {sequence, place.first_chunk});
    event.first_offset = place.first_offset;
    event.last_chunk = place.last_chunk;
    return event;
  }
  void Emit(Kind kind, const ObservedChunk& chunk) {
    JournalEvent event = Of(kind, chunk);
    journal_.Emit(event);
  }

  Journal& journal_;
  const BufferId buffer_;
};

Journal::Journal(Listener listener) : listener_(std::move(listener)) {}
Journal::~Journal() = default;

EngineObserver* Journal::Observer(BufferId buffer) {
  std::unique_ptr<BufferObserver>& observer = observers_[buffer];
  if (observer == nullptr) observer = std::make_unique<BufferObserver>(*this, buffer);
  return observer.get();
}

void Journal::Emit(JournalEvent& event) {
  event.record = record_;
  event.time_ns = time_ns_;
  listener_(event);
}

}  // namespace ringscope
