#ifndef RINGSCOPE_COMMANDS_SIZES_ADVISE_H_
#define RINGSCOPE_COMMANDS_SIZES_ADVISE_H_

#include <cstdint>
#include <optional>

#include "commands/shell/command.h"
#include "commands/view/report.h"
#include "core/examine/examination.h"

namespace ringscope {

/// Reports the remedies of an examined session of a log.
/// @param keep_ns how far back each sequence is to reach; absent: nothing is to be overwritten
/// @return kNotice if a change is recommended
ExitCode ReportAdvice(const Examination& examination, std::optional<uint64_t> keep_ns, Report& out);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_ADVISE_H_
