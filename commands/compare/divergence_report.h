#ifndef RINGSCOPE_COMMANDS_COMPARE_DIVERGENCE_REPORT_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIVERGENCE_REPORT_H_

#include <string_view>

#include "commands/compare/diff_words.h"
#include "commands/view/report.h"

namespace ringscope {

/// The first divergence of results, or of counters, as the object `key`.
void ReportDivergence(Report& report, std::string_view key, const Divergence& first,
                      FirstTime first_time_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIVERGENCE_REPORT_H_
