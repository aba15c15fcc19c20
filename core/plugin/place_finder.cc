#include "core/plugin/place_finder.h"

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/engine/far_engine.h"
#include "core/plugin/place_index.h"
#include "core/protovm/program_runner.h"

namespace ringscope {
namespace {

/// Passes on what the engine itself reports, but for the packets it returns: their places are not
/// known yet.
class AllButReturned : public EngineObserver {
 public:
  explicit AllButReturned(EngineObserver* observer) : observer_(observer) {}

  void OnCommitted(const ObservedChunk& chunk) override { observer_->OnCommitted(chunk); }
  void OnRewritten(const ObservedChunk& chunk) override { observer_->OnRewritten(chunk); }
  void OnRelocated(const ObservedChunk& chunk) override { observer_->OnRelocated(chunk); }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override {
    observer_->OnDiscarded(commit, reason);
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    observer_->OnEvicting(chunk, by);
  }
  void OnErased(const ObservedChunk& chunk) override { observer_->OnErased(chunk); }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    observer_->OnPatched(chunk, patches);
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    observer_->OnPatchMissed(chunk, patches, miss);
  }
  void OnPacketAbandoned(SequenceKey sequence, const PacketPlace& place, uint32_t cause) override {
    observer_->OnPacketAbandoned(sequence, place, cause);
  }
  void OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) override {
    observer_->OnLossBit(sequence, chunk, bit);
  }
  void OnWrap() override { observer_->OnWrap(); }
  void OnPadding(uint64_t offset, uint32_t size) override { observer_->OnPadding(offset, size); }
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override {
    observer_->OnStalled(sequence, chunk, reason);
  }

 private:
  EngineObserver* const observer_;
};

class PlaceFinder final : public Engine, public FarEngine, public ProgramRunner {
 public:
  /// @param limit bytes of copies
  PlaceFinder(uint64_t limit, FillPolicy policy, EngineObserver* observer)
      : limit_(limit),
        keeps_first_(policy == FillPolicy::kDiscard),
        observer_(observer),
        inner_observer_(observer) {}

  /// What the engine inside is made with.
  EngineObserver* inner_observer() { return observer_ != nullptr ? &inner_observer_ : nullptr; }
  void SetEngine(std::unique_ptr<Engine> engine) { engine_ = std::move(engine); }

  void Commit(const ChunkCommit& commit) override {
    engine_->Commit(commit);
    TakeFailure();
    const uint64_t size = commit.payload.size() + kOverhead;
    if (keeps_first_ && kept_bytes_ + size > limit_) return;
    PlaceIndex& sequence = sequences_[commit.sequence.Packed()];
    const uint64_t id = sequence.NumberOf(commit.chunk);
    sequence.Keep(id, commit, ++serial_);
    kept_.push_back({commit.sequence.Packed(), id, serial_, size});
    kept_bytes_ += size;
    while (kept_bytes_ > limit_ && kept_.size() > 1) {
      const Kept& oldest = kept_.front();
      sequences_[oldest.sequence].Forget(oldest.chunk, oldest.serial);
      kept_bytes_ -= oldest.size;
      kept_.pop_front();
    }
  }
  bool ApplyPatches(const ChunkPatches& patches) override {
    const bool applied = engine_->ApplyPatches(patches);
    const auto sequence = sequences_.find(patches.sequence.Packed());
    if (applied && sequence != sequences_.end())
      sequence->second.ApplyPatches(sequence->second.NumberOf(patches.chunk), patches);
    TakeFailure();
    return applied;
  }
  void ExpectWholePass() override { ringscope::ExpectWholePass(*engine_); }
  bool SetUpProgram(const ProgramSetUp& setup) override {
    auto* const runner = dynamic_cast<ProgramRunner*>(engine_.get());
    const bool runs = runner != nullptr && runner->SetUpProgram(setup);
    TakeFailure();
    return runs;
  }
  void VisitPrograms(const ProgramVisitor& visit) const override {
    if (const auto* const runner = dynamic_cast<const ProgramRunner*>(engine_.get()))
      runner->VisitPrograms(visit);
    TakeFailure();
  }
  void BeginRead() override {
    engine_->BeginRead();
    TakeFailure();
  }
  const Packet* NextPacket() override {
    const Packet* packet = engine_->NextPacket();
    TakeFailure();
    if (packet == nullptr) return nullptr;
    packet_ = *packet;
    const auto sequence = sequences_.find(packet_.sequence.Packed());
    packet_.place = sequence == sequences_.end() ? kUnknownPlace : sequence->second.Find(packet_);
    if (observer_ != nullptr) observer_->OnPacketReturned(packet_);
    return &packet_;
  }
  Result<std::unique_ptr<Engine>> Clone() const override {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, engine_->Clone());
    auto clone = std::make_unique<PlaceFinder>(
        limit_, keeps_first_ ? FillPolicy::kDiscard : FillPolicy::kRingBuffer, nullptr);
    clone->SetEngine(std::move(engine));
    clone->sequences_ = sequences_;
    clone->kept_ = kept_;
    clone->kept_bytes_ = kept_bytes_;
    clone->serial_ = serial_;
    return clone;
  }
  const BufferStats& stats() const override {
    const BufferStats& stats = engine_->stats();
    TakeFailure();
    return stats;
  }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    engine_->VisitWriterStats(visit);
    TakeFailure();
  }
  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override {
    return engine_->VisitChunks(visit);
  }
  std::string CheckInvariants() const override { return engine_->CheckInvariants(); }

 private:
  struct Kept {
    uint32_t sequence;
    uint64_t chunk;
    uint64_t serial;
    uint64_t size;
  };
  static constexpr uint64_t kOverhead = 64;

  void TakeFailure() const {
    if (engine_->failure() != nullptr) SetFailure(*engine_->failure());
  }

  const uint64_t limit_;
  const bool keeps_first_;  // the buffer discards what is written once it is full
  EngineObserver* const observer_;
  AllButReturned inner_observer_;
  std::unique_ptr<Engine> engine_;
  std::unordered_map<uint32_t, PlaceIndex> sequences_;
  std::deque<Kept> kept_;  // in order of commit
  uint64_t kept_bytes_ = 0;
  uint64_t serial_ = 0;
  Packet packet_;
};

}  // namespace

EngineFactory WithPlaces(EngineFactory create) {
  return [create =
              std::move(create)](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
    auto finder = std::make_unique<PlaceFinder>(2 * config.size, config.policy, config.observer);
    EngineConfig inner = config;
    inner.observer = finder->inner_observer();
    RS_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, create(inner));
    finder->SetEngine(std::move(engine));
    return finder;
  };
}

}  // namespace ringscope
