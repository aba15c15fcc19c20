#ifndef RINGSCOPE_COMMANDS_JSON_PIECES_H_
#define RINGSCOPE_COMMANDS_JSON_PIECES_H_

#include <nlohmann/json.hpp>
#include <optional>

#include "commands/json_output.h"
#include "core/ledger.h"
#include "core/packet_count.h"

namespace ringscope {

// What several documents say in the same way. Apart from json_output.h as it needs the library's
// large header.

/// What is not known is there, as null.
template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

inline Json CountJson(const FateCount& count) {
  return {{"packets", count.packets}, {"bytes", count.bytes}};
}

inline Json MomentJson(const LogMoment& moment) {
  return {{"record", moment.record}, {"time_ns", OrNull(moment.time_ns)}};
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_JSON_PIECES_H_
