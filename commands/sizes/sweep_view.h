#ifndef RINGSCOPE_COMMANDS_SIZES_SWEEP_VIEW_H_
#define RINGSCOPE_COMMANDS_SIZES_SWEEP_VIEW_H_

#include <string>

#include "commands/session/session_reader.h"
#include "commands/view/report.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {

/// Prints tables for people: one for each setting and buffer.
void PrintSweep(Report& out, const SweepReport& report);
/// The result for programs.
Json SweepJson(const SweepReport& report);
/// Sweeps the sessions of an input as 'ringscope sweep' does without options, and returns what it
/// prints for programs.
Result<Json> SweepDocument(Context& context, const SessionSelection& input);
/// Rows of CSV; the first columns are the same for all tools that compare sizes.
/// @param report nullptr for their titles
std::string SweepCsv(const SweepReport* report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_SWEEP_VIEW_H_
