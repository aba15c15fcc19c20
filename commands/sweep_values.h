#ifndef RINGSCOPE_COMMANDS_SWEEP_VALUES_H_
#define RINGSCOPE_COMMANDS_SWEEP_VALUES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/values.h"
#include "core/split.h"

namespace ringscope {

// How the values of a sweep's options are written. All errors are kUsage and say what is expected.

/// `[BUFFER=]LIST` of sizes.
struct SizeList {
  std::optional<BufferId> buffer;  // absent: all buffers
  std::vector<uint64_t> sizes;     // bytes; in order, none twice
};
/// "1M,2M,4M", "256k..64M" (each twice the one before), "256k..64Mx1.5" (1.5 times), and commas
/// between any of them. Both ends of a range are always in it. Sizes between them that are no whole
/// number of 4 KiB pages are rounded up to one.
Result<SizeList> ParseSizeList(std::string_view text);

Result<std::vector<FillPolicy>> ParsePolicyList(std::string_view text);

/// When to read, and how that was written.
struct NamedReads {
  std::string name;
  ReadsChoice choice;
};
Result<std::vector<NamedReads>> ParseReadsList(std::string_view text);

/// Names of engines; that of a plug-in is its path.
Result<std::vector<std::string>> ParseEngineList(std::string_view text);

/// "2:17=9" (a writer's sequence), "2=9" (a producer): goes to buffer 9.
Result<SplitRule> ParseSplit(std::string_view text);

/// What a buffer is wanted to do.
struct SweepTarget {
  std::string text;                         // as it was written
  std::optional<uint64_t> keep_ns;          // each sequence reaches back that far
  std::optional<uint64_t> loss_millionths;  // at most so many of the packets are lost
};
/// "keep=30s", "loss=0", "loss=0.1%"
Result<SweepTarget> ParseTarget(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_VALUES_H_
