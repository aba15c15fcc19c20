#include "core/session/replay_listener.h"

#include <fmt/format.h>

#include <array>

namespace ringscope {
const char* InWords(DiscardReason reason) {
  constexpr std::array kWords = {
      "the buffer was full before",        "the buffer is full",
      "larger than the buffer allows",     "this chunk or a newer one was consumed before",
      "a re-commit that breaks the rules", "the engine does not report why"};
  return kWords.at(static_cast<size_t>(reason));
}

std::string WaitsFor(StallReason reason, const std::string& chunk) {
  constexpr std::array kWords = {"a patch of ", "the chunk after ", "the writer to complete "};
  return kWords.at(static_cast<size_t>(reason)) + chunk;
}

std::string ToString(ChunkName name) {
  return fmt::format("{}:{}#{}", Raw(name.sequence.producer), Raw(name.sequence.writer),
                     Raw(name.chunk));
}

}  // namespace ringscope
