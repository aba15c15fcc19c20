#ifndef RINGSCOPE_CORE_ENGINE_FAR_ENGINE_H_
#define RINGSCOPE_CORE_ENGINE_FAR_ENGINE_H_

#include "core/engine/engine.h"

namespace ringscope {

/// An engine that is faster if it knows what it will be asked: one that is in another process, or
/// that then returns many packets as one.
class FarEngine {
 public:
  virtual ~FarEngine() = default;
  /// The next pass is read to its end: nothing else is asked before NextPacket returns nullptr.
  virtual void ExpectWholePass() = 0;
};

/// Has an engine expect that, if it is of use to it.
inline void ExpectWholePass(Engine& engine) {
  if (auto* const far = dynamic_cast<FarEngine*>(&engine)) far->ExpectWholePass();
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_FAR_ENGINE_H_
