#include "core/perfetto/commit_request.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"

namespace ringscope {
namespace {

TEST(OuterSize, CountsHeaderAndAlignment) {
  EXPECT_EQ(OuterSize(0), 16u);
  EXPECT_EQ(OuterSize(1), 32u);
  EXPECT_EQ(OuterSize(16), 32u);
  EXPECT_EQ(OuterSize(4080), 4096u);
}

TEST(ChunkHeader, MatchesTheDocumentedExample) {
  std::string bytes;
  AppendChunkHeader(
      bytes,
      {.chunk = ChunkId{0x11223344}, .writer = WriterId{0x5566}, .fragments = 5, .flags = 2});
  EXPECT_EQ(bytes, "\x44\x33\x22\x11\x66\x55\x05\x08");
  const auto header = ParseChunkHeader(wire::AsBytes(bytes));
  ASSERT_TRUE(header);
  EXPECT_EQ(Raw(header->chunk), 0x11223344u);
  EXPECT_EQ(header->flags, 2);
  EXPECT_FALSE(ParseChunkHeader(wire::AsBytes("1234567")));
}

TEST(CommitRequest, BuildAndParse) {
  std::string bytes;
  CommitRequestBuilder builder(bytes);
  builder.AddChunk(BufferId{3}, {.chunk = ChunkId{7}, .writer = WriterId{2}, .fragments = 1},
                   wire::AsBytes("\2ab"), false);
  ChunkToPatch patch{.target_buffer = 3, .writer = 2, .chunk = 6, .patches = {}, .more = true};
  patch.patches.push_back({.offset = UINT64_MAX, .data = wire::AsBytes("wxyz")});
  patch.patches.push_back({.offset = 4, .data = wire::AsBytes("")});
  builder.AddPatch(patch);
  builder.SetFlushRequestId(9);

  CommitRequestParser parser;
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(parser.Parse(wire::AsBytes(bytes)));
    ASSERT_EQ(parser.chunks().size(), 1u);
    EXPECT_TRUE(parser.chunks()[0].incomplete);
    EXPECT_EQ(parser.chunks()[0].data->size(), 11u);
    ASSERT_EQ(parser.patches().size(), 1u);
    ASSERT_EQ(parser.patches()[0].patches.size(), 2u);
    EXPECT_EQ(parser.patches()[0].patches[0].offset, UINT64_MAX);
    EXPECT_TRUE(parser.patches()[0].more);
    EXPECT_EQ(parser.flush_request_id(), 9u);
  }
  EXPECT_FALSE(parser.Parse(wire::AsBytes(bytes).first(bytes.size() - 3)));
}

TEST(ToChunkPatches, TakesThoseOfFourBytes_AndCutsIdsAndOffsetsAsTheServiceDoes) {
  ChunkToPatch entry{
      .target_buffer = {}, .writer = 0x10002, .chunk = 0x1'0000'0003, .patches = {}, .more = true};
  entry.patches.push_back({.offset = 1, .data = wire::AsBytes("abc")});
  entry.patches.push_back({.offset = UINT64_MAX, .data = wire::AsBytes("abcd")});
  std::vector<Patch> storage = {{.offset = 7, .data = nullptr}};
  const ChunkPatches patches = ToChunkPatches(ProducerId{5}, entry, storage);
  EXPECT_EQ(patches.sequence, (SequenceKey{ProducerId{5}, WriterId{2}}));
  EXPECT_EQ(patches.chunk, ChunkId{3});
  EXPECT_TRUE(patches.more);
  ASSERT_EQ(patches.patches.size(), 1u);
  EXPECT_EQ(patches.patches[0].offset, UINT32_MAX);
  EXPECT_EQ(wire::AsText(Bytes(patches.patches[0].data, kPatchSize)), "abcd");
}

}  // namespace
}  // namespace ringscope
