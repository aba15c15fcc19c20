#include "core/perfetto/packet_validator.h"

#include <algorithm>
#include <array>

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// A field that only the service may write, and the first release that refuses it from others.
struct ReservedField {
  uint32_t number;
  uint32_t since;
};
constexpr std::array<ReservedField, 12> kReserved = {{
    {3, 0},     // trusted_uid
    {10, 0},    // trusted_packet_sequence_id
    {33, 0},    // trace_config
    {35, 0},    // trace_stats
    {36, 0},    // synchronization_marker
    {50, 0},    // compressed_packets
    {69, 55},   // service_event
    {79, 0},    // trusted_pid
    {98, 0},    // machine_id
    {124, 56},  // trace_provenance
    {125, 56},  // protovms
    {133, 58},  // zstd_compressed_packets
}};

/// Of the numbers below 64, those of kReserved.
constexpr uint64_t kReservedLow = [] {
  uint64_t low = 0;
  for (const ReservedField& field : kReserved)
    if (field.number < 64) low |= uint64_t{1} << field.number;
  return low;
}();

bool IsReserved(uint32_t number, uint32_t release) {
  if (number < 64 && (kReservedLow >> number & 1) == 0) return false;
  return std::any_of(kReserved.begin(), kReserved.end(), [&](const ReservedField& field) {
    return field.number == number && release >= field.since;
  });
}

/// Reads over slices as if they were one.
class SliceCursor {
 public:
  explicit SliceCursor(std::span<const Bytes> slices) : slices_(slices) { SkipEmpty(); }

  bool AtEnd() const { return slices_.empty(); }

  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (size_t i = 0; i < wire::kMaxVarintBytes && !AtEnd(); ++i) {
      const uint64_t byte = slices_.front()[offset_];
      Advance(1);
      value |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Skip(uint64_t size) {
    while (size > 0) {
      if (AtEnd()) return false;
      const uint64_t step = std::min<uint64_t>(size, slices_.front().size() - offset_);
      Advance(static_cast<size_t>(step));
      size -= step;
    }
    return true;
  }

 private:
  void Advance(size_t size) {
    offset_ += size;
    SkipEmpty();
  }
  void SkipEmpty() {
    while (!slices_.empty() && offset_ == slices_.front().size()) {
      slices_ = slices_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const Bytes> slices_;
  size_t offset_ = 0;
};

/// The same over bytes in one piece.
class BytesCursor {
 public:
  explicit BytesCursor(Bytes bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool AtEnd() const { return at_ == end_; }
  bool ReadVarint(uint64_t& value) {
    if (at_ != end_ && *at_ < 0x80) [[likely]] {
      value = *at_++;
      return true;
    }
    const wire::Varint varint = wire::ReadVarint(Bytes(at_, end_));
    value = varint.value;
    at_ += varint.size;
    return varint.size > 0;
  }
  bool Skip(uint64_t size) {
    if (size > static_cast<uint64_t>(end_ - at_)) return false;
    at_ += size;
    return true;
  }

 private:
  const uint8_t* at_;
  const uint8_t* const end_;
};

template <typename Cursor>
bool IsValid(Cursor cursor, uint32_t release) {
  while (!cursor.AtEnd()) {
    uint64_t tag, value;
    if (!cursor.ReadVarint(tag)) return false;
    if (IsReserved(static_cast<uint32_t>(tag >> 3), release)) return false;
    bool readable = false;
    switch (static_cast<wire::Type>(tag & 7)) {
      case wire::Type::kVarint:
        readable = cursor.ReadVarint(value);
        break;
      case wire::Type::kFixed64:
        readable = cursor.Skip(8);
        break;
      case wire::Type::kFixed32:
        readable = cursor.Skip(4);
        break;
      case wire::Type::kBytes:
        readable = cursor.ReadVarint(value) && cursor.Skip(value);
        break;
    }
    if (!readable) return false;
  }
  return true;
}

}  // namespace

bool IsValidPacket(std::span<const Bytes> slices, uint32_t release) {
  return slices.size() == 1 ? IsValid(BytesCursor(slices.front()), release)
                            : IsValid(SliceCursor(slices), release);
}

}  // namespace ringscope
