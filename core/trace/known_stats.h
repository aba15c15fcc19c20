#ifndef RINGSCOPE_CORE_TRACE_KNOWN_STATS_H_
#define RINGSCOPE_CORE_TRACE_KNOWN_STATS_H_

#include <span>
#include <string_view>

namespace ringscope {

/// Rows of trace processor's stats, of severity error and data_loss, that are counted alike.
struct KnownStats {
  bool is_counted;
  std::string_view title;  // what they are of: "Buffers and the service"
  std::string_view why;    // which are not counted: the reason
  std::span<const std::string_view> names;
};
/// All such rows of trace processor v58, each once; those that are counted first.
std::span<const KnownStats> AllKnownStats();

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_KNOWN_STATS_H_
