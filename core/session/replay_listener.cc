#include "core/session/replay_listener.h"

#include <fmt/format.h>

#include <array>

#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

using Kind = BufferEvent::Kind;

std::string State(const BufferEvent& event) {
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

std::string PacketSpan(const BufferEvent& event) {
  std::string text = fmt::format("the packet at {}+{}", ToString(event.chunk), event.first_offset);
  if (event.last_chunk != event.chunk.chunk) text += fmt::format(" to #{}", Raw(event.last_chunk));
  return text;
}

}  // namespace

const char* InWords(DiscardReason reason) {
  constexpr std::array kWords = {
      "the buffer was full before",        "the buffer is full",
      "larger than the buffer allows",     "this chunk or a newer one was consumed before",
      "a re-commit that breaks the rules", "the engine does not report why"};
  return kWords.at(static_cast<size_t>(reason));
}

std::string WaitsFor(StallReason reason, const std::string& chunk) {
  constexpr std::array kWords = {"a patch of ", "the chunk after ", "the writer to complete "};
  return kWords.at(static_cast<size_t>(reason)) + chunk;
}

std::string ToString(ChunkName name) {
  return fmt::format("{}:{}#{}", Raw(name.sequence.producer), Raw(name.sequence.writer),
                     Raw(name.chunk));
}

std::string Describe(const BufferEvent& event) {
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
                                                               : "the patch is outside of it");
    case Kind::kReturned:
      return fmt::format("{} read: {} bytes{}", PacketSpan(event), event.packet_size,
                         event.loss_bits == 0
                             ? ""
                             : fmt::format(", flagged {}", LossBitsToString(event.loss_bits)));
    case Kind::kGivenUp:
      return fmt::format("{} abandoned: {}", PacketSpan(event), LossBitsToString(event.loss_bits));
    case Kind::kFolded:
      return fmt::format("{} overwritten, but folded into a state: {} bytes", PacketSpan(event),
                         event.packet_size);
    case Kind::kLossBit:
      return fmt::format("{}: {} will be flagged on the next packet", chunk,
                         LossBitsToString(event.loss_bits));
    case Kind::kWrap:
      return "the write cursor wraps";
    case Kind::kPadding:
      return fmt::format("padding of {} bytes at {}", event.outer_size, event.offset);
    case Kind::kStalled:
      return fmt::format("{} stalls its sequence: it waits for {}", chunk,
                         WaitsFor(event.stall, "it"));
  }
  return "";
}

}  // namespace ringscope
