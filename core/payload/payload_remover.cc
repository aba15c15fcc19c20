#include "core/payload/payload_remover.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

using Writable = std::span<uint8_t>;

void ZeroOut(Writable bytes) { std::ranges::fill(bytes, uint8_t{0}); }

/// The bytes of `whole` that `part` points to.
Writable WritablePart(Writable whole, Bytes part) {
  return whole.subspan(static_cast<size_t>(part.data() - whole.data()), part.size());
}

/// Clears the value of a field that is not known.
void ClearField(Writable message, const wire::Field& field) {
  if (field.type == wire::Type::kBytes) return ZeroOut(WritablePart(message, field.bytes));
  const size_t tag = wire::ReadVarint(field.whole).size;
  const Writable value = WritablePart(message, field.whole).subspan(tag);
  if (field.type != wire::Type::kVarint) return ZeroOut(value);
  for (uint8_t& byte : value) byte &= 0x80;
}

/// Visits the fields of a message that may be changed meanwhile, and clears what is malformed.
/// @return false: some of it was
template <typename Visit>
bool VisitChangingFields(Writable message, Visit visit) {
  wire::FieldReader fields(message);
  size_t read = 0;
  while (const auto field = fields.Next()) {
    read += field->whole.size();
    visit(*field);
  }
  if (!fields.ok()) ZeroOut(message.subspan(read));
  return fields.ok();
}

/// Writes a varint that takes all of these bytes.
void StoreVarint(Writable bytes, uint64_t value) {
  for (size_t i = 0; i < bytes.size(); ++i, value >>= 7)
    bytes[i] = static_cast<uint8_t>((value & 0x7F) | (i + 1 < bytes.size() ? 0x80 : 0));
}

/// Masks the size of a fragment that cannot be read, or that reaches beyond its chunk, and what
/// follows it. What buffers make of such a size stays: whether it is that of an aborted packet, and
/// how many bytes it has. Sizes of up to three bytes stay, as V1 takes some that reach beyond.
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

/// Where the size ends of a fragment that its writer still has, if it is one as writers leave
/// there: of one byte or of four. It can be chance, if the writer has counted a fragment that it
/// has not begun.
/// @return `offset`: it has another form
uint32_t EndOfOpenSize(Bytes payload, uint32_t offset) {
  constexpr uint32_t kLargestInOneByte = 0x7E;
  Fragment fragment;
  if (ReadFragment(payload.data(), static_cast<uint32_t>(payload.size()), offset, fragment) !=
      FragmentStatus::kFragment)
    return offset;
  const uint32_t bytes = fragment.body - fragment.offset;
  const bool is_usual = bytes == kPatchSize || (bytes == 1 && fragment.size() <= kLargestInOneByte);
  return is_usual ? fragment.body : offset;
}

}  // namespace

auto PayloadRemover::Sequence::Find(ChunkId chunk) -> OpenPacket* {
  for (OpenPacket& packet : open)
    if (packet.chunk == chunk && (packet.mask || packet.before || packet.cleared)) return &packet;
  return nullptr;
}

auto PayloadRemover::Sequence::Get(ChunkId chunk) -> OpenPacket& {
  if (OpenPacket* const known = Find(chunk)) return *known;
  OpenPacket& packet = open[next++ % kChunks];
  packet = {.chunk = chunk, .before = nullptr, .mask = nullptr, .cleared = {}};
  return packet;
}

std::optional<uint32_t> PayloadRemover::Sequence::AssumedIn(ChunkId chunk) const {
  const auto found = std::ranges::find(assumed, chunk, &PacketMask::Place::chunk);
  if (found == assumed.end()) return std::nullopt;
  return found->offset;
}

void PayloadRemover::Sequence::Assume(PacketMask::Place place) {
  if (AssumedIn(place.chunk)) return;
  if (assumed.size() == kMaxMissing) assumed.erase(assumed.begin());
  assumed.push_back(place);
}

LogHeader PayloadRemover::HeaderOf(LogHeader header) {
  header.without_payload = true;
  header.format_version = LogHeader::kVersionWithoutPayload;
  return header;
}

