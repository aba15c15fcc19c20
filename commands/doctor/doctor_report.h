#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_

#include "commands/doctor/doctor_trace.h"
#include "commands/view/report.h"

namespace ringscope {

/// The answer alone, as text.
void PrintBrief(Report& report, const DoctorTrace& trace);
/// The result of one trace, as text: the verdict and the findings, the worst first.
/// @param all each finding in full, what was checked, and the config with the changes
void PrintTrace(Report& report, const DoctorTrace& trace, bool all);

/// Prints many traces as text: those with the same findings as one, the changes of the config that
/// would fit them, and the worst ones, a paragraph each.
/// @param all lists all with findings, not the worst alone
void PrintManyTraces(Report& report, const DoctorTraces& traces, bool all);

/// Prints all traces for programs: one document (json), an object for each trace on a line of its
/// own (jsonl), or a row for each finding (csv).
Status WriteTraces(Console& console, const std::string& format, const DoctorTraces& traces);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_
