#include "core/payload/packet_mask.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// Bytes of a tag, or of a size, that are kept as they are; of further ones only whether they are
/// zero. No tag or size of a packet has more.
constexpr size_t kExactTagBytes = 5, kExactSizeBytes = 4;
/// Bytes of a size that a patch fills in.
constexpr size_t kPatchedSizeBytes = 4;

bool IsZeroSize(Bytes bytes) {
  return bytes.size() >= kPatchedSizeBytes &&
         std::ranges::all_of(bytes.first(kPatchedSizeBytes), [](uint8_t b) { return b == 0; });
}

enum class SizeIs : uint8_t { kThere, kMissing, kAssumedMissing };

/// Whether a patch will bring the size that is first in `rest`. All sizes before it are known.
/// @param is_open the messages around it reach to the end of `rest` at least
SizeIs Judge(Bytes rest, uint32_t offset, bool is_open, const PacketMask::MissingSizes& missing) {
  if (!missing.any || rest.size() < kPatchedSizeBytes) return SizeIs::kThere;
  if (missing.assumed == offset) return SizeIs::kAssumedMissing;
  if (std::ranges::binary_search(missing.known, offset)) return SizeIs::kMissing;
  if (missing.all_known || !is_open) return SizeIs::kThere;
  // No message has a size of zero and is followed by zeros: those are no tags.
  return IsZeroSize(rest) ? SizeIs::kMissing : SizeIs::kAssumedMissing;
}

}  // namespace

/// A field that is kept, or a message some of whose fields are.
struct PacketMask::Message {
  struct Field {
    uint32_t number = 0;
    const Message* message = nullptr;  // nullptr: its value is kept
  };
  std::array<Field, 12> fields;

  const Field* Find(uint32_t number) const {
    for (const Field& field : fields)
      if (field.number == number && number != 0) return &field;
    return nullptr;
  }
};

const PacketMask::Message PacketMask::kClock = {{{{proto::Clock::kClockId},
                                                  {proto::Clock::kTimestamp},
                                                  {proto::Clock::kIsIncremental},
                                                  {proto::Clock::kUnitMultiplierNs}}}};
const PacketMask::Message PacketMask::kClockSnapshot = {
    {{{proto::ClockSnapshot::kClocks, &kClock}, {proto::ClockSnapshot::kPrimaryTraceClock}}}};
const PacketMask::Message PacketMask::kDefaults = {
    {{{proto::TracePacketDefaults::kTimestampClockId}}}};
const PacketMask::Message PacketMask::kFtraceBundle = {
    {{{proto::FtraceEventBundle::kCpu}, {proto::FtraceEventBundle::kLostEvents}}}};
// All counters of a processor's buffer, 1 to 9; see core/trace/ftrace_counters.h.
const PacketMask::Message PacketMask::kCpuStats = {{{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}}}};
const PacketMask::Message PacketMask::kKprobeStats = {{{{1}, {2}}}};
const PacketMask::Message PacketMask::kFtraceStats = {{{{proto::FtraceStats::kPhase},
                                                        {proto::FtraceStats::kCpuStats, &kCpuStats},
                                                        {10, &kKprobeStats}}}};
const PacketMask::Message PacketMask::kPacket = {{{
    {proto::TracePacket::kTimestamp},
    {proto::TracePacket::kTimestampClockId},
    {proto::TracePacket::kSequenceFlags},
    {proto::TracePacket::kIncrementalStateCleared},
    {proto::TracePacket::kPreviousPacketDropped},
    {proto::TracePacket::kFirstPacketOnSequence},
    {proto::TracePacket::kClockSnapshot, &kClockSnapshot},
    {proto::TracePacket::kTracePacketDefaults, &kDefaults},
    {proto::TracePacket::kFtraceEvents, &kFtraceBundle},
    {proto::TracePacket::kFtraceStats, &kFtraceStats},
}}};

void PacketMask::Advance(uint64_t bytes) {
  for (Level& level : std::span(levels_).first(depth_)) {
    level.seen += bytes;
    if (level.left != kUnknown) level.left -= std::min(level.left, bytes);
  }
}

bool PacketMask::ReachesOver(uint64_t bytes) const {
  return std::ranges::all_of(std::span(levels_).first(depth_),
                             [&](const Level& level) { return level.left >= bytes; });
}

void PacketMask::LeaveFinished() {
  size_t depth = 1;  // the packet itself ends with its last fragment
  while (depth < depth_ && levels_[depth].left != 0) ++depth;
  if (depth == depth_) return;
  depth_ = depth;  // what the message left unfinished ends with it
  phase_ = Phase::kTag;
  value_ = 0;
  value_bytes_ = 0;
}

