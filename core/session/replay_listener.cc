#include "core/session/replay_listener.h"

#include <fmt/format.h>

namespace ringscope {
std::string ToString(ChunkName name) {
  return fmt::format("{}:{}#{}", Raw(name.sequence.producer), Raw(name.sequence.writer),
                     Raw(name.chunk));
}

}  // namespace ringscope
