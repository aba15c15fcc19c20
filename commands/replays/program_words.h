#ifndef RINGSCOPE_COMMANDS_REPLAYS_PROGRAM_WORDS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_PROGRAM_WORDS_H_

#include <string>

#include "commands/view/report.h"
#include "core/base/packet_count.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// "5 packets (5.4 KiB) that were overwritten are in states of programs (ProtoVM), ...": what
/// programs saved of a session, and what they could not; empty: no program was asked.
/// @param folded packets of that fate
std::string FoldedText(const ReplayOutcome& outcome, const PacketCount& folded);

/// The programs of a session's buffers, one by one, with what went wrong where in them.
void PrintPrograms(Report& out, const ReplayOutcome& outcome);
/// An array of the programs.
Json ProgramsJson(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_PROGRAM_WORDS_H_
