#ifndef RINGSCOPE_CORE_CATALOGUE_H_
#define RINGSCOPE_CORE_CATALOGUE_H_

#include <memory>
#include <span>
#include <string_view>

#include "core/engine.h"
#include "core/result.h"

namespace ringscope {

/// A buffer version that this build can replay.
struct EngineInfo {
  const char* name;         // "v2@58"
  const char* corresponds;  // to which released buffer
  const char* difference;   // what sets it apart from its predecessor, in a sentence
  Result<std::unique_ptr<Engine>> (*create)(const EngineConfig&);
};

/// All engines, oldest first.
std::span<const EngineInfo> Engines();

/// Looks a name up: a catalogue name, or "v2" for the newest V2. The error names the nearest name.
Result<const EngineInfo*> FindEngine(std::string_view name);

/// The engine for a buffer of which nothing else is known.
inline constexpr const char* kDefaultEngine = "v2";

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_CATALOGUE_H_
