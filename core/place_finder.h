#ifndef RINGSCOPE_CORE_PLACE_FINDER_H_
#define RINGSCOPE_CORE_PLACE_FINDER_H_

#include <memory>

#include "core/catalogue.h"
#include "core/engine.h"

namespace ringscope {

/// Makes an engine whose packets come with their places. One that does not tell them (a plug-in) is
/// wrapped in another that finds them: it keeps copies of the chunks that were committed last, and
/// looks a returned packet's bytes up among those of its sequence, in order. A packet that is not
/// found has the place kUnknownPlace. Memory for that: twice the buffer's size.
Result<std::unique_ptr<Engine>> CreateWithPlaces(const EngineInfo& info,
                                                 const EngineConfig& config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PLACE_FINDER_H_
