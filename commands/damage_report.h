#ifndef RINGSCOPE_COMMANDS_DAMAGE_REPORT_H_
#define RINGSCOPE_COMMANDS_DAMAGE_REPORT_H_

#include "commands/console.h"
#include "formats/commit_log_check.h"

namespace ringscope {

/// A table of damaged places: offset, bytes, records, what.
void PrintDamage(Console& console, const LogInfo& info);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DAMAGE_REPORT_H_
