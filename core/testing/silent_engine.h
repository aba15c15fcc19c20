#ifndef RINGSCOPE_CORE_TESTING_SILENT_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_SILENT_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/engine/catalogue.h"

namespace ringscope::testing {

/// v2@58 as a plug-in that does not report what happens in it.
class SilentEngine final : public Engine {
 public:
  explicit SilentEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  static EngineInfo Info() {
    return {.name = "silent",
            .create = [](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
              const EngineConfig unobserved{.size = config.size, .policy = config.policy};
              return std::make_unique<SilentEngine>(
                  FindEngine("v2@58").value()->create(unobserved).value());
            },
            .reports = EngineReports::Nothing()};
  }

  void Commit(const ChunkCommit& commit) override { engine_->Commit(commit); }
  bool ApplyPatches(const ChunkPatches& patches) override { return engine_->ApplyPatches(patches); }
  void BeginRead() override { engine_->BeginRead(); }
  const Packet* NextPacket() override { return engine_->NextPacket(); }
  Result<std::unique_ptr<Engine>> Clone() const override {
    return std::make_unique<SilentEngine>(engine_->Clone().value());
  }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_SILENT_ENGINE_H_
