#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_SESSION_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_SESSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/log/op.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// The buffers of a trace's session, and which sequence wrote into which.
struct TraceSession {
  /// Size of a buffer whose size the trace does not state: what most configs ask for.
  static constexpr uint64_t kDefaultBufferSize = uint64_t{64} << 20;

  explicit TraceSession(const TraceFacts& facts);

  /// Index of the buffer that a sequence wrote into; nullopt: not in the trace. The trace's
  /// statistics and listing count more than a config in which all data sources have one target.
  std::optional<BufferId> BufferOf(uint32_t sequence_id) const;

  std::string config;                // empty: not in the trace
  std::vector<BufferSetUp> buffers;  // at least one; an engine that is not known is empty
  uint64_t guessed_sizes = 0;        // of buffers
  std::string lost_in_buffers;       // in words, by the last statistics; empty: nothing is counted

 private:
  std::unordered_map<uint32_t, BufferId> listed_;  // by sequence id
  std::optional<BufferId> only_target_;            // of all data sources of the config
};

/// The losses that the last statistics count, as gaps of a log, without times.
std::vector<RecorderGap> CountedLosses(const TraceFacts& facts);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_SESSION_H_
