#ifndef RINGSCOPE_CORE_TESTING_CHECKED_ENGINE_H_
#define RINGSCOPE_CORE_TESTING_CHECKED_ENGINE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/random_stream.h"
#include "core/engine/catalogue.h"

namespace ringscope::testing {

/// A copy of a returned packet.
struct Seen {
  SequenceKey sequence;
  Identity identity;
  uint32_t dropped = 0;
  PacketPlace place;
  std::string content;

  friend bool operator==(const Seen&, const Seen&) = default;
};

/// A chunk (or padding) in the buffer, kept; see ObservedChunk.
struct HeldChunk {
  SequenceKey sequence;
  ChunkId chunk{};
  uint64_t offset = 0;
  uint32_t outer_size = 0, payload_size = 0, payload_avail = 0;
  uint8_t flags = 0;
  bool incomplete = false;

  friend bool operator==(const HeldChunk&, const HeldChunk&) = default;
};

std::string Describe(const Seen& seen);

/// The first difference, as text; empty: none.
std::string Difference(const std::vector<Seen>& a, const std::vector<Seen>& b);

using StatSet = std::vector<uint64_t BufferStats::*>;
/// The first counter that differs, those in `apart` left out; empty: none.
std::string Difference(BufferStats a, BufferStats b, const StatSet& apart = {});

/// Counts the calls, as the engine should, and keeps which chunks it must have.
class StepObserver : public EngineObserver {
 public:
  void OnCommitted(const ObservedChunk& chunk) override;
  void OnRewritten(const ObservedChunk& chunk) override;
  void OnErased(const ObservedChunk& chunk) override { held.erase(chunk.offset); }
  void OnRelocated(const ObservedChunk&) override { ++stats.chunks_relocated; }
  void OnDiscarded(const ChunkCommit&, DiscardReason reason) override;
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override;
  void OnPatchMissed(const ObservedChunk*, const ChunkPatches&, PatchMiss) override {
    ++stats.patches_failed;
  }
  void OnPacketReturned(const Packet&) override { ++returned; }
  void OnWrap() override { ++stats.write_wrap_count; }
  void OnPadding(uint64_t, uint32_t size) override { stats.padding_bytes_written += size; }

  BufferStats stats;  // as far as the calls report it
  uint64_t returned = 0;
  std::map<uint64_t, HeldChunk> held;  // by offset, as they were reported last
};

/// One engine, unobserved and observed, which must not make a difference.
class CheckedEngine {
 public:
  CheckedEngine(const EngineInfo& engine, const StreamTraits& traits);

  /// @return what does not hold for this engine alone; empty: all does
  std::string Apply(const RandomStream::Step& step);

  const std::string name;
  // How the last step ended.
  std::vector<Seen> packets;
  std::optional<bool> patched;
  BufferStats stats;

 private:
  std::string ReadBoth(uint64_t max_packets);
  std::string ReadClone();
  std::string Check();
  std::string CheckChunks() const;

  const bool discards_;
  StepObserver observer_;
  std::unique_ptr<Engine> plain_;
  std::unique_ptr<Engine> observed_;
  uint64_t read_ = 0;  // packets
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_CHECKED_ENGINE_H_
