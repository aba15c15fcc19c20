#ifndef RINGSCOPE_COMMANDS_VIEW_JSON_H_
#define RINGSCOPE_COMMANDS_VIEW_JSON_H_

#include <string>
#include <string_view>

#include "core/base/log_moment.h"
#include "core/base/packet_count.h"
#include "formats/json/json.h"

namespace ringscope {

/// A document that names its schema: "ringscope.NAME/1".
inline Json JsonDocument(std::string_view name) {
  return {{"schema", "ringscope." + std::string(name) + "/1"}};
}
/// {"packets": 1, "bytes": 2}
inline Json CountJson(const PacketCount& count) {
  return {{"packets", count.packets}, {"bytes", count.bytes}};
}

/// {"record": 1, "time_ns": 2}
inline Json MomentJson(const LogMoment& moment) {
  return {{"record", moment.record}, {"time_ns", moment.time_ns}};
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_JSON_H_
