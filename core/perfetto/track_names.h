#ifndef RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_
#define RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_

#include <cstdint>
#include <optional>

#include "core/base/wire.h"

namespace ringscope {

/// The names in a TrackDescriptor message. They refer to its bytes.
struct TrackNames {
  std::optional<int32_t> pid;  // of `process`
  Bytes process;
  Bytes thread;
};

TrackNames ReadTrackNames(Bytes descriptor);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACK_NAMES_H_
