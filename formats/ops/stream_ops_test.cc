// Streams that fuzzing the engines once cut down to what matters, kept in testdata/engines: all
// claims hold on each. And the way from a stream to such a file and back.

#include "formats/testing/stream_ops.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using testing::RecordedStream;

TEST(EngineReproducers, AllClaimsHold) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::TestdataPath("engines"))) {
    const auto stream = testing::ReadOps(entry.path());
    ASSERT_TRUE(stream) << stream.error().ToString();
    EXPECT_FALSE(stream->steps.empty());
    EXPECT_EQ(testing::CheckRecorded(*stream), "") << entry.path();
    ++files;
  }
  EXPECT_GE(files, 2);
}

TEST(EngineReproducers, RoundTrip) {
  const std::string path = ::testing::TempDir() + "/stream.ops.jsonl";
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const Conduct conduct = seed % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
    const RecordedStream stream = testing::Record(testing::WrittenStream(seed, conduct), 100);
    ASSERT_TRUE(testing::WriteOps(stream, path));
    const auto back = testing::ReadOps(path);
    ASSERT_TRUE(back) << back.error().ToString();
    EXPECT_EQ(back->traits.size, stream.traits.size);
    ASSERT_EQ(back->steps.size(), stream.steps.size());
    for (size_t i = 0; i < stream.steps.size(); ++i) {
      const auto &a = *stream.steps[i], &b = *back->steps[i];
      EXPECT_EQ(a.step.kind, b.step.kind);
      EXPECT_EQ(a.payload, b.payload);
      ASSERT_EQ(a.patches.size(), b.patches.size());
      for (size_t k = 0; k < a.patches.size(); ++k) {
        // The service takes 32 bits of an offset.
        EXPECT_EQ(static_cast<uint32_t>(a.patches[k].first), b.patches[k].first);
        EXPECT_EQ(a.patches[k].second, b.patches[k].second);
      }
      EXPECT_EQ(a.step.commit.sequence, b.step.commit.sequence);
      EXPECT_EQ(a.step.commit.chunk, b.step.commit.chunk);
      EXPECT_EQ(a.step.commit.flags, b.step.commit.flags);
      EXPECT_EQ(a.step.commit.fragments, b.step.commit.fragments);
      EXPECT_EQ(a.step.commit.complete, b.step.commit.complete);
      EXPECT_EQ(a.step.patches.sequence, b.step.patches.sequence);
      EXPECT_EQ(a.step.patches.chunk, b.step.patches.chunk);
      EXPECT_EQ(a.step.patches.more, b.step.patches.more);
      EXPECT_EQ(a.step.max_packets, b.step.max_packets);
    }
  }
  std::filesystem::remove(path);
}

// A stream that misstates what was written breaks a claim, and few of its steps are needed.
TEST(EngineReproducers, AreCutDown) {
  RecordedStream stream = testing::Record(testing::WrittenStream(4, Conduct::kCorrect), 100);
  for (auto& [key, sequence] : stream.written)
    for (auto& [place, packet] : sequence.packets) packet.content += "?";
  const std::string wrong = testing::CheckRecorded(stream);
  EXPECT_NE(wrong.find("not as written"), std::string::npos) << wrong;
  const RecordedStream less = testing::CutDown(stream);
  EXPECT_EQ(less.steps.size(), 1u);
  EXPECT_NE(testing::CheckRecorded(less), "");
}

}  // namespace
}  // namespace ringscope
