#ifndef RINGSCOPE_COMMANDS_TAP_SESSION_PLAN_H_
#define RINGSCOPE_COMMANDS_TAP_SESSION_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/log/op.h"

namespace ringscope::record {

/// A buffer as a trace config asks for it.
struct PlannedBuffer {
  uint64_t size = 0;  // bytes
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::string engine;  // "v1" or "v2"; empty: not set
};

/// The buffers of a trace config, and which data source writes to which.
struct SessionPlan {
  struct Source {
    std::string name;
    uint32_t buffer = 0;  // index in `buffers`
  };

  std::vector<PlannedBuffer> buffers;
  std::vector<Source> sources;  // in the config's order
};

/// @param config an encoded TraceConfig. kCorrupt: not well-formed
Result<SessionPlan> PlanOfConfig(Bytes config);
/// @param text a TraceConfig in protobuf's text format; @param path for messages
Result<SessionPlan> PlanOfText(std::string_view text, const std::string& path);

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_SESSION_PLAN_H_
