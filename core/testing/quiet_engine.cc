#include "core/testing/quiet_engine.h"

#include <map>
#include <memory>
#include <utility>

#include "core/testing/forwarding_engine.h"

namespace ringscope::testing {
namespace {

class QuietEngine final : public ForwardingEngine, private EngineObserver {
 public:
  explicit QuietEngine(const EngineConfig& config)
      : ForwardingEngine(FindEngine("v2@58")
                             .value()
                             ->create({.size = config.size,
                                       .policy = config.policy,
                                       .observer = config.observer == nullptr ? nullptr : this})
                             .value()),
        to_(config.observer) {}

  void Commit(const ChunkCommit& commit) override {
    NoteUnread();
    engine_->Commit(commit);
  }
  const Packet* NextPacket() override {
    NoteUnread();
    return engine_->NextPacket();
  }

 private:
  void OnCommitted(const ObservedChunk& chunk) override { to_->OnCommitted(chunk); }
  void OnRewritten(const ObservedChunk& chunk) override { to_->OnRewritten(chunk); }
  void OnRelocated(const ObservedChunk& chunk) override { to_->OnRelocated(chunk); }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason) override {
    to_->OnDiscarded(commit, DiscardReason::kUnknown);
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    to_->OnEvicting(chunk, by);
  }
  void OnErased(const ObservedChunk& chunk) override {
    ObservedChunk before = chunk;
    before.payload_avail = unread_[{chunk.sequence.Packed(), Raw(chunk.chunk)}];
    to_->OnErased(before);
  }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    to_->OnPatched(chunk, patches);
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    to_->OnPatchMissed(chunk, patches, miss);
  }
  void OnPacketReturned(const Packet& packet) override { to_->OnPacketReturned(packet); }
  void OnWrap() override { to_->OnWrap(); }

  /// Keeps how many bytes of each chunk are unread as a call begins.
  void NoteUnread() {
    if (to_ == nullptr) return;
    unread_.clear();
    const auto note = [&](const ObservedChunk& chunk) {
      unread_[{chunk.sequence.Packed(), Raw(chunk.chunk)}] = chunk.payload_avail;
    };
    static_cast<void>(engine_->VisitChunks(note));
  }

  EngineObserver* to_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> unread_;  // by sequence and chunk
};

}  // namespace

EngineInfo QuietEngineInfo() {
  return {.name = "quiet",
          .create = [](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
            return std::make_unique<QuietEngine>(config);
          },
          .reports = {.chunks = true, .abandoned = false, .stalls = false}};
}

}  // namespace ringscope::testing
