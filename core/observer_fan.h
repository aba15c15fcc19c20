#ifndef RINGSCOPE_CORE_OBSERVER_FAN_H_
#define RINGSCOPE_CORE_OBSERVER_FAN_H_

#include <utility>
#include <vector>

#include "core/engine.h"

namespace ringscope {

/// Hands everything on to several observers, in their order. They must outlive it.
class ObserverFan : public EngineObserver {
 public:
  explicit ObserverFan(std::vector<EngineObserver*> observers) : observers_(std::move(observers)) {}

  void OnCommitted(const ObservedChunk& chunk) override {
    for (EngineObserver* observer : observers_) observer->OnCommitted(chunk);
  }
  void OnRewritten(const ObservedChunk& chunk) override {
    for (EngineObserver* observer : observers_) observer->OnRewritten(chunk);
  }
  void OnRelocated(const ObservedChunk& chunk) override {
    for (EngineObserver* observer : observers_) observer->OnRelocated(chunk);
  }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override {
    for (EngineObserver* observer : observers_) observer->OnDiscarded(commit, reason);
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    for (EngineObserver* observer : observers_) observer->OnEvicting(chunk, by);
  }
  void OnErased(const ObservedChunk& chunk) override {
    for (EngineObserver* observer : observers_) observer->OnErased(chunk);
  }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    for (EngineObserver* observer : observers_) observer->OnPatched(chunk, patches);
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    for (EngineObserver* observer : observers_) observer->OnPatchMissed(chunk, patches, miss);
  }
  void OnPacketReturned(const Packet& packet) override {
    for (EngineObserver* observer : observers_) observer->OnPacketReturned(packet);
  }
  void OnPacketGivenUp(SequenceKey sequence, const PacketPlace& place, uint32_t cause) override {
    for (EngineObserver* observer : observers_) observer->OnPacketGivenUp(sequence, place, cause);
  }
  void OnLossBit(SequenceKey sequence, ChunkId chunk, uint32_t bit) override {
    for (EngineObserver* observer : observers_) observer->OnLossBit(sequence, chunk, bit);
  }
  void OnWrap() override {
    for (EngineObserver* observer : observers_) observer->OnWrap();
  }
  void OnPadding(uint64_t offset, uint32_t size) override {
    for (EngineObserver* observer : observers_) observer->OnPadding(offset, size);
  }
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override {
    for (EngineObserver* observer : observers_) observer->OnStalled(sequence, chunk, reason);
  }

 private:
  std::vector<EngineObserver*> observers_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_OBSERVER_FAN_H_
