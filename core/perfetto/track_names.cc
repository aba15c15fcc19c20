#include "core/perfetto/track_names.h"

#include "core/perfetto/fields.h"

namespace ringscope {

TrackNames ReadTrackNames(Bytes descriptor) {
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
