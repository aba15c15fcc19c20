#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_

#include "commands/doctor/doctor_trace.h"
#include "commands/view/report.h"

namespace ringscope {

/// The answer alone, as text.
void PrintBrief(Report& report, const DoctorTrace& trace);
/// The result of one trace, as text: the verdict, the findings, the worst first, and what was
/// checked and found well, and the config with the changes.
/// @param limit of findings; 0: all
void PrintTrace(Report& report, const DoctorTrace& trace, uint64_t limit);

/// Prints many traces as text: the worst ones, a paragraph each, and then a table of all, in which
/// traces with the same findings are one row.
/// @param limit of the worst traces; 0: all
void PrintManyTraces(Report& report, const DoctorTraces& traces, uint64_t limit);

/// Prints all traces for programs: one document (json), an object for each trace on a line of its
/// own (jsonl), or a row for each finding (csv).
Status WriteTraces(Console& console, const std::string& format, const DoctorTraces& traces);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_
