#include <algorithm>
#include <array>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"

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

/// The numbers of kReserved that are below 64, as bits.
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
  explicit SliceCursor(std::span<const Bytes> slices) : slices_(slices) { EnterSlice(); }

  bool AtEnd() const { return at_ == end_; }
  bool ReadVarint(uint64_t& value) {
    if (at_ != end_ && *at_ < 0x80) [[likely]] {
      value = *at_;
      Advance(1);
      return true;
    }
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
    while (size > static_cast<uint64_t>(end_ - at_)) {
      if (AtEnd()) return false;
      size -= static_cast<uint64_t>(end_ - at_);
      Advance(end_ - at_);
    }
    if (size > 0) Advance(static_cast<ptrdiff_t>(size));
    return true;
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

bool IsValidPacket(std::span<const Bytes> slices, uint32_t release) {
  SliceCursor cursor(slices);
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

}  // namespace ringscope
