#ifndef RINGSCOPE_CORE_TESTING_ALTERED_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_ALTERED_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/testing/forwarding_engine.h"

namespace ringscope::testing {

/// An engine that returns what another one does, changed.
class AlteredEngine : public ForwardingEngine {
 public:
  using Change = std::function<void(Packet&)>;
  AlteredEngine(std::unique_ptr<Engine> engine, Change change)
      : ForwardingEngine(std::move(engine)), change_(std::move(change)) {}
  const Packet* NextPacket() override {
    const Packet* const packet = engine_->NextPacket();
    if (packet == nullptr) return nullptr;
    packet_ = *packet;
    change_(packet_);
    return &packet_;
  }

 private:
  const Change change_;
  Packet packet_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_ALTERED_ENGINE_H_
