#ifndef RINGSCOPE_CORE_TESTING_QUIET_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_QUIET_ENGINE_H_

#include "core/engine/catalogue.h"

namespace ringscope::testing {

/// v2@58 as a plug-in that watches a buffer from outside: it reports chunks, but neither why one is
/// discarded nor which packets are abandoned, nor stalls.
EngineInfo QuietEngineInfo();

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_QUIET_ENGINE_H_
