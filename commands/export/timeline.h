#ifndef RINGSCOPE_COMMANDS_EXPORT_TIMELINE_H_
#define RINGSCOPE_COMMANDS_EXPORT_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/common/replay_run.h"
#include "commands/shell/command.h"

namespace ringscope {

struct TimelineArgs {
  std::string log;
  std::string output;  // .pftrace; "-": standard output
  uint64_t lanes = 4096;
  ReplayChoices choices;
  std::optional<uint64_t> session;
};

/// Replays a log and writes the life of its buffers as a Perfetto trace.
Result<ExitCode> RunTimeline(const TimelineArgs& args, Context& context);
Command TimelineCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_EXPORT_TIMELINE_H_
