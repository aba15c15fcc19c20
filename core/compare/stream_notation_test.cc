// The notation of examples: what it says goes into a log, and comes out of it as it was.

#include "core/compare/stream_notation.h"

#include <gtest/gtest.h>

#include "core/perfetto/commit_request.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

Bytes RequestOf(const StoredOp& op) { return std::get<Commit>(op.op().body).request; }

std::string ThereAndBack(std::string_view text) {
  const auto example = ParseExample(text);
  if (!example) return example.error().ToString();
  return InNotation(ToOps(*example, 4096, FillPolicy::kRingBuffer)).value_or("not in the notation");
}

TEST(StreamNotation, LogOfAnExample_IsTheExample) {
  // A step ends where a read does; commits and patches have none of their own.
  EXPECT_EQ(ThereAndBack("A1:100+20 B7:8> | >B8:0p B9:300s read 2 | patch A1 patch B8+ clone read"),
            "A1:100+20 B7:8> >B8:0p B9:300s read 2 | patch A1 patch B8+ clone | read");
}

TEST(StreamNotation, FlushesEndSteps) {
  EXPECT_EQ(ThereAndBack("A1:8s flush | A1:8 read"), "A1:8s flush | A1:8 read");
}

TEST(StreamNotation, AbortsAndChunksWithoutPackets) {
  const std::string text = "A1:8+x A2:x A3:- >A4:->ps A5:8+2~300s A6:-~4 read";
  EXPECT_EQ(ThereAndBack(text), text);
}

// As messages, so that the service lets them into a trace.
TEST(StreamNotation, PacketsOfEvenSizes_AreWellFormed) {
  for (const size_t size : {0, 2, 8, 494}) {
    const std::string bytes =
        ExampleBytes(size, {{ProducerId{1}, WriterId{26}}, ChunkId{4'000'000'000}}, 3);
    const Bytes slice = wire::AsBytes(bytes);
    EXPECT_TRUE(IsValidPacket({&slice, 1})) << size;
  }
}

TEST(StreamNotation, WritersAreLetteredInTheirOrder) {
  EXPECT_EQ(ThereAndBack("C1:1 A1:2 C2:3"), "A1:1 B1:2 A2:3");
}

TEST(StreamNotation, ChunkOfDefaultSize_Takes512Bytes) {
  const auto example = ParseExample("A1");
  ASSERT_TRUE(example);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(RequestOf(example->front().operations.front())));
  const size_t payload = parser.chunks().front().data->size() - kChunkHeaderSize;
  EXPECT_EQ(OuterSize(static_cast<uint32_t>(payload)), 512u);
}

TEST(StreamNotation, Patch_IsOfTheLastPacketsLastBytes) {
  const auto example = ParseExample("A1:10+6 patch A1 patch B1");
  ASSERT_TRUE(example);
  const auto& operations = example->front().operations;
  ASSERT_EQ(operations.size(), 3u);
  const auto offset_of = [&](size_t i) {
    CommitRequestParser parser;
    EXPECT_TRUE(parser.Parse(RequestOf(operations[i])));
    return parser.patches().front().patches.front().offset;
  };
  EXPECT_EQ(offset_of(1), 14u);  // of 1 + 10 + 1 + 6
  EXPECT_EQ(offset_of(2), 0u);   // of a chunk that is not there
}

TEST(StreamNotation, WhatTheNotationCannotSay_IsLeftUnsaid) {
  std::vector<StoredOp> ops = {SetUpOf(4096, FillPolicy::kRingBuffer)};
  StreamStep step;
  step.commit.sequence = {ProducerId{1}, WriterId{1}};
  step.commit.fragments = 2;  // and one is there
  const uint8_t payload[] = {1, 'a'};
  step.commit.payload = payload;
  ops.push_back(OpOf(step));
  EXPECT_EQ(InNotation(ops), std::nullopt);
}

TEST(StreamNotation, Mistakes_AreNamed) {
  for (const char* const text :
       {"", "|", "1A", "a1", "A", "A1:", "A1:5+", "A1x", "A1:65536", "A1:65535", "A1:x+8", "A1~",
        "A1:-8", "patch", "patch A1x", "read 2x", "A4294967296"})
    EXPECT_FALSE(ParseExample(text)) << text;
}

}  // namespace
}  // namespace ringscope
