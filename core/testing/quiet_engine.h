#ifndef RINGSCOPE_CORE_TESTING_QUIET_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_QUIET_ENGINE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/testing/forwarding_engine.h"

namespace ringscope::testing {

/// v2@58 as a plug-in that watches a buffer from outside: it reports chunks, but neither why one is
/// discarded nor which packets are abandoned, nor stalls.
class QuietEngine final : public ForwardingEngine, private EngineObserver {
 public:
  static EngineInfo Info() {
    return {.name = "quiet",
            .create = [](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
              auto quiet = std::make_unique<QuietEngine>(config.observer);
              quiet->engine_ =
                  FindEngine("v2@58")
                      .value()
                      ->create({.size = config.size,
                                .policy = config.policy,
                                .observer = config.observer == nullptr ? nullptr : quiet.get()})
                      .value();
              return quiet;
            },
            .reports = {.chunks = true, .abandoned = false, .stalls = false}};
  }
  explicit QuietEngine(EngineObserver* to) : ForwardingEngine(nullptr), to_(to) {}

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

  /// What of each chunk is not consumed as a call begins.
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

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_QUIET_ENGINE_H_
