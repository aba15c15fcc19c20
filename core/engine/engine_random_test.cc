// Random streams through all engines: an observer that comes later changes nothing. (One that is
// there from the start: engines_agree_test.cc.)

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/compare/random_stream.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/v2_engine.h"
#include "core/engine/v2_rules.h"
#include "core/testing/chunk_dsl.h"
#include "core/testing/stream_sets.h"

namespace ringscope {
namespace {

using testing::Describe;

std::string ReadSome(Engine& engine, uint64_t max_packets) {
  std::string log;
  engine.BeginRead();
  for (uint64_t n = 0; n < max_packets; ++n) {
    const Packet* packet = engine.NextPacket();
    if (packet == nullptr) break;
    log += Describe(*packet) + "!" + std::to_string(packet->dropped) + " at " +
           std::to_string(Raw(packet->place.first_chunk)) + "+" +
           std::to_string(packet->place.first_offset) + "\n";
  }
  return log;
}

class RandomStreamTest : public ::testing::TestWithParam<std::tuple<const char*, Conduct>> {};

INSTANTIATE_TEST_SUITE_P(
    Engines, RandomStreamTest,
    ::testing::Combine(::testing::Values("v1", "v2@54", "v2@55", "v2@56", "v2@57", "v2@58"),
                       ::testing::Values(Conduct::kCorrect, Conduct::kHostile)),
    [](const auto& test) {
      const std::string name = std::get<0>(test.param);
      return (name == "v1" ? "V1" : "V2_" + name.substr(3)) +
             (std::get<1>(test.param) == Conduct::kCorrect ? "_Correct" : "_Hostile");
    });

/// Takes in what a buffer overwrites.
class OverwrittenObserver : public EngineObserver {
 public:
  bool wants_overwritten_packets() const override { return true; }
  void OnPacketOverwritten(const Packet& packet) override { bytes += Describe(packet).size(); }

  uint64_t bytes = 0;
};

TEST_P(RandomStreamTest, ObservedLater_NothingChanges) {
  const auto [name, conduct] = GetParam();
  const EngineInfo* info = FindEngine(name).value();
  uint64_t overwritten = 0;
  for (uint32_t seed = 0; seed < testing::kObserverStreams.streams; ++seed) {
    SCOPED_TRACE(seed);
    OverwrittenObserver observer;
    const auto plain = info->create({.size = 4096}).value();
    auto later = info->create({.size = 4096}).value();
    RandomStream stream(seed, conduct);
    for (int i = 0; i < testing::kObserverStreams.steps; ++i) {
      if (i == testing::kObserverStreams.steps / 4) {
        auto made = later->ObserveBy(&observer);
        ASSERT_EQ(made.has_value(), info->has_protovm);
        if (made) later = std::move(*made);
      }
      const RandomStream::Step step = stream.Next();
      switch (step.kind) {
        case RandomStream::Kind::kCommit:
          plain->Commit(step.commit);
          later->Commit(step.commit);
          break;
        case RandomStream::Kind::kPatch:
          ASSERT_EQ(plain->ApplyPatches(step.patches), later->ApplyPatches(step.patches));
          break;
        case RandomStream::Kind::kRead:
          ASSERT_EQ(ReadSome(*plain, step.max_packets), ReadSome(*later, step.max_packets));
          break;
        case RandomStream::Kind::kClone:
          ASSERT_EQ(ReadSome(*plain->Clone().value(), UINT64_MAX),
                    ReadSome(*later->Clone().value(), UINT64_MAX));
          break;
      }
      ASSERT_EQ(later->CheckInvariants(), "");
      ASSERT_EQ(plain->stats(), later->stats());
    }
    std::map<SequenceKey, WriterHistogram> writers;
    plain->VisitWriterStats(
        [&](const WriterStats& writer) { writers[writer.sequence] = *writer.histogram; });
    later->VisitWriterStats([&](const WriterStats& writer) {
      EXPECT_EQ(writers.at(writer.sequence), *writer.histogram);
    });
    overwritten += observer.bytes;
  }
  EXPECT_EQ(overwritten > 0, info->has_protovm);
}

/// Lists the stalls that passes report.
class StallLog : public EngineObserver {
 public:
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override {
    stalls.emplace_back(sequence.Packed(), Raw(chunk), reason);
  }
  std::vector<std::tuple<uint32_t, uint32_t, StallReason>> stalls;
};

// Passes that skip what stalled before find the same as those that look at all of it.
TEST(StalledPrefixTest, ChangesNothing) {
  for (const uint32_t release : {kFirstV2Release, kNewestRelease}) {
    for (uint32_t seed = 0; seed < testing::kObserverStreams.streams; ++seed) {
      SCOPED_TRACE(seed);
      StallLog stalls[2];
      std::unique_ptr<Engine> engines[2];
      for (const bool skips : {false, true}) {
        const EngineConfig config{.size = 8192, .observer = &stalls[skips]};
        engines[skips] = CreateV2Engine(RulesOf(release), config, skips).value();
      }
      RandomStream stream(seed, seed % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile);
      for (int i = 0; i < testing::kObserverStreams.steps; ++i) {
        const RandomStream::Step step = stream.Next();
        std::string read[2];
        for (const int side : {0, 1}) {
          Engine& engine = *engines[side];
          if (step.kind == RandomStream::Kind::kCommit)
            engine.Commit(step.commit);
          else if (step.kind == RandomStream::Kind::kPatch)
            engine.ApplyPatches(step.patches);
          else
            read[side] = ReadSome(engine, step.max_packets) + ReadSome(engine, UINT64_MAX);
        }
        ASSERT_EQ(read[0], read[1]);
        ASSERT_EQ(stalls[0].stalls, stalls[1].stalls);
        ASSERT_EQ(engines[0]->stats(), engines[1]->stats());
      }
      EXPECT_FALSE(stalls[0].stalls.empty());
    }
  }
}

}  // namespace
}  // namespace ringscope
