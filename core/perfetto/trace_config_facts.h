#ifndef RINGSCOPE_CORE_PERFETTO_TRACE_CONFIG_FACTS_H_
#define RINGSCOPE_CORE_PERFETTO_TRACE_CONFIG_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// A data source of a trace config, and the index of the buffer that it writes to.
struct ConfiguredSource {
  std::string name;
  uint64_t target_buffer = 0;

  friend bool operator==(const ConfiguredSource&, const ConfiguredSource&) = default;
};

/// What a TraceConfig contains about reads and buffers.
struct TraceConfigFacts {
  bool write_into_file = false;
  std::optional<uint64_t> file_write_period_ms;
  std::optional<uint64_t> clear_period_ms;  // of incremental state
  std::vector<ConfiguredSource> sources;

  /// With what period the service writes into the file. Source: the service's rules for periods.
  uint64_t PeriodNs() const;
};

/// Reads the message as far as it is well-formed.
TraceConfigFacts ReadTraceConfigFacts(Bytes config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACE_CONFIG_FACTS_H_
