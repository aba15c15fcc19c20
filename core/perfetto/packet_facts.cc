#include "core/perfetto/packet_facts.h"

#include <fmt/format.h>

namespace ringscope {
namespace {

using proto::TracePacket;

/// Fields that accompany the content and are not content themselves, as bits.
constexpr std::array<uint64_t, 2> kAccessories = [] {
  std::array<uint64_t, 2> bits{};
  for (const uint32_t field :
       {TracePacket::kTrustedUid, TracePacket::kTimestamp, TracePacket::kTrustedPacketSequenceId,
        TracePacket::kSequenceFlags, TracePacket::kIncrementalStateCleared,
        TracePacket::kPreviousPacketDropped, TracePacket::kTimestampClockId,
        TracePacket::kTrustedPid, TracePacket::kFirstPacketOnSequence, TracePacket::kMachineId})
    bits[field / 64] |= uint64_t{1} << field % 64;
  return bits;
}();
constexpr bool IsAccessory(uint32_t field) {
  return field < 128 && (kAccessories[field / 64] >> field % 64 & 1) != 0;
}

/// Returns true for fields that only the service may write.
bool IsReserved(uint32_t field, uint32_t release) {
  switch (field) {
    case TracePacket::kTrustedUid:
    case TracePacket::kTrustedPacketSequenceId:
    case TracePacket::kTraceConfig:
    case TracePacket::kTraceStats:
    case TracePacket::kSynchronizationMarker:
    case TracePacket::kCompressedPackets:
    case TracePacket::kTrustedPid:
    case TracePacket::kMachineId:
      return true;
    case TracePacket::kServiceEvent:
      return release >= 55;
    case TracePacket::kTraceProvenance:
    case TracePacket::kProtovms:
      return release >= 56;
    case TracePacket::kZstdCompressedPackets:
      return release >= 58;
    default:
      return false;
  }
}

/// Reads over slices as if they were one.
class SliceCursor {
 public:
  explicit SliceCursor(std::span<const Bytes> slices) : slices_(slices) { EnterSlice(); }

  bool AtEnd() const { return at_ == end_; }
  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (size_t i = 0; i < wire::kMaxVarintBytes && !AtEnd(); ++i) {
      const uint64_t byte = *at_;
      Advance(1);
      value |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Skip(uint64_t size) {
    while (size > 0 && !AtEnd()) {
      const uint64_t step = std::min(size, static_cast<uint64_t>(end_ - at_));
      size -= step;
      Advance(static_cast<ptrdiff_t>(step));
    }
    return size == 0;
  }

 private:
  void Advance(ptrdiff_t size) {
    at_ += size;
    if (at_ == end_) EnterSlice();
  }
  /// Goes to the next slice that is not empty.
  void EnterSlice() {
    while (at_ == end_ && !slices_.empty()) {
      at_ = slices_.front().data();
      end_ = at_ + slices_.front().size();
      slices_ = slices_.subspan(1);
    }
  }

  std::span<const Bytes> slices_;  // after the one that is read
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
};

}  // namespace

Bytes Joined(std::span<const Bytes> slices, std::string& scratch) {
  if (slices.size() == 1) return slices.front();
  scratch.clear();
  for (const Bytes slice : slices) scratch += wire::AsText(slice);
  return wire::AsBytes(scratch);
}

PacketFacts ReadPacketFacts(Bytes packet, Bytes* content, SizesAre sizes) {
  PacketFacts facts;
  uint64_t flags = 0;
  bool cleared = false;
  Bytes message;  // the content
  const auto note_content = [&](uint32_t field, Bytes bytes) {
    // Interned data and defaults accompany most content; they count as content only if alone.
    const auto is_minor = [](uint32_t n) {
      return n == TracePacket::kInternedData || n == TracePacket::kTracePacketDefaults;
    };
    if (IsAccessory(field)) return;
    if (facts.content != 0 && (!is_minor(facts.content) || is_minor(field))) return;
    facts.content = field;
    message = bytes;
  };
  const uint8_t* at = packet.data();
  const uint8_t* const end = at + packet.size();
  while (at != end) {
    wire::VisitedField field;
    const uint8_t* const next = wire::TakeField(at, end, field);
    if (next == nullptr) break;
    note_content(field.number, field.bytes);
    const bool has_no_size = sizes == SizesAre::kMissing && field.type == wire::Type::kBytes;
    at = has_no_size ? end : next;
    if (has_no_size) break;
    facts.has_interned_data |= field.number == TracePacket::kInternedData;
    if (field.number == TracePacket::kTracePacketDefaults)
      facts.default_clock =
          wire::FirstVarint(field.bytes, proto::TracePacketDefaults::kTimestampClockId);
    if (field.type != wire::Type::kVarint) continue;
    switch (field.number) {
      case TracePacket::kTimestamp:
        // The first one counts: after a size that still waits for its patch, the bytes of a nested
        // message can look like fields of the packet.
        if (!facts.timestamp) facts.timestamp = field.value;
        break;
      case TracePacket::kTimestampClockId:
        if (!facts.timestamp_clock) facts.timestamp_clock = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kSequenceFlags:
        flags = field.value;
        break;
      case TracePacket::kIncrementalStateCleared:
        cleared = field.value != 0;
        break;
      case TracePacket::kPreviousPacketDropped:
        facts.dropped = static_cast<uint32_t>(field.value);
        break;
      default:
        break;
    }
  }
  if (at != end) {
    // In a packet of several fragments, the field that reaches beyond this fragment is the one that
    // matters.
    const Bytes rest(at, end);
    const wire::Varint tag = wire::ReadVarint(rest);
    const auto type = static_cast<wire::Type>(tag.value & 7);
    if (tag.size > 0 && type == wire::Type::kBytes && tag.value >> 3 <= UINT32_MAX >> 3) {
      const Bytes sized = rest.subspan(tag.size);
      note_content(static_cast<uint32_t>(tag.value >> 3),
                   sized.subspan(wire::ReadVarint(sized).size));
    }
  }
  facts.clears_state =
      cleared || (flags & TracePacket::SequenceFlags::kSeqIncrementalStateCleared) != 0;
  facts.needs_state = (flags & TracePacket::SequenceFlags::kSeqNeedsIncrementalState) != 0;
  if (content != nullptr) *content = message;
  return facts;
}

std::string ContentName(uint32_t content) {
  if (content == 0) return "unknown";
  for (const auto& [number, name] : proto::kTracePacketFields)
    if (number == content) return name;
  return fmt::format("field {}", content);
}

bool IsValidPacket(std::span<const Bytes> slices, uint32_t release) {
  using wire::Type;
  SliceCursor cursor(slices);
  while (!cursor.AtEnd()) {
    uint64_t tag, value = 0;
    if (!cursor.ReadVarint(tag)) return false;
    if (IsReserved(static_cast<uint32_t>(tag >> 3), release)) return false;
    const auto type = static_cast<Type>(tag & 7);
    const bool has_varint = type == Type::kVarint || type == Type::kBytes;
    if (has_varint && !cursor.ReadVarint(value)) return false;
    const uint64_t size = type == Type::kBytes     ? value
                          : type == Type::kFixed64 ? 8
                          : type == Type::kFixed32 ? 4
                                                   : 0;
    if ((!has_varint && size == 0) || !cursor.Skip(size)) return false;
  }
  return true;
}

}  // namespace ringscope
