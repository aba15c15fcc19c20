#ifndef RINGSCOPE_CORE_BASE_CONFIG_CHANGE_H_
#define RINGSCOPE_CORE_BASE_CONFIG_CHANGE_H_

#include <string>

namespace ringscope {

/// A line of the session's trace config that is to be another.
struct ConfigChange {
  std::string path;   // "buffers[0].size_kb"
  std::string value;  // as text format has it: "65536", "RING_BUFFER"
  std::string reason;
  bool is_estimate = false;  // not proved by a replay
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_CONFIG_CHANGE_H_
