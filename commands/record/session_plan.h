#ifndef RINGSCOPE_COMMANDS_RECORD_SESSION_PLAN_H_
#define RINGSCOPE_COMMANDS_RECORD_SESSION_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/log/op.h"

namespace ringscope {

/// A buffer as a trace config asks for it.
struct PlannedBuffer {
  uint64_t size = 0;  // bytes
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::string engine;  // "v1" or "v2"; empty: not set
  bool transfer_on_clone = false;
  bool clear_before_clone = false;
};

/// The buffers of a trace config, and which data source writes to which.
struct SessionPlan {
  struct Source {
    std::string name;
    uint32_t buffer = 0;                  // index in `buffers`
    std::optional<std::string> own = {};  // ipc::OwnFieldsOf its config, if that is known
    bool filtered = false;                // not every producer that has it takes part
  };

  std::vector<PlannedBuffer> buffers;
  std::vector<Source> sources;  // in the config's order
  std::string name = {};        // unique_session_name
  uint64_t flush_timeout_ms = 5000;
  bool starts_at_once = true;  // and not at StartTracing or a trigger
  bool into_file = false;      // the service writes it into a file
  uint64_t trigger_mode = 0;
  std::string output_path = {};
};

/// @param config an encoded TraceConfig. kCorrupt: not well-formed
Result<SessionPlan> PlanOfConfig(Bytes config);
/// The same of one without which the buffers are not known. kCorrupt: it has none
/// @param path of the config, for messages
Result<SessionPlan> PlanWithBuffers(Bytes config, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SESSION_PLAN_H_
