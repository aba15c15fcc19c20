#ifndef RINGSCOPE_CORE_BASE_CHANGED_CONFIG_H_
#define RINGSCOPE_CORE_BASE_CHANGED_CONFIG_H_

#include <string>
#include <string_view>
#include <vector>

namespace ringscope {

/// A line of the session's trace config that is to be another.
struct ConfigChange {
  std::string path;   // "buffers[0].size_kb"
  std::string value;  // as text format has it: "65536", "RING_BUFFER"
  std::string reason;
  bool is_estimate = false;  // not proved by a replay
};

/// A trace config with changes, ready to use: each line that was changed or added has its reason in
/// a comment before it. Of two changes of one line, the first counts.
/// @param config in protobuf's text format with a field per line, as the protobuf library prints it
std::string ChangedConfig(std::string_view config, const std::vector<ConfigChange>& changes);

/// Two texts line by line, as `diff -u` prints it and `patch` takes it; empty: they are equal.
/// @param name of the file that the first text is from
std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_CHANGED_CONFIG_H_