const Op& PayloadRemover::Apply(const Op& op) {
  if (const auto* const commit = std::get_if<Commit>(&op.body)) ahead_.Add(*commit);
  return ApplyNext(op);
}

const Op& PayloadRemover::ApplyNext(const Op& op) {
  op_ = op;
  if (auto* const header = std::get_if<LogHeader>(&op_.body)) {
    *header = HeaderOf(std::move(*header));
    if (header->part == 0) sequences_.clear();
  } else if (auto* const commit = std::get_if<Commit>(&op_.body)) {
    const Commit original = *commit;
    ApplyToRequest(*commit);
    ahead_.Remove(original);
  } else if (auto* const program = std::get_if<ProtoVmSetUp>(&op_.body)) {
    program->state.clear();
  } else if (const auto* const gone = std::get_if<ProducerDisconnected>(&op_.body)) {
    std::erase_if(sequences_,
                  [&](const auto& entry) { return entry.first.producer == gone->producer; });
  }
  return op_;
}

void PayloadRemover::ApplyToRequest(Commit& commit) {
  using proto::CommitDataRequest;
  request_ = wire::AsText(commit.request);
  const Writable request(reinterpret_cast<uint8_t*>(request_.data()), request_.size());
  commit.request = request;
  sizes_.clear();
  patched_.clear();
  // A message can end in the chunk that is committed together with the patch of its size.
  VisitChangingFields(request, [&](const wire::Field& field) {
    if (field.IsBytes(CommitDataRequest::kChunksToPatch))
      ApplyToPatches(commit.producer, WritablePart(request, field.bytes));
    else if (field.IsNumber(CommitDataRequest::kFlushRequestId))
      return;
    else if (!field.IsBytes(CommitDataRequest::kChunksToMove))
      ClearField(request, field);
  });
  for (const PatchedChunk& patched : patched_) ResolveAssumed(patched);
  for (const PatchedSize& size : sizes_) {
    SetSizes(size.sequence);
    ExtendSize(size);
  }
  VisitChangingFields(request, [&](const wire::Field& field) {
    if (field.IsBytes(CommitDataRequest::kChunksToMove))
      ApplyToChunk(commit.producer, WritablePart(request, field.bytes));
  });
}

void PayloadRemover::SetSizes(SequenceKey sequence) {
  const auto known = sequences_.find(sequence);
  if (known == sequences_.end()) return;
  for (const PatchedSize& size : sizes_) {
    if (size.sequence != sequence) continue;
    for (OpenPacket& packet : known->second.open)
      if (packet.mask != nullptr) packet.mask->SetSize(size.place, size.size);
  }
}

void PayloadRemover::NoteMissing(Sequence& sequence, const PacketMask& mask, uint64_t more) {
  mask.VisitMissingSizes([&](PacketMask::Place place, uint64_t seen) {
    if (sequence.missing.size() == Sequence::kMaxMissing)
      sequence.missing.erase(sequence.missing.begin());
    sequence.missing.emplace_back(place, seen + more);
  });
}

void PayloadRemover::ExtendSize(const PatchedSize& size) {
  const auto known = sequences_.find(size.sequence);
  if (known == sequences_.end()) return;
  auto& missing = known->second.missing;
  const auto found =
      std::ranges::find(missing, size.place, &std::pair<PacketMask::Place, uint64_t>::first);
  if (found == missing.end()) return;
  StoreVarint(size.data, found->second);
}

