#ifndef RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_
#define RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_

#include <cstdint>
#include <optional>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {

/// The names in a TrackDescriptor message. They refer to its bytes.
struct TrackNames {
  std::optional<int32_t> pid;  // of `process`
  Bytes process;
  Bytes thread;
};

inline TrackNames ReadTrackNames(Bytes descriptor) {
  constexpr uint32_t kThread = 4, kThreadName = 5;
  TrackNames names;
  wire::FieldReader fields(descriptor);
  while (const auto field = fields.Next()) {
    if (field->type != wire::Type::kBytes) continue;
    wire::FieldReader values(field->bytes);
    if (field->number == proto::TrackDescriptor::kProcess) {
      while (const auto value = values.Next()) {
        if (value->number == proto::ProcessDescriptor::kPid)
          names.pid = static_cast<int32_t>(value->value);
        if (value->number == proto::ProcessDescriptor::kProcessName) names.process = value->bytes;
      }
    } else if (field->number == kThread) {
      while (const auto value = values.Next())
        if (value->number == kThreadName) names.thread = value->bytes;
    }
  }
  return names;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_
