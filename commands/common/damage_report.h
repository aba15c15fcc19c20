#ifndef RINGSCOPE_COMMANDS_COMMON_DAMAGE_REPORT_H_
#define RINGSCOPE_COMMANDS_COMMON_DAMAGE_REPORT_H_

#include "commands/report/report.h"
#include "formats/inputs/log_check.h"

namespace ringscope {

/// Damaged places: offset, bytes, records, what.
Table DamageTable(const std::vector<Damage>& damage);
/// The table as text, and how many places are not in it.
void PrintDamage(Report& report, const LogInfo& info);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_DAMAGE_REPORT_H_
