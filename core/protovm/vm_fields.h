#ifndef RINGSCOPE_CORE_PROTOVM_VM_FIELDS_H_
#define RINGSCOPE_CORE_PROTOVM_VM_FIELDS_H_

#include "core/base/ids.h"
#include "core/base/wire.h"

namespace ringscope::protovm {

/// A field as ProtoVM sees it.
struct VmField : wire::VisitedField {
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
    constexpr size_t kMaxBytes = size_t{256} << 20;
    while (at_ != end_) {
      at_ = wire::TakeField<UINT64_MAX>(at_, end_, field);
      if (at_ == nullptr || field.number == 0) break;
      const bool is_too_long = !field.is_scalar() && field.bytes.size() >= kMaxBytes;
      if (field.number <= kMaxNumber && !is_too_long) return true;
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
