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
  using Process = proto::ProcessDescriptor;
  const auto part = [](Bytes whole, uint32_t number) {
    return wire::LastBytes(whole, number).value_or(Bytes());
  };
  TrackNames names;
  const Bytes process = part(descriptor, proto::TrackDescriptor::kProcess);
  if (const auto pid = wire::LastVarint(process, Process::kPid))
    names.pid = static_cast<int32_t>(*pid);
  names.process = part(process, Process::kProcessName);
  names.thread = part(part(descriptor, kThread), kThreadName);
  return names;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_
