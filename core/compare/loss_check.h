#ifndef RINGSCOPE_CORE_COMPARE_LOSS_CHECK_H_
#define RINGSCOPE_CORE_COMPARE_LOSS_CHECK_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/compare/stored_ops.h"
#include "core/ledger/ledger.h"
#include "core/session/replay.h"

namespace ringscope {

/// A fault that no buffer should have, whatever release it is of.
enum class LossFault : uint8_t {
  kLostWhole,   // a packet is lost though all of it was in the buffer
  kSilentLoss,  // something is lost, and no packet of the sequence shows that
  kFalseSign,   // a packet shows a loss where nothing is missing
};
template <>
inline constexpr std::array kEnumNames<LossFault> = {"lost_whole", "silent_loss", "false_sign"};

struct FoundFault {
  LossFault fault{};
  std::string kind;  // a cause, or loss bits: equal for faults of one sort
  std::string text;  // which packet, in a line
};

struct Accounts {
  std::string wrong;               // the sums that do not add up; empty: all do
  std::vector<FoundFault> faults;  // the first of each sort and kind, by sequence
};
/// Replays a stream on one buffer with a ledger, and checks what is lost and what shows it. A
/// sequence whose writer broke a rule is left out.
/// @param engine of `options`, which reports events
Result<Accounts> CheckAccounts(const EngineInfo& engine, const ReplayOptions& options,
                               const std::vector<StoredOp>& ops);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LOSS_CHECK_H_
