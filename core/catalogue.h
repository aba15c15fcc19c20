#ifndef RINGSCOPE_CORE_CATALOGUE_H_
#define RINGSCOPE_CORE_CATALOGUE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/engine.h"
#include "core/result.h"
#include "core/shape_tally.h"

namespace ringscope {

/// A buffer version that can be replayed: one of the catalogue, or a plug-in.
struct EngineInfo {
  std::string name;         // "v2@58", or the plug-in's path as it was asked for
  std::string corresponds;  // to which released buffer
  std::string difference;   // what sets it apart from its predecessor, in a sentence
  std::function<Result<std::unique_ptr<Engine>>(const EngineConfig&)> create;
  /// Whether an observer is told all that happens. If not, it only gets OnPacketReturned: why
  /// packets are missing is not known.
  bool reports_events = true;
  /// Whether Packet::place is known. If not, it is all zeros.
  bool reports_places = true;
  /// Makes the same buffer without payloads, see CreateV2ShapeEngine; empty: there is none.
  std::function<Result<std::unique_ptr<Engine>>(const EngineConfig&, ShapeTally&)> create_shapes;
};

/// All engines, oldest first.
std::span<const EngineInfo> Engines();

/// Looks a name up: a catalogue name, or "v2" for the newest V2. The error names the nearest name.
Result<const EngineInfo*> FindEngine(std::string_view name);

/// Resolves what a user may write for an engine. What it returns lives as long as the lookup or a
/// copy of it; engines that were created live on by themselves.
using EngineLookup = std::function<Result<const EngineInfo*>(std::string_view name)>;

/// The engine for a buffer of which nothing else is known.
inline constexpr const char* kDefaultEngine = "v2";

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_CATALOGUE_H_
