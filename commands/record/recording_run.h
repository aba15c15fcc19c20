#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/record/log_queue.h"
#include "commands/record/recorder.h"
#include "commands/shell/command.h"
#include "commands/shell/context.h"

namespace ringscope {

struct RecordArgs {
  RecorderOptions recorder;    // sockets that are empty: defaults
  PortSockets consumer;        // both empty: consumers are not recorded
  std::string looks = "auto";  // at shared memory: "auto" or "off"
  std::string config;
  LogFilesOptions log;
  uint64_t queue_bytes = uint64_t{128} << 20;
  std::optional<uint64_t> duration_ns;
  std::string compare;    // a trace that the replay is to equal; empty: none
  std::string format;     // of the summary: "text" or "json"
  bool stop_now = false;  // at the first signal, whatever is being served
  bool no_payload = false;
  std::vector<std::string> command;
};

/// Records what passes between producers and a tracing service, until it is asked to stop.
Result<ExitCode> RunRecord(const RecordArgs& args, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_