void PacketMask::Enter(const Level& level) {
  phase_ = Phase::kTag;
  levels_[depth_++] = level;
}

void PacketMask::Spoil() {
  top().message = nullptr;
  top().kept = false;
}

bool PacketMask::AddByte(uint8_t& byte, bool is_kept, size_t exact_bytes) {
  value_ |= (uint64_t{byte} & 0x7F) << (7 * value_bytes_);
  ++value_bytes_;
  const bool is_last = byte < 0x80;
  if (!is_kept) {
    byte &= 0x80;
  } else if (value_bytes_ > exact_bytes && (byte & 0x7F) != 0) {
    byte |= 0x7F;
  }
  return is_last;
}

void PacketMask::OnTag() {
  const auto number = static_cast<uint32_t>(value_ >> 3);
  const Message::Field* const field = top().message->Find(number);
  keeps_ = field != nullptr && field->message == nullptr;
  next_ = field != nullptr ? field->message : nullptr;
  switch (static_cast<wire::Type>(value_ & 7)) {
    case wire::Type::kVarint:
      phase_ = Phase::kVarint;
      break;
    case wire::Type::kBytes:
      phase_ = Phase::kSize;
      break;
    case wire::Type::kFixed64:
      Enter({.kept = keeps_, .left = 8, .size_at = {}});
      break;
    case wire::Type::kFixed32:
      Enter({.kept = keeps_, .left = 4, .size_at = {}});
      break;
    default:
      Spoil();
  }
  value_ = 0;
  value_bytes_ = 0;
}

std::optional<PacketMask::Place> PacketMask::Take(std::span<uint8_t> bytes, Place place,
                                                  const MissingSizes& missing) {
  std::optional<Place> assumed;
  for (size_t i = 0; i < bytes.size();) {
    LeaveFinished();
    if (top().message == nullptr) {
      // Its own size may be missing where that of a message around it is known.
      uint64_t left = bytes.size() - i;
      for (const Level& level : std::span(levels_).first(depth_)) left = std::min(left, level.left);
      const auto size = static_cast<size_t>(left);
      if (!top().kept) std::ranges::fill(bytes.subspan(i, size), uint8_t{0});
      i += size;
      Advance(size);
      continue;
    }
    const Place here{place.chunk, place.offset + static_cast<uint32_t>(i)};
    const SizeIs size_is =
        phase_ == Phase::kSize && value_bytes_ == 0
            ? Judge(bytes.subspan(i), here.offset, ReachesOver(bytes.size() - i), missing)
            : SizeIs::kThere;
    if (size_is != SizeIs::kThere) {
      std::ranges::fill(bytes.subspan(i, kPatchedSizeBytes), uint8_t{0});
      i += kPatchedSizeBytes;
      Advance(kPatchedSizeBytes);
      // If the size is there, the message begins elsewhere: nothing of it can be read.
      const bool is_assumed = size_is == SizeIs::kAssumedMissing;
      if (is_assumed) assumed = here;
      Enter({.message = is_assumed ? nullptr : next_, .size_at = here});
      continue;
    }
    uint8_t& byte = bytes[i++];
    Advance(1);
    const bool is_kept = phase_ != Phase::kVarint || keeps_;
    const size_t exact = phase_ == Phase::kTag    ? kExactTagBytes
                         : phase_ == Phase::kSize ? kExactSizeBytes
                                                  : wire::kMaxVarintBytes;
    if (!AddByte(byte, is_kept, exact)) {
      if (value_bytes_ == wire::kMaxVarintBytes) Spoil();
      continue;
    }
    if (phase_ == Phase::kTag) {
      OnTag();
      continue;
    }
    const uint64_t size = value_;
    const bool is_size = phase_ == Phase::kSize;
    phase_ = Phase::kTag;
    value_ = 0;
    value_bytes_ = 0;
    // Bytes that are not kept are never a message's: a size is all that is kept of them.
    if (is_size && size != 0) Enter({.message = next_, .left = size, .size_at = {}});
  }
  return assumed;
}

void PacketMask::ForgetUnfinished() {
  for (size_t i = 1; i < depth_; ++i) {
    if (levels_[i].left != kUnknown) continue;
    depth_ = i + 1;
    return Spoil();
  }
}

void PacketMask::SetSize(Place place, uint64_t size) {
  for (Level& level : std::span(levels_).first(depth_).subspan(1)) {
    if (level.left != kUnknown || level.size_at != place) continue;
    level.left = size > level.seen ? size - level.seen : 0;
  }
}

}  // namespace ringscope
