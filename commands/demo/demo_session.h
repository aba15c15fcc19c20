#ifndef RINGSCOPE_COMMANDS_DEMO_DEMO_SESSION_H_
#define RINGSCOPE_COMMANDS_DEMO_DEMO_SESSION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "commands/demo/replay_check.h"

namespace ringscope::demo {

struct DemoOptions {
  std::string log_path;
  bool replace = false;  // an older recording of that name
  int producers = 3;     // 1 to 16
  uint64_t duration_ns = 2'000'000'000;
  uint64_t buffer_bytes = 64 * 1024;  // of the ring buffer that wraps
  int seed = 1;
};

/// What a demo session did.
struct DemoOutcome {
  std::string trace;       // that the consumer received
  TraceContent content;    // of it
  std::string difference;  // of the log's replay from it; empty: none
  uint64_t producers = 0;
  uint64_t sequences = 0;
  uint64_t packets_written = 0;
  uint64_t packets_dropped = 0;       // by writers that found the shared memory full
  std::vector<std::string> warnings;  // of the recorder
  uint64_t chunks = 0;                // in the log
};

/// Starts a service, a recorder, producers and a consumer, and plays a session between them that
/// loses packets in three ways: a ring buffer wraps, a producer's shared memory is full, and a
/// packet waits for a patch that never comes. What happens depends on the options alone, not on
/// the time that it takes.
Result<DemoOutcome> RunDemoSession(const DemoOptions& options);

}  // namespace ringscope::demo

#endif  // RINGSCOPE_COMMANDS_DEMO_DEMO_SESSION_H_
