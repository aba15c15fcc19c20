#include "core/perfetto/packet_validator.h"

#include <algorithm>
#include <array>

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// Fields that only the service may write.
constexpr std::array<uint32_t, 12> kReserved = {
    3,    // trusted_uid
    10,   // trusted_packet_sequence_id
    33,   // trace_config
    35,   // trace_stats
    36,   // synchronization_marker
    50,   // compressed_packets
    69,   // service_event (since v55)
    79,   // trusted_pid
    98,   // machine_id
    124,  // trace_provenance (v56)
    125,  // protovms (v56)
    133,  // zstd_compressed_packets (v58)
};

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

}  // namespace

bool IsValidPacket(std::span<const Bytes> slices) {
  constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;
  SliceCursor cursor(slices);
  while (!cursor.AtEnd()) {
    uint64_t tag, value;
    if (!cursor.ReadVarint(tag)) return false;
    const uint64_t number = tag >> 3;
    if (number == 0 || number > kMaxFieldNumber) return false;
    if (std::find(kReserved.begin(), kReserved.end(), number) != kReserved.end()) return false;
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