void PayloadRemover::ResolveAssumed(const PatchedChunk& patched) {
  const auto known = sequences_.find(patched.sequence);
  if (known == sequences_.end()) return;
  auto& all = known->second.assumed;
  const auto assumed = std::ranges::find(all, patched.chunk, &PacketMask::Place::chunk);
  if (assumed == all.end()) return;
  PatchedSize* outermost = nullptr;  // of the messages that begin there or later: it ends last
  for (PatchedSize& size : sizes_) {
    if (size.sequence != patched.sequence || size.place.chunk != patched.chunk) continue;
    if (size.place.offset < assumed->offset) continue;
    if (outermost == nullptr || size.place.offset < outermost->place.offset) outermost = &size;
  }
  const bool was_missing = outermost != nullptr && outermost->place == *assumed;
  if (!was_missing && !patched.is_last) return;
  if (outermost != nullptr && !was_missing) {
    outermost->size += outermost->place.offset - assumed->offset;
    outermost->place = *assumed;
    StoreVarint(outermost->data, outermost->size);
    StoreVarint(outermost->offset_at, assumed->offset);
  }
  all.erase(assumed);
}

void PayloadRemover::ApplyToPatches(ProducerId producer, std::span<uint8_t> entry) {
  using Fields = proto::ChunkToPatch;
  const size_t first = sizes_.size();
  uint64_t writer = 0, chunk = 0;
  bool has_more = false, are_sizes = true;
  VisitChangingFields(entry, [&](const wire::Field& field) {
    if (field.IsBytes(Fields::kPatches)) {
      uint64_t offset = 0;
      std::optional<uint64_t> size;
      Writable data, offset_at;
      const Writable patch = WritablePart(entry, field.bytes);
      VisitChangingFields(patch, [&](const wire::Field& part) {
        if (part.IsNumber(proto::Patch::kOffset)) {
          offset = part.value;
          offset_at = WritablePart(patch, part.whole).subspan(wire::ReadVarint(part.whole).size);
        } else if (part.IsBytes(proto::Patch::kData)) {
          size = PatchedSizeOf(part.bytes);
          data = WritablePart(patch, part.bytes);
          if (!size) ClearField(patch, part);
        } else {
          ClearField(patch, part);
        }
      });
      are_sizes = are_sizes && size.has_value();
      if (size && offset <= UINT16_MAX)
        sizes_.push_back({.sequence = {},
                          .place = {{}, static_cast<uint32_t>(offset)},
                          .size = *size,
                          .data = data,
                          .offset_at = offset_at});
    } else if (field.IsNumber(Fields::kWriterId)) {
      writer = field.value;
    } else if (field.IsNumber(Fields::kChunkId)) {
      chunk = field.value;
    } else if (field.IsNumber(Fields::kHasMorePatches)) {
      has_more = field.value != 0;
    } else if (!field.IsNumber(Fields::kTargetBuffer)) {
      ClearField(entry, field);
    }
  });
  for (PatchedSize& size : std::span(sizes_).subspan(first)) {
    size.sequence = {producer, WriterId{static_cast<uint16_t>(writer)}};
    size.place.chunk = IdOf(chunk);
  }
  patched_.push_back({.sequence = {producer, WriterId{static_cast<uint16_t>(writer)}},
                      .chunk = IdOf(chunk),
                      .is_last = !has_more && are_sizes});
}

PacketMask::MissingSizes PayloadRemover::MissingIn(SequenceKey sequence, ChunkId chunk) const {
  PacketMask::MissingSizes missing{.any = true};
  if (const PatchesAhead::Places* const places = ahead_.Find({sequence, chunk})) {
    missing.known = places->offsets;
    missing.all_known = places->are_all;
  }
  if (const auto known = sequences_.find(sequence); known != sequences_.end())
    missing.assumed = known->second.AssumedIn(chunk);
  return missing;
}

void PayloadRemover::ApplyToChunk(ProducerId producer, std::span<uint8_t> entry) {
  using Fields = proto::ChunksToMove;
  std::optional<Writable> data;
  bool incomplete = false;
  VisitChangingFields(entry, [&](const wire::Field& field) {
    if (field.IsBytes(Fields::kData)) {
      if (data) ZeroOut(*data);  // the last one counts
      data = WritablePart(entry, field.bytes);
    } else if (field.IsNumber(Fields::kChunkIncomplete)) {
      incomplete = field.value != 0;
    } else if (field.number > Fields::kChunkIncomplete || field.type == wire::Type::kBytes) {
      ClearField(entry, field);
    }
  });
  if (!data) return;
  const std::optional<ChunkHeader> header = ParseChunkHeader(*data);
  if (!header) return ZeroOut(*data);
  ApplyToPayload({producer, header->writer}, *header, !incomplete, data->subspan(kChunkHeaderSize));
}

