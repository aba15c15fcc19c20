// Offsets beyond 2^31, up to 2^32: buffers of the largest size, with incomplete chunks, which
// reserve memory without writing to it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/engine/catalogue.h"

namespace ringscope {
namespace {

constexpr uint64_t kLargest = uint64_t{4'194'300} * 1024;

class LargestBufferTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, LargestBufferTest, ::testing::Values("v2@54", "v2@58"),
                         [](const auto& engine) {
                           return "v" + std::string(engine.param).substr(3);
                         });

// [ c66051 c66052 ... c66060 | c10 c11 ........ c66050 | padding ]
TEST_P(LargestBufferTest, WrapsBehindItsLastByte) {
  const EngineInfo& info = *FindEngine(GetParam()).value();
  const std::unique_ptr<Engine> buffer = info.create({.size = kLargest}).value();
  // A packet of one byte, and another one that the writer has not finished.
  std::string payload = "\x01x";
  payload.resize(65'000);
  uint32_t next = 0;
  const auto commit = [&] {
    buffer->Commit({.sequence = {ProducerId{1}, WriterId{1}},
                    .chunk = ChunkId{next++},
                    .fragments = 2,
                    .complete = false,
                    .payload = wire::AsBytes(payload)});
  };
  const auto chunks = [&] {
    std::vector<ObservedChunk> found;
    EXPECT_TRUE(buffer->VisitChunks([&](const ObservedChunk& chunk) {
      if (!chunk.is_padding()) found.push_back(chunk);
    }));
    return found;
  };
  commit();
  const uint64_t outer = chunks().at(0).outer_size;
  const uint64_t fit = kLargest / outer;
  EXPECT_NE(kLargest % outer, 0u);

  while (next < fit) commit();
  EXPECT_EQ(buffer->stats().chunks_overwritten, 0u);
  ASSERT_EQ(chunks().size(), fit);
  EXPECT_EQ(chunks().back().offset, (fit - 1) * outer);
  EXPECT_GT(chunks().back().offset, kLargest - 2 * outer);

  constexpr uint64_t kMore = 10;
  while (next < fit + kMore) commit();
  EXPECT_EQ(buffer->stats().chunks_overwritten, kMore);
  EXPECT_EQ(buffer->stats().bytes_overwritten, kMore * outer);
  EXPECT_EQ(buffer->stats().write_wrap_count, 1u);
  const std::vector<ObservedChunk> wrapped = chunks();
  ASSERT_EQ(wrapped.size(), fit);
  for (size_t i = 0; i < wrapped.size(); ++i) {
    ASSERT_EQ(wrapped[i].offset, i * outer);
    ASSERT_EQ(wrapped[i].chunk, ChunkId{static_cast<uint32_t>(i < kMore ? fit + i : i)});
  }
  EXPECT_EQ(buffer->CheckInvariants(), "");
}

TEST_P(LargestBufferTest, IsTheLargest) {
  const EngineInfo& info = *FindEngine(GetParam()).value();
  EXPECT_FALSE(info.create({.size = uint64_t{1} << 32}));
}

}  // namespace
}  // namespace ringscope
