#include "core/compare/recorded_calls.h"

namespace ringscope {

class RecordedCalls::RecordingEngine : public Engine {
 public:
  RecordingEngine(std::unique_ptr<Engine> engine, std::shared_ptr<State> state, PlainStream& stream)
      : engine_(std::move(engine)), state_(std::move(state)), stream_(stream) {}
  ~RecordingEngine() override { EndRead(); }

  void Commit(const ChunkCommit& commit) override {
    Add({.commit = commit});
    engine_->Commit(commit);
    Follow();
  }
  bool ApplyPatches(const ChunkPatches& patches) override {
    Add({.kind = StreamStep::Kind::kPatch, .patches = patches});
    const bool applied = engine_->ApplyPatches(patches);
    Follow();
    return applied;
  }
  void BeginRead() override {
    EndRead();
    reading_ = true;
    engine_->BeginRead();
    Follow();
  }
  const Packet* NextPacket() override {
    const Packet* const packet = engine_->NextPacket();
    if (packet != nullptr)
      ++packets_;
    else
      at_end_ = true;
    Follow();
    return packet;
  }
  Result<std::unique_ptr<Engine>> Clone() const override {
    EndRead();
    AddStep({.kind = StreamStep::Kind::kClone});
    return engine_->Clone();
  }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
  }
  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override {
    return engine_->VisitChunks(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 private:
  void Add(const StreamStep& step) {
    EndRead();
    AddStep(step);
  }
  void AddStep(const StreamStep& step) const {
    const uint64_t bytes = sizeof(PlainStep) + step.commit.payload.size();
    if (state_->is_cut || state_->left < bytes) {
      state_->is_cut = true;
      return;
    }
    state_->left -= bytes;
    stream_.Add(step);
  }
  /// The pass under way becomes a step: with a limit if it was left before its end.
  void EndRead() const {
    if (!reading_) return;
    reading_ = false;
    if (at_end_ || packets_ > 0)
      AddStep({.kind = StreamStep::Kind::kRead, .max_packets = at_end_ ? UINT64_MAX : packets_});
    packets_ = 0;
    at_end_ = false;
  }
  void Follow() {
    if (engine_->failure() != nullptr) SetFailure(*engine_->failure());
  }

  const std::unique_ptr<Engine> engine_;
  const std::shared_ptr<State> state_;
  PlainStream& stream_;
  mutable bool reading_ = false;
  mutable bool at_end_ = false;
  mutable uint64_t packets_ = 0;
};

EngineMaker RecordedCalls::Maker() const {
  return [state = state_](const EngineInfo& info, const EngineConfig& config,
                          BufferId buffer) -> Result<std::unique_ptr<Engine>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, info.create(config));
    Recorded& recorded = state->streams.emplace_back();
    recorded.buffer = buffer;
    recorded.stream.size = config.size;
    recorded.stream.policy = config.policy;
    return std::make_unique<RecordingEngine>(std::move(engine), state, recorded.stream);
  };
}

}  // namespace ringscope
