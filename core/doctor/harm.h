#ifndef RINGSCOPE_CORE_DOCTOR_HARM_H_
#define RINGSCOPE_CORE_DOCTOR_HARM_H_

#include <array>
#include <cstdint>

#include "core/base/enum_names.h"

namespace ringscope {

/// How bad a finding is, from harmless to worst.
enum class Harm : uint8_t {
  kOk,        // of a verdict alone: nothing was found
  kInfo,      // good to know
  kWarning,   // data can be lost, or is of less use
  kDataLoss,  // data is missing
  kError,     // the trace, or a part of it, cannot be used
};
template <>
inline constexpr std::array kEnumNames<Harm> = {"ok", "info", "warning", "data_loss", "error"};

/// How bad it is that so many of the packets cannot be used, for lack of their state: a trace with
/// half of them is not a trace.
inline Harm HarmOfUnusable(uint64_t unusable, uint64_t packets) {
  return unusable == 0 ? Harm::kOk : unusable * 2 >= packets ? Harm::kError : Harm::kDataLoss;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_HARM_H_
