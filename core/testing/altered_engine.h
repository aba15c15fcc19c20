#ifndef RINGSCOPE_CORE_TESTING_ALTERED_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_ALTERED_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/engine/engine.h"

namespace ringscope::testing {

/// An engine that returns what another one does, changed.
class AlteredEngine : public Engine {
 public:
  using Change = std::function<void(Packet&)>;
  AlteredEngine(std::unique_ptr<Engine> engine, Change change)
      : engine_(std::move(engine)), change_(std::move(change)) {}
  void Commit(const ChunkCommit& commit) override { engine_->Commit(commit); }
  bool ApplyPatches(const ChunkPatches& patches) override { return engine_->ApplyPatches(patches); }
  void BeginRead() override { engine_->BeginRead(); }
  const Packet* NextPacket() override {
    const Packet* const packet = engine_->NextPacket();
    if (packet == nullptr) return nullptr;
    packet_ = *packet;
    change_(packet_);
    return &packet_;
  }
  Result<std::unique_ptr<Engine>> Clone() const override { return engine_->Clone(); }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 private:
  std::unique_ptr<Engine> engine_;
  const Change change_;
  Packet packet_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_ALTERED_ENGINE_H_
