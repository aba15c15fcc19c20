#include "commands/view/json.h"

#include <fmt/format.h>

namespace ringscope {

Json JsonDocument(std::string_view name) {
  return {{"schema", fmt::format("ringscope.{}/1", name)}};
}

Json MomentJson(const LogMoment& moment) {
  return {{"record", moment.record}, {"time_ns", moment.time_ns}};
}

}  // namespace ringscope
