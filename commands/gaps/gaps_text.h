#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_

#include <string>

#include "commands/gaps/gaps_words.h"
#include "commands/view/report.h"

namespace ringscope {

/// One session's losses for people, on a screen.
/// @param all explains each gap, and lists all else that was found
void PrintGaps(Report& out, const ShownGaps& selection, bool all);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_TEXT_H_
