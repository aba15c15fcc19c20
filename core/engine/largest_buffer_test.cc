// Offsets beyond 2^31, up to 2^32: buffers of the largest size, without payloads, so that they cost
// little memory. How they lay chunks out is the same code as with payloads.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/engine/catalogue.h"
#include "core/engine/chunk_shape.h"

namespace ringscope {
namespace {

constexpr uint64_t kLargest = uint64_t{4'194'300} * 1024;

class LargestBufferTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, LargestBufferTest, ::testing::Values("v1", "v2@54", "v2@58"),
                         [](const auto& engine) {
                           return std::string(engine.param) == "v1"
                                      ? std::string("buffer_v1")
                                      : "v" + std::string(engine.param).substr(3);
                         });

// [ c66051 c66052 ... c66060 | c10 c11 ........ c66050 | padding ]
TEST_P(LargestBufferTest, WrapsBehindItsLastByte) {
  const EngineInfo& info = *FindEngine(GetParam()).value();
  ShapeTally tally;
  const std::unique_ptr<ShapeEngine> buffer = info.create_shapes({.size = kLargest}, tally).value();
  // One packet that fills its chunk: 65,000 bytes with the size before it.
  constexpr size_t kPacket = 64'997;
  std::string payload;
  wire::AppendVarint(payload, kPacket);
  payload.resize(payload.size() + kPacket);
  std::vector<ShapeFragment> fragments;
  uint32_t next = 0;
  const auto commit = [&] {
    ChunkCommit chunk{.sequence = {ProducerId{1}, WriterId{1}},
                      .identity = {},
                      .chunk = ChunkId{next++},
                      .fragments = 1,
                      .payload = wire::AsBytes(payload)};
    const ChunkShape shape = ReadShape(chunk, fragments);
    chunk.payload = {};
    buffer->CommitShape(chunk, shape);
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

  buffer->BeginRead();
  uint64_t packets = 0;
  while (const Packet* packet = buffer->NextPacket()) {
    ASSERT_EQ(packet->size, kPacket);
    ++packets;
  }
  EXPECT_EQ(packets, fit);
  EXPECT_EQ(buffer->failure(), nullptr);
}

TEST_P(LargestBufferTest, IsTheLargest) {
  const EngineInfo& info = *FindEngine(GetParam()).value();
  ShapeTally tally;
  EXPECT_FALSE(info.create_shapes({.size = uint64_t{1} << 32}, tally));
}

}  // namespace
}  // namespace ringscope
