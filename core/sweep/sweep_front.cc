#include "core/sweep/sweep_front.h"

#include "core/engine/catalogue.h"

namespace ringscope {

/// Takes the place of a buffer: what the service lets through goes into the batch.
class SweepFront::Gate final : public Engine {
 public:
  Gate(BatchBuilder& batches, BufferId id) : batches_(batches), id_(id) {}

  void Commit(const ChunkCommit& commit) override { batches_.AddChunk(id_, commit); }
  bool ApplyPatches(const ChunkPatches& patches) override {
    batches_.AddPatches(id_, patches);
    return true;
  }
  void BeginRead() override {}
  const Packet* NextPacket() override { return nullptr; }
  Result<std::unique_ptr<Engine>> Clone() const override {
    return Fail(ErrorCode::kUnsupported, "there is nothing to clone");
  }
  const BufferStats& stats() const override { return stats_; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>&) const override {}
  std::string CheckInvariants() const override { return ""; }

 private:
  BatchBuilder& batches_;
  const BufferId id_;
  BufferStats stats_;
};

SweepFront::SweepFront(std::function<void(const std::string&)> warn, std::optional<CloneView> clone)
    : warn_(std::move(warn)),
      session_(
          {
              // Which engine the log or the user asks for is decided by each configuration.
              .all = {.engine = kDefaultEngine},
              .make_engine = [this](const EngineInfo&, const EngineConfig&,
                                    BufferId id) -> Result<std::unique_ptr<Engine>> {
                return std::make_unique<Gate>(batches_, id);
              },
              .clone = std::move(clone),
              .programs = {.run = false, .memory_limit_kb = {}},
          },
          *this) {}

Status SweepFront::Apply(const Op& op) {
  batches_.AddRecord(op);
  // Reads are each configuration's own.
  if (std::holds_alternative<ReadPass>(op.body) || std::holds_alternative<CloneRead>(op.body))
    return {};
  return session_.Apply(op);
}

}  // namespace ringscope
