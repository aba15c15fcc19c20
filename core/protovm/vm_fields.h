#ifndef RINGSCOPE_CORE_PROTOVM_VM_FIELDS_H_
#define RINGSCOPE_CORE_PROTOVM_VM_FIELDS_H_

#include "core/base/ids.h"
#include "core/base/wire.h"

namespace ringscope::protovm {

/// A field as ProtoVM sees it.
struct VmField {
  uint32_t number = 0;
  wire::Type type = wire::Type::kVarint;
  uint64_t value = 0;  // of a scalar
  Bytes bytes;         // of a length-delimited field

  bool is_scalar() const { return type != wire::Type::kBytes; }
};

/// Pulls the fields of a message by the rules of the service's parser: the first malformed field
/// and all that follow it are dropped silently; fields with numbers above 2^24 - 1 and fields of
/// 256 MiB and more are left out.
class VmFields {
 public:
  explicit VmFields(Bytes message) : at_(message.data()), end_(at_ + message.size()) {}

  /// @return false at the end
  bool Next(VmField& field) {
    constexpr uint32_t kMaxNumber = (uint32_t{1} << 24) - 1;
    constexpr uint64_t kMaxBytes = uint64_t{256} << 20;
    while (at_ != end_) {
      uint64_t tag = 0;
      const uint8_t* at = wire::TakeVarint(at_, end_, tag);
      field.number = static_cast<uint32_t>(tag >> 3);
      if (at == nullptr || at == end_ || field.number == 0) break;
      field.type = static_cast<wire::Type>(tag & 7);
      field.value = 0;
      const auto left = static_cast<size_t>(end_ - at);
      bool is_kept = field.number <= kMaxNumber;
      if (field.type == wire::Type::kVarint) {
        at = wire::TakeVarint(at, end_, field.value);
        if (at == nullptr) break;
      } else if (field.type == wire::Type::kBytes) {
        uint64_t size = 0;
        at = wire::TakeVarint(at, end_, size);
        if (at == nullptr || size > static_cast<uint64_t>(end_ - at)) break;
        field.bytes = {at, static_cast<size_t>(size)};
        at += size;
        is_kept &= size < kMaxBytes;
      } else if (field.type == wire::Type::kFixed64) {
        if (left < 8) break;
        field.value = wire::LoadLittleEndian<uint64_t>(at);
        at += 8;
      } else if (field.type == wire::Type::kFixed32) {
        if (left < 4) break;
        field.value = wire::LoadLittleEndian<uint32_t>(at);
        at += 4;
      } else {
        break;
      }
      at_ = at;
      if (is_kept) return true;
    }
    at_ = end_;
    return false;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_VM_FIELDS_H_
