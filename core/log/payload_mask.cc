#include "core/log/payload_mask.h"

#include <algorithm>

#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

using Writable = std::span<uint8_t>;
using proto::TracePacket;
using KeptClock = proto::ClockSnapshot::Clock;
using PatchedChunk = proto::CommitDataRequest::ChunkToPatch;

/// The tag of field 14 as a varint, and a value. TracePacket has no such field.
constexpr uint8_t kFiller = 14 << 3;
constexpr uint8_t kMoreBytes = 0x80;

/// A field whose value is kept, or a message some of whose fields are.
struct KeptField {
  constexpr KeptField(uint32_t field, const KeptField* fields = nullptr)  // NOLINT: a plain number
      : number(field), message(fields) {}
  uint32_t number;  // 0 after the last one of a message
  const KeptField* message;
};
constexpr KeptField kKeptClock[] = {KeptClock::kClockId, KeptClock::kTimestamp,
                                    KeptClock::kIsIncremental, KeptClock::kUnitMultiplierNs, 0};
constexpr KeptField kClockSnapshot[] = {
    {proto::ClockSnapshot::kClocks, kKeptClock}, proto::ClockSnapshot::kPrimaryTraceClock, 0};
constexpr KeptField kDefaults[] = {proto::TracePacketDefaults::kTimestampClockId, 0};
constexpr KeptField kFtraceBundle[] = {proto::FtraceEventBundle::kCpu,
                                       proto::FtraceEventBundle::kLostEvents, 0};
// All counters of a processor's buffer.
constexpr KeptField kCpuStats[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0};
constexpr KeptField kKprobeStats[] = {1, 2, 0};
constexpr KeptField kFtraceStats[] = {
    proto::FtraceStats::kPhase, {proto::FtraceStats::kCpuStats, kCpuStats}, {10, kKprobeStats}, 0};
constexpr KeptField kPacket[] = {TracePacket::kTimestamp,
                                 TracePacket::kTimestampClockId,
                                 TracePacket::kSequenceFlags,
                                 TracePacket::kIncrementalStateCleared,
                                 TracePacket::kPreviousPacketDropped,
                                 TracePacket::kFirstPacketOnSequence,
                                 {TracePacket::kClockSnapshot, kClockSnapshot},
                                 {TracePacket::kTracePacketDefaults, kDefaults},
                                 {TracePacket::kFtraceEvents, kFtraceBundle},
                                 {TracePacket::kFtraceStats, kFtraceStats},
                                 0};

/// In place of a message: the field's bytes become filler.
constexpr KeptField kFilled[] = {0};
constexpr KeptField kPatch[] = {
    PatchedChunk::Patch::kOffset, {PatchedChunk::Patch::kData, kFilled}, 0};
constexpr KeptField kChunkToPatch[] = {
    PatchedChunk::kTargetBuffer,   PatchedChunk::kWriterId,          PatchedChunk::kChunkId,
    PatchedChunk::kHasMorePatches, {PatchedChunk::kPatches, kPatch}, 0};
constexpr KeptField kRequest[] = {{proto::CommitDataRequest::kChunksToPatch, kChunkToPatch},
                                  proto::CommitDataRequest::kFlushRequestId,
                                  0};

void ZeroOut(Writable bytes) { std::ranges::fill(bytes, uint8_t{0}); }

/// The bytes of `whole` that `part` points to.
Writable WritablePart(Writable whole, Bytes part) {
  return whole.subspan(static_cast<size_t>(part.data() - whole.data()), part.size());
}

void ClearField(Writable message, const wire::Field& field) {
  if (field.type == wire::Type::kBytes) return ZeroOut(WritablePart(message, field.bytes));
  const size_t tag = wire::ReadVarint(field.whole).size;
  const Writable value = WritablePart(message, field.whole).subspan(tag);
  if (field.type != wire::Type::kVarint) return ZeroOut(value);
  for (uint8_t& byte : value) byte &= kMoreBytes;
}

/// Visits fields, which may change, until `visit` returns false. @return the bytes after them
template <typename Visit>
Writable VisitFields(Writable message, Visit visit) {
  size_t read = 0;
  for (const wire::Field& field : wire::FieldReader(message)) {
    if (!visit(field)) break;
    read += field.whole.size();
  }
  return message.subspan(read);
}

/// Clears a field, but for what is kept of it.
void MaskField(Writable message, const wire::Field& field, const KeptField* kept) {
  while (kept->number != 0 && kept->number != field.number) ++kept;
  const bool is_kept =
      kept->number != 0 && (field.type == wire::Type::kBytes) == (kept->message != nullptr);
  if (!is_kept) return ClearField(message, field);
  if (kept->message == nullptr) return;
  const Writable nested = WritablePart(message, field.bytes);
  if (kept->message == kFilled) {
    std::ranges::fill(nested, kFiller);
    return;
  }
  ZeroOut(VisitFields(nested, [&](const wire::Field& part) {
    MaskField(nested, part, kept->message);
    return true;
  }));
}

/// Replaces bytes of a packet by fields. An open end is inside a varint that continues beyond it.
void Fill(Writable bytes, bool begins_open, bool ends_open) {
  std::ranges::fill(bytes, kFiller);
  const bool changes = bytes.size() % 2 != 0;
  if (bytes.empty() || changes == (begins_open != ends_open)) return;
  (begins_open && ends_open ? bytes.back() : bytes.front()) |= kMoreBytes;
}

