#ifndef RINGSCOPE_COMMANDS_DOCTOR_EXAMINE_H_
#define RINGSCOPE_COMMANDS_DOCTOR_EXAMINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "commands/doctor/doctor_trace.h"
#include "commands/replays/replay_run.h"
#include "commands/shell/context.h"

namespace ringscope {

/// Returns true for names of logs: "x.tblog", "x.ops.jsonl", compressed or not.
bool HasLogName(std::string_view name);

/// Diagnoses all traces of an input: a Perfetto trace, each trace of a zip archive, or the replay
/// of each session of a log. Members of an archive that cannot be read are results, too.
/// @param path "-": standard input
/// @param choices of a log's replay @param session only this one
Result<DoctorTraces> ExamineInput(Context& context, const std::string& path,
                                  const ReplayChoices& choices, std::optional<uint64_t> session);
/// Returns true if the input is a log; standard input is not looked at.
bool IsLog(Context& context, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DOCTOR_EXAMINE_H_
