#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "core/compare/random_stream.h"
#include "core/engine/catalogue.h"
#include "core/engine/chunk_shape.h"

namespace ringscope {
namespace {

/// A buffer with payloads and one without, given the same.
class Twins {
 public:
  Twins(const EngineInfo& info, const EngineConfig& config)
      : full_(info.create(config).value()), shapes_(info.create_shapes(config, tally_).value()) {}

  /// @return how they differ; empty: not at all
  std::string Apply(const RandomStream::Step& step) {
    switch (step.kind) {
      case RandomStream::Kind::kCommit:
        Commit(step.commit);
        break;
      case RandomStream::Kind::kPatch: {
        const bool applied = full_->ApplyPatches(step.patches);
        if (shapes_->ApplyPatches(step.patches) != applied && !failed()) return "a patch";
        break;
      }
      case RandomStream::Kind::kRead:
        return Read(step.max_packets);
      case RandomStream::Kind::kClone:
        break;
    }
    return Compare();
  }

  std::string Read(uint64_t max_packets) {
    if (max_packets == UINT64_MAX && ++whole_passes_ % 2 == 0) return ReadJoined();
    full_->BeginRead();
    shapes_->BeginRead();
    for (uint64_t i = 0; i < max_packets; ++i) {
      const Packet* a = full_->NextPacket();
      const Packet* b = shapes_->NextPacket();
      if (failed()) return "";
      if ((a == nullptr) != (b == nullptr)) return "one of them has no more packets";
      if (a == nullptr) break;
      ++packets_;
      if (a->sequence != b->sequence || a->place != b->place || a->size != b->size ||
          a->dropped != b->dropped || a->identity != b->identity)
        return "a packet";
    }
    return Compare();
  }

  /// A pass to its end, in which the buffer without payloads returns many packets as one.
  std::string ReadJoined() {
    full_->BeginRead();
    shapes_->ExpectWholePass();
    shapes_->BeginRead();
    while (const Packet* b = shapes_->NextPacket()) {
      const uint32_t count = shapes_->packet_shape().packets;
      uint64_t size = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const Packet* a = full_->NextPacket();
        if (a == nullptr) return "one of them has no more packets";
        const bool is_same = i == 0 ? a->place == b->place && a->dropped == b->dropped
                                    : a->place.first_chunk == b->place.first_chunk && !a->dropped;
        if (!is_same || a->sequence != b->sequence || a->identity != b->identity) return "a packet";
        size += a->size;
      }
      if (size != b->size) return "the bytes of packets";
      packets_ += count;
      joined_ += count - 1;
    }
    if (failed()) return "";
    return full_->NextPacket() != nullptr ? "one of them has no more packets" : Compare();
  }

  bool failed() const { return shapes_->failure() != nullptr; }
  uint64_t packets() const { return packets_; }
  uint64_t joined() const { return joined_; }

 private:
  void Commit(const ChunkCommit& commit) {
    full_->Commit(commit);
    const ChunkShape shape = ReadShape(commit, fragments_);
    ChunkCommit bare = commit;
    bare.payload = {};
    shapes_->CommitShape(bare, shape);
  }

  static std::vector<std::array<uint64_t, 7>> Chunks(const Engine& engine) {
    std::vector<std::array<uint64_t, 7>> chunks;
    const auto cursor = engine.VisitChunks([&](const ObservedChunk& chunk) {
      chunks.push_back({ChunkName{chunk.sequence, chunk.chunk}.Packed(), chunk.offset,
                        chunk.outer_size, chunk.payload_size, chunk.payload_avail, chunk.flags,
                        chunk.incomplete});
    });
    chunks.push_back({*cursor});
    return chunks;
  }

  std::string Compare() const {
    if (failed()) return "";
    if (full_->stats() != shapes_->stats()) return "the counters";
    if (Chunks(*full_) != Chunks(*shapes_)) return "the chunks";
    return shapes_->CheckInvariants();
  }

  ShapeTally tally_;
  std::unique_ptr<Engine> full_;
  std::unique_ptr<ShapeEngine> shapes_;
  std::vector<ShapeFragment> fragments_;
  uint64_t packets_ = 0;
  uint64_t joined_ = 0;
  uint64_t whole_passes_ = 0;
};

class ShapeEngineTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(AllReleases, ShapeEngineTest,
                         ::testing::Values("v1", "v2@54", "v2@55", "v2@56", "v2@57", "v2@58"),
                         [](const auto& release) {
                           return std::string(release.param) == "v1"
                                      ? std::string("buffer_v1")
                                      : "v" + std::string(release.param).substr(3);
                         });

TEST_P(ShapeEngineTest, CorrectStreams_ComeOutTheSameWithoutPayloads) {
  const EngineInfo& info = *FindEngine(GetParam()).value();
  uint64_t packets = 0, joined = 0, failures = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream stream(seed, Conduct::kCorrect);
    Twins twins(info, {.size = stream.traits().size, .policy = stream.traits().policy});
    for (int step = 0; step < 300 && !twins.failed(); ++step)
      ASSERT_EQ(twins.Apply(stream.Next()), "") << "step " << step;
    ASSERT_EQ(twins.Read(UINT64_MAX), "");
    packets += twins.packets();
    joined += twins.joined();
    failures += twins.failed() ? 1 : 0;
  }
  EXPECT_GT(packets, 1000u);
  EXPECT_GT(joined, 100u);
  EXPECT_LT(failures, 150u);  // most by sizes that are patched
}

TEST_P(ShapeEngineTest, HostileStreams_ComeOutTheSameOrSayWhatIsMissing) {
  const EngineInfo& info = *FindEngine(GetParam()).value();
  uint64_t packets = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream stream(seed, Conduct::kHostile);
    Twins twins(info, {.size = stream.traits().size, .policy = stream.traits().policy});
    for (int step = 0; step < 300 && !twins.failed(); ++step)
      ASSERT_EQ(twins.Apply(stream.Next()), "") << "step " << step;
    packets += twins.packets();
  }
  EXPECT_GT(packets, 1000u);
}

}  // namespace
}  // namespace ringscope
