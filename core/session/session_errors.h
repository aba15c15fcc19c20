#ifndef RINGSCOPE_CORE_SESSION_SESSION_ERRORS_H_
#define RINGSCOPE_CORE_SESSION_SESSION_ERRORS_H_

#include <fmt/format.h>

#include <utility>

#include "core/base/result.h"
#include "core/engine/engine.h"

namespace ringscope {

/// The error, with the buffer that it is about.
inline tl::unexpected<Error> InBuffer(BufferId id, Error error) {
  error.message = fmt::format("buffer {}: {}", Raw(id), error.message);
  return tl::unexpected<Error>(std::move(error));
}

/// The error of a buffer whose engine cannot continue.
inline Status CheckEngine(BufferId id, const Engine& engine) {
  if (engine.failure() == nullptr) [[likely]]
    return {};
  return InBuffer(id, *engine.failure());
}

/// Returns the error of an engine that is done with. Asks it for its counters first, which a
/// plug-in may fail to give.
inline Status CheckEngineAtEnd(BufferId id, const Engine& engine) {
  static_cast<void>(engine.stats());
  return CheckEngine(id, engine);
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_ERRORS_H_
