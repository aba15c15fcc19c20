#ifndef RINGSCOPE_COMMANDS_SIZES_SWEEP_VALUES_H_
#define RINGSCOPE_COMMANDS_SIZES_SWEEP_VALUES_H_

#include <string_view>

#include "core/base/result.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

// Syntax of the values of a sweep's options. All errors are kUsage and name what is expected.

/// "1M,2M,4M", "256k..64M" (each twice the one before), "256k..64Mx1.5" (1.5 times), and commas
/// between any of them. Both ends of a range are always in it. Sizes between them that are no whole
/// number of 4 KiB pages are rounded up to one. In front of all: `BUFFER=`.
Result<SizeList> ParseSizeList(std::string_view text);
Result<NamedReads> ParseSweptReads(std::string_view text);
/// "keep=30s", "loss=0", "loss=0.1%"
Result<SweepTarget> ParseTarget(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SWEEP_VALUES_H_
