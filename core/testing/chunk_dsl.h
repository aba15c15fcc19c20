#ifndef RINGSCOPE_CORE_TESTING_CHUNK_DSL_H_
#define RINGSCOPE_CORE_TESTING_CHUNK_DSL_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/engine/catalogue.h"
#include "core/engine/engine.h"
#include "core/perfetto/data_loss.h"

namespace ringscope::testing {

/// A chunk in the making: `Chunk(1, 1, 0).Whole(20, 'a').Begins(12, 'b')`.
class Chunk {
 public:
  Chunk(uint16_t producer, uint16_t writer, uint32_t id)
      : sequence_{ProducerId{producer}, WriterId{writer}}, id_{id} {}

  Chunk& Whole(size_t size, char fill) { return Fragment(size, fill); }
  Chunk& Begins(size_t size, char fill) {
    flags_ |= kLastContinues;
    return Fragment(size, fill);
  }
  Chunk& Ends(size_t size, char fill) {
    flags_ |= kFirstContinues;
    return Fragment(size, fill);
  }
  Chunk& Continues(size_t size, char fill) {
    flags_ |= kFirstContinues | kLastContinues;
    return Fragment(size, fill);
  }
  /// The marker that an aborted packet leaves.
  Chunk& Aborted() {
    ++fragments_;
    return Raw("\xFF\xFF\xFF\x7F");
  }
  /// The same, of a packet that began before.
  Chunk& AbortedEnd() {
    flags_ |= kFirstContinues;
    return Aborted();
  }
  /// Bytes as they are; they count as no fragment.
  Chunk& Raw(std::string_view bytes) {
    payload_ += bytes;
    return *this;
  }
  Chunk& NeedsPatching() {
    flags_ |= kNeedsPatching;
    return *this;
  }
  /// Scraped while the writer still had it.
  Chunk& Incomplete() {
    complete_ = false;
    return *this;
  }
  Chunk& Counting(uint16_t fragments) {
    fragments_ = fragments;
    return *this;
  }
  Chunk& From(Identity identity) {
    identity_ = identity;
    return *this;
  }

  ChunkCommit commit() const {
    return {.sequence = sequence_,
            .identity = identity_,
            .chunk = id_,
            .fragments = fragments_,
            .flags = flags_,
            .complete = complete_,
            .payload = wire::AsBytes(payload_)};
  }

 private:
  Chunk& Fragment(size_t size, char fill) {
    ++fragments_;
    wire::AppendVarint(payload_, size);
    payload_.append(size, fill);
    return *this;
  }

  SequenceKey sequence_;
  ChunkId id_;
  Identity identity_{1000, 42};
  uint16_t fragments_ = 0;
  uint8_t flags_ = 0;
  bool complete_ = true;
  std::string payload_;
};

/// "a20" for 20 times 'a'; runs one after the other: "a12b8". "" for an empty packet.
inline std::string Describe(const Packet& packet) {
  std::string bytes, text;
  for (const Bytes slice : packet.slices) bytes += wire::AsText(slice);
  EXPECT_EQ(bytes.size(), packet.size);
  for (size_t i = 0, run = 0; i < bytes.size(); i += run) {
    run = std::min(bytes.find_first_not_of(bytes[i], i), bytes.size()) - i;
    text += bytes[i] + std::to_string(run);
  }
  return text;
}

/// An engine under test: checks its invariants after each step.
class Buffer {
 public:
  Buffer(std::string_view engine, uint64_t size, FillPolicy policy = FillPolicy::kRingBuffer,
         EngineObserver* observer = nullptr) {
    auto created =
        FindEngine(engine).value()->create({.size = size, .policy = policy, .observer = observer});
    engine_ = std::move(created).value();
  }

  Buffer& Commit(const Chunk& chunk) {
    engine_->Commit(chunk.commit());
    return Checked();
  }
  /// A patch of four times `fill`.
  Buffer& Patch(uint16_t producer, uint16_t writer, uint32_t chunk, uint64_t offset,
                std::string_view bytes, bool more = false) {
    const ringscope::Patch patch{.offset = offset,
                                 .data = reinterpret_cast<const uint8_t*>(bytes.data())};
    EXPECT_EQ(bytes.size(), kPatchSize);
    patched_ = engine_->ApplyPatches({.sequence = {ProducerId{producer}, WriterId{writer}},
                                      .chunk = ChunkId{chunk},
                                      .patches = {&patch, 1},
                                      .more = more});
    return Checked();
  }
  /// What the last Patch returned.
  bool patched() const { return patched_; }

  /// One read pass. Packets after a loss carry its bits: "a20!read_gap".
  std::vector<std::string> ReadAll() { return ReadFrom(*engine_); }
  std::vector<std::string> ReadClone() {
    auto clone = engine_->Clone().value();
    return ReadFrom(*clone);
  }
  const BufferStats& stats() const { return engine_->stats(); }
  Engine& engine() { return *engine_; }

 private:
  std::vector<std::string> ReadFrom(Engine& engine) {
    std::vector<std::string> packets;
    engine.BeginRead();
    while (const Packet* packet = engine.NextPacket()) {
      packets.push_back(Describe(*packet));
      if (packet->dropped != 0) packets.back() += "!" + LossBitsToString(packet->dropped);
      EXPECT_EQ(engine.CheckInvariants(), "");
    }
    EXPECT_EQ(engine.CheckInvariants(), "");
    return packets;
  }
  Buffer& Checked() {
    EXPECT_EQ(engine_->CheckInvariants(), "");
    return *this;
  }

  std::unique_ptr<Engine> engine_;
  bool patched_ = false;
};

inline Buffer On(std::string_view engine, uint64_t size,
                 FillPolicy policy = FillPolicy::kRingBuffer) {
  return Buffer(engine, size, policy);
}

template <typename... Ts>
auto Packets(Ts... packets) {
  return ::testing::ElementsAre(std::string(packets)...);
}
inline auto NoPackets() { return ::testing::IsEmpty(); }

/// The name of an engine as a part of a test's name: "v2_58" for "v2@58".
inline std::string TestNameOf(std::string engine) {
  std::ranges::replace(engine, '@', '_');
  return engine;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_CHUNK_DSL_H_
