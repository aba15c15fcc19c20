#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "core/log/op.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

struct RecordArgs {
  std::string output;
  std::string listen;  // empty: a default
  std::string connect;
  std::string consumer_listen;  // empty: consumers are not recorded, unless consumer_connect is set
  std::string consumer_connect;
  uint32_t mode = 0600;
  std::string looks = "auto";  // at shared memory: "auto" or "off"
  std::string config;
  std::string descriptor;  // of fields in it
  std::vector<BufferSetUp> buffers;
  std::optional<uint64_t> duration_ns;
  std::optional<uint64_t> max_size;
  std::optional<uint64_t> keep;
  bool force = false;
  uint64_t queue_bytes = uint64_t{128} << 20;
  std::string compare;        // a trace that the replay is to equal; empty: none
  std::string format;         // of the summary: "text" or "json"
  bool stop_now = false;      // at the first signal, whatever is being served
  int level = kDefaultLevel;  // zstd's
  bool no_payload = false;
  std::vector<std::string> command;
};

/// Records what passes between producers and a tracing service, until it is asked to stop.
Result<ExitCode> RunRecord(const RecordArgs& args, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_
