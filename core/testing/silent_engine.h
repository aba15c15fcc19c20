#ifndef RINGSCOPE_CORE_TESTING_SILENT_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_SILENT_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/testing/forwarding_engine.h"

namespace ringscope::testing {

/// v2@58 as a plug-in that does not report what happens in it.
class SilentEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  static EngineInfo Info() {
    return {.name = "silent",
            .create = [](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
              const EngineConfig unobserved{.size = config.size, .policy = config.policy};
              return std::make_unique<SilentEngine>(
                  FindEngine("v2@58").value()->create(unobserved).value());
            },
            .reports = EngineReports::Nothing()};
  }

  Result<std::unique_ptr<Engine>> Clone() const override {
    return std::make_unique<SilentEngine>(engine_->Clone().value());
  }
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_SILENT_ENGINE_H_
