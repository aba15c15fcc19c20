// The containers and small helpers under the engines.

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "core/chunk_ring.h"
#include "core/commit_request.h"
#include "core/key_index.h"
#include "core/nearest.h"
#include "core/result.h"
#include "core/sequence_ids.h"
#include "core/wire.h"

namespace ringscope {
namespace {

TEST(ChunkIdOrder, IsModulo) {
  EXPECT_TRUE(Precedes(ChunkId{1}, ChunkId{2}));
  EXPECT_TRUE(Precedes(ChunkId{UINT32_MAX}, ChunkId{0}));
  EXPECT_FALSE(Precedes(ChunkId{0}, ChunkId{UINT32_MAX}));
  EXPECT_EQ(Successor(ChunkId{UINT32_MAX}), ChunkId{0});
}

TEST(OuterSize, CountsHeaderAndAlignment) {
  EXPECT_EQ(OuterSize(0), 16u);
  EXPECT_EQ(OuterSize(1), 32u);
  EXPECT_EQ(OuterSize(16), 32u);
  EXPECT_EQ(OuterSize(4080), 4096u);
}

TEST(ChunkRing, BehavesLikeADeque) {
  ChunkRing ring;
  std::deque<uint32_t> model;
  std::mt19937 random(7);
  for (uint32_t n = 0; n < 5000; ++n) {
    StoredChunk chunk;
    chunk.id = ChunkId{n};
    switch (model.empty() ? 0 : random() % 5) {
      case 0:
      case 1:
        EXPECT_EQ(ring[ring.PushBack(chunk)].id, chunk.id);
        model.push_back(n);
        break;
      case 2:
        ring.PushFront(chunk);
        model.push_front(n);
        break;
      case 3:
        ring.PopFront();
        model.pop_front();
        break;
      default:
        break;
    }
    ASSERT_EQ(ring.size(), model.size());
    if (n % 100 == 0) {
      for (uint32_t i = 0; i < model.size(); ++i)
        ASSERT_EQ(Raw(ring[ring.begin() + i].id), model[i]);
    }
  }
}

TEST(ChunkList, BehavesLikeADeque) {
  ChunkList list;
  std::deque<uint32_t> model;
  std::mt19937 random(7);
  for (uint32_t n = 0; n < 5000; ++n) {
    if (!model.empty() && random() % 3 == 0) {
      EXPECT_EQ(list.front(), model.front());
      list.PopFront();
      model.pop_front();
    } else {
      const auto at = static_cast<uint32_t>(random() % (model.size() + 1));
      list.Insert(at, n);
      model.insert(model.begin() + at, n);
    }
    ASSERT_EQ(list.size(), model.size());
    if (n % 50 != 0) continue;
    for (uint32_t i = 0; i < model.size(); ++i) ASSERT_EQ(list[i], model[i]);
  }
}

TEST(KeyIndex, FindsWhatWasInserted) {
  KeyIndex index;
  const auto key = [](uint32_t n) {
    return SequenceKey{ProducerId{static_cast<uint16_t>(n >> 8)},
                       WriterId{static_cast<uint16_t>(n * 7)}};
  };
  EXPECT_EQ(index.Find(key(1)), KeyIndex::kNone);
  for (uint32_t n = 1; n < 10'000; ++n) index.Insert(key(n), n);
  for (uint32_t n = 1; n < 10'000; ++n) ASSERT_EQ(index.Find(key(n)), n);
  EXPECT_EQ(index.Find(key(20'000)), KeyIndex::kNone);
  EXPECT_EQ(index.size(), 9'999u);
}

TEST(StableVector, KeepsAddressesAndCopies) {
  StableVector<int> vector;
  int& first = vector.emplace_back();
  first = 5;
  for (int i = 0; i < 1000; ++i) vector.emplace_back() = i;
  EXPECT_EQ(&first, &vector[0]);
  StableVector<int> copy = vector;
  copy[0] = 6;
  EXPECT_EQ(vector[0], 5);
  EXPECT_EQ(copy.size(), 1001u);
  EXPECT_EQ(copy[1000], 999);
}

TEST(SequenceIds, CountFromTwoInOrderOfUse) {
  SequenceIds ids;
  const SequenceKey a{ProducerId{1}, WriterId{1}}, b{ProducerId{1}, WriterId{2}};
  EXPECT_EQ(ids.IdOf(b), 2u);
  EXPECT_EQ(ids.IdOf(a), 3u);
  EXPECT_EQ(ids.IdOf(b), 2u);
}

TEST(Wire, FieldReader_StopsAtMalformedBytes) {
  std::string message;
  wire::AppendUint(message, 1, 300);
  wire::AppendBytes(message, 2, wire::AsBytes("abc"));
  const std::string good = message;
  message += "\x12\x7F";  // field 2, 127 bytes, none there
  wire::FieldReader reader(wire::AsBytes(message));
  auto field = reader.Next();
  ASSERT_TRUE(field);
  EXPECT_EQ(field->number, 1u);
  EXPECT_EQ(field->value, 300u);
  field = reader.Next();
  ASSERT_TRUE(field);
  EXPECT_EQ(wire::AsText(field->bytes), "abc");
  EXPECT_EQ(field->whole.size(), 5u);
  EXPECT_FALSE(reader.Next());
  EXPECT_FALSE(reader.ok());
  wire::FieldReader whole(wire::AsBytes(good));
  while (whole.Next()) {
  }
  EXPECT_TRUE(whole.ok());
}

TEST(Wire, FieldReader_RefusesGroupsAndFieldZero) {
  for (const std::string& message : {std::string("\x0B"), std::string("\x00\x01", 2)}) {
    wire::FieldReader reader(wire::AsBytes(message));
    EXPECT_FALSE(reader.Next());
    EXPECT_FALSE(reader.ok());
  }
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

TEST(Nearest, SuggestsWhatWasMeant) {
  const std::vector<std::string_view> names = {"replay", "repair", "stats"};
  EXPECT_EQ(NearestName("repaly", names), "replay");
  EXPECT_EQ(NearestName("stat", names), "stats");
  EXPECT_EQ(NearestName("xyz", names), std::nullopt);
  EXPECT_EQ(EditDistance("ab", "ba"), 1u);
}

TEST(Error, NamesWhereAndWhatToDo) {
  Error error;
  error.message = "chunk is a string, expected a number";
  error.where.path = "x.ops.jsonl";
  error.where.line = 7;
  error.hint = "see ringscope-import(1)";
  EXPECT_EQ(error.ToString(),
            "x.ops.jsonl:7: chunk is a string, expected a number (see ringscope-import(1))");
}

}  // namespace
}  // namespace ringscope
