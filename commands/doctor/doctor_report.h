#ifndef RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_
#define RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_

#include "commands/doctor/doctor_logs.h"
#include "commands/view/report.h"

namespace ringscope {

/// The answer alone, as text.
void PrintBrief(Report& report, const DoctorTrace& trace);
/// The result of one trace, as text: the verdict, the findings, the worst first, and what was
/// checked and found well, and the config with the changes.
/// @param limit of findings; 0: all
void PrintTrace(Report& report, const DoctorTrace& trace, uint64_t limit);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_DOCTOR_REPORT_H_
