#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_VIEW_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/compare/diff.h"
#include "commands/view/report.h"

namespace ringscope {

inline constexpr const char* kDiffDocument = "diff";
inline constexpr const char* kAllLists = "--all lists the packets and counters that differ.";

/// The record in words, in one line: "commit of 1:6#0 to buffer 2: 10 fragments, 4,080 bytes".
std::string OperationText(const Op& op);

/// The comparisons of all sessions: the first divergence, the packets that differ, the counters
/// side by side.
Status ReportDiffs(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Console& console);

// Parts that the comparison of traces has, too.

/// The first things that differ in one way, below "Only in A: 30 packets, of which the first 20
/// (--limit)".
void PrintList(Report& report, DifferenceKind kind, const Table& table, uint64_t count,
               size_t listed, const char* noun);
/// The counters of a buffer; for people those that differ, if they are to see all.
void ReportCounters(Report& report, const BufferDiff& buffer, bool all,
                    std::optional<uint64_t> first_time_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_VIEW_H_