/// Masks a packet, or its first fragment.
/// @param waits sizes of messages in it may be brought by patches
void MaskPacket(Writable packet, bool continues, bool waits) {
  const Bytes slice = packet;
  const bool is_valid = continues || IsValidPacket({&slice, 1});
  const Writable rest = VisitFields(packet, [&](const wire::Field& field) {
    const bool may_change = (waits && field.type == wire::Type::kBytes) ||
                            field.whole.data() + field.whole.size() == slice.data() + slice.size();
    if (continues && may_change) return false;
    MaskField(packet, field, kPacket);
    return true;
  });
  if (is_valid)
    Fill(rest, /*begins_open=*/false, /*ends_open=*/continues);
  else
    std::ranges::fill(rest, kMoreBytes);  // a tag without an end
}

/// Masks a fragment's impossible size and what follows. Keeps what buffers make of it: whether it
/// is an aborted packet's, and its bytes; up to three bytes of it, as V1 takes some that reach
/// beyond.
void MaskBrokenSize(Writable rest) {
  constexpr size_t kKept = 3;
  constexpr size_t kV1MaxBytes = 4;
  constexpr size_t kAlignment = 16;
  if (rest.size() <= kKept) return;
  const wire::Varint size = wire::ReadVarint(rest);
  if (size.size == 0) {  // none of them ends it
    const size_t read = std::min(rest.size(), wire::kMaxVarintBytes);
    std::ranges::fill(rest.first(read), uint8_t{0x80});
    return ZeroOut(rest.subspan(read));
  }
  ZeroOut(rest.subspan(size.size));
  if (size.size <= kKept || size.value == kWriterDropSize) return;
  if (size.size == kV1MaxBytes && size.value <= rest.size() + kAlignment) return;
  std::ranges::fill(rest.first(size.size), uint8_t{0xFF});
  rest[size.size - 1] = 0x7E;  // large, and not the size of an aborted packet
}

/// Masks a chunk's payload.
void MaskPayload(const ChunkHeader& header, bool complete, Writable payload) {
  const FinishedPart part = FinishedPartOf(header.fragments, header.flags & kAbiFlags, complete);
  uint32_t offset = 0, index = 0;
  const FragmentStatus status =
      VisitFragments(payload, part.fragments, [&](const Fragment& fragment) {
        offset = fragment.end;
        const Writable bytes = payload.subspan(fragment.body, fragment.size());
        const bool begins_open = index == 0 && (part.flags & kFirstContinues) != 0;
        const bool ends_open = ++index == part.fragments && (part.flags & kLastContinues) != 0;
        if (begins_open)
          Fill(bytes, begins_open, ends_open);
        else
          MaskPacket(bytes, ends_open, (part.flags & kNeedsPatching) != 0);
      });
  // The last fragment of a chunk that its writer still has may grow: only its size counts, if it
  // has a usual form. It may be chance if the fragment was counted but not begun.
  if (status == FragmentStatus::kFragment && part.fragments < header.fragments)
    VisitFragments(payload.subspan(offset), 1, [&](const Fragment& open) {
      constexpr uint32_t kLargestInOneByte = 0x7E;
      if (open.body == kPatchSize || (open.body == 1 && open.size() <= kLargestInOneByte))
        offset += open.body;
    });
  if (status == FragmentStatus::kFragment || status == FragmentStatus::kNone)
    ZeroOut(payload.subspan(offset));
  else
    MaskBrokenSize(payload.subspan(offset));
}

/// Masks an entry of chunks_to_move. Of several fields with data the last one counts.
void MaskChunk(Writable entry) {
  using Fields = proto::CommitDataRequest::ChunksToMove;
  std::optional<Writable> data;
  bool incomplete = false;
  ZeroOut(VisitFields(entry, [&](const wire::Field& field) {
    if (field.IsBytes(Fields::kData)) {
      if (data) ZeroOut(*data);
      data = WritablePart(entry, field.bytes);
    } else if (field.IsNumber(Fields::kChunkIncomplete)) {
      incomplete = field.value != 0;
    } else if (field.number > Fields::kChunkIncomplete || field.type == wire::Type::kBytes) {
      ClearField(entry, field);
    }
    return true;
  }));
  if (!data) return;
  const std::optional<ChunkHeader> header = ParseChunkHeader(*data);
  if (!header) return ZeroOut(*data);
  MaskPayload(*header, !incomplete, data->subspan(kChunkHeaderSize));
}

void MaskRequest(Writable request) {
  ZeroOut(VisitFields(request, [&](const wire::Field& field) {
    if (field.IsBytes(proto::CommitDataRequest::kChunksToMove))
      MaskChunk(WritablePart(request, field.bytes));
    else
      MaskField(request, field, kRequest);
    return true;
  }));
}

}  // namespace

LogHeader PayloadMask::HeaderOf(LogHeader header) {
  header.without_payload = true;
  header.format_version = LogHeader::kVersionWithoutPayload;
  return header;
}

const Op& PayloadMask::Apply(const Op& op) {
  op_ = op;
  if (auto* const header = std::get_if<LogHeader>(&op_.body)) {
    *header = HeaderOf(std::move(*header));
  } else if (auto* const commit = std::get_if<Commit>(&op_.body)) {
    request_ = wire::AsText(commit->request);
    const Writable request(reinterpret_cast<uint8_t*>(request_.data()), request_.size());
    MaskRequest(request);
    commit->request = request;
  } else if (auto* const program = std::get_if<ProtoVmSetUp>(&op_.body)) {
    program->state.clear();
  }
  return op_;
}

}  // namespace ringscope