void PayloadRemover::ApplyToPayload(SequenceKey sequence, const ChunkHeader& header, bool complete,
                                    std::span<uint8_t> payload) {
  const auto [count, flags] = FinishedPartOf(header.fragments, header.flags & kAbiFlags, complete);
  const auto size = static_cast<uint32_t>(payload.size());
  Sequence& chunks = sequences_[sequence];
  // What was masked once is masked the same way when it is re-committed.
  OpenPacket* const known = chunks.Find(header.chunk);
  std::unique_ptr<PacketMask> before, mask;
  std::optional<uint32_t> cleared;
  uint32_t offset = 0;
  Fragment fragment;
  FragmentStatus status = FragmentStatus::kFragment;
  for (uint32_t i = 0; i < count; ++i) {
    status = ReadFragment(payload.data(), size, offset, fragment);
    if (status != FragmentStatus::kFragment) break;
    offset = fragment.end;
    const Writable bytes = payload.subspan(fragment.body, fragment.size());
    if (i == 0 && (flags & kFirstContinues) != 0) {
      // The packet began in the chunk before, which need not be known.
      const OpenPacket* const previous = chunks.Find(ChunkId{Raw(header.chunk) - 1});
      const bool was_cleared = known != nullptr && known->cleared;
      if (!was_cleared && known != nullptr && known->before != nullptr)
        before = std::move(known->before);
      else if (!was_cleared && previous != nullptr && previous->mask != nullptr)
        before = std::make_unique<PacketMask>(*previous->mask);
      if (before == nullptr) {
        cleared = fragment.size();
        ZeroOut(bytes);
        continue;
      }
      mask = std::make_unique<PacketMask>(*before);
    } else if (mask == nullptr) {
      mask = std::make_unique<PacketMask>();
    } else {
      *mask = {};
    }
    const bool waits =
        (header.flags & kNeedsPatching) != 0 && (flags & kLastContinues) != 0 && i + 1 == count;
    const bool is_end = i == 0 && before != nullptr && (count > 1 || (flags & kLastContinues) == 0);
    // Where the message ends is known by now, but for a chunk that was scraped before its commit.
    if (is_end) mask->ForgetUnfinished();
    const auto assumed =
        mask->Take(bytes, {header.chunk, fragment.body},
                   waits ? MissingIn(sequence, header.chunk) : PacketMask::MissingSizes{});
    if (assumed) chunks.Assume(*assumed);
    if (is_end) NoteMissing(chunks, *mask, 0);
  }
  // The last fragment of a chunk that its writer still has may grow: only its size counts.
  if (status == FragmentStatus::kFragment && count < header.fragments)
    offset = EndOfOpenSize(payload, offset);
  if (status == FragmentStatus::kFragment || status == FragmentStatus::kNone)
    ZeroOut(payload.subspan(offset));
  else
    MaskBrokenSize(payload.subspan(offset));
  const bool is_open = status == FragmentStatus::kFragment && (flags & kLastContinues) != 0;
  if (!is_open) mask = nullptr;
  // Of a packet that continues through the chunk, sizes may have come since.
  if (known != nullptr && known->mask != nullptr && count == 1) mask = std::move(known->mask);
  if (mask != nullptr) {
    const OpenPacket* const next = chunks.Find(ChunkId{Raw(header.chunk) + 1});
    if (next != nullptr && next->cleared) NoteMissing(chunks, *mask, *next->cleared);
  }
  if (before || mask || cleared || known != nullptr) {
    OpenPacket& packet = known != nullptr ? *known : chunks.Get(header.chunk);
    packet.before = std::move(before);
    packet.mask = std::move(mask);
    packet.cleared = cleared;
  }
  SetSizes(sequence);
}

}  // namespace ringscope
