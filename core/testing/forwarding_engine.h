#ifndef RINGSCOPE_CORE_TESTING_FORWARDING_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_FORWARDING_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/engine/catalogue.h"

namespace ringscope::testing {

/// An engine that passes all calls on to another one. Clones are clones of that one.
class ForwardingEngine : public Engine {
 public:
  explicit ForwardingEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  void Commit(const ChunkCommit& commit) override { engine_->Commit(commit); }
  bool ApplyPatches(const ChunkPatches& patches) override { return engine_->ApplyPatches(patches); }
  void BeginRead() override { engine_->BeginRead(); }
  const Packet* NextPacket() override { return engine_->NextPacket(); }
  Result<std::unique_ptr<Engine>> Clone() const override { return engine_->Clone(); }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 protected:
  std::unique_ptr<Engine> engine_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_FORWARDING_ENGINE_H_
