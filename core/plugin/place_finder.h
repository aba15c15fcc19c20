#ifndef RINGSCOPE_CORE_PLUGIN_PLACE_FINDER_H_
#define RINGSCOPE_CORE_PLUGIN_PLACE_FINDER_H_

#include "core/engine/catalogue.h"

namespace ringscope {

/// Wraps engines that do not report the places of their packets in another that finds them: it
/// keeps copies of the chunks that were committed last, and looks a returned packet's bytes up
/// among those of its sequence, in order. A packet that is not found has the place kUnknownPlace.
/// Memory for that: twice the buffer's size, and an index of the fragments.
EngineFactory WithPlaces(EngineFactory create);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PLUGIN_PLACE_FINDER_H_
