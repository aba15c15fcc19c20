// The containers and small helpers under the engines.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "core/chunk_ring.h"
#include "core/commit_request.h"
#include "core/key_index.h"
#include "core/nearest.h"
#include "core/result.h"
#include "core/sequence_ids.h"
#include "core/sorted_ring.h"
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

class Random {
 public:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  std::mt19937 random_{7};
};

/// Where the next item goes, of so many that are there.
using NextPlace = std::function<uint32_t(uint32_t size, Random& random)>;

// Insertions in any order, and those that the gap is made for: all near one place, at two places in
// turn, near the front, and at the back.
TEST(GapRing, BehavesLikeADeque) {
  const std::vector<NextPlace> ways = {
      [](uint32_t size, Random& random) { return random.Below(size + 1); },
      [](uint32_t size, Random& random) { return size - std::min(size, random.Below(3)); },
      [](uint32_t size, Random& random) { return std::min(size, 20 + random.Below(3)); },
      [](uint32_t size, Random&) { return size % 2 == 0 ? size : size / 2; },
      [](uint32_t size, Random& random) { return random.Below(4) == 0 ? size / 100 : size; },
      [](uint32_t size, Random&) { return size; },
  };
  for (size_t way = 0; way < ways.size(); ++way) {
    for (const uint32_t pops_of_100 : {0u, 33u, 49u, 60u}) {
      SCOPED_TRACE(fmt::format("way {}, {} % popped", way, pops_of_100));
      GapRing<uint32_t> list;
      std::deque<uint32_t> model;
      Random random;
      for (uint32_t n = 0; n < 4000; ++n) {
        if (!model.empty() && random.Below(100) < pops_of_100) {
          ASSERT_EQ(list.front(), model.front());
          list.PopFront();
          model.pop_front();
        } else {
          const uint32_t at = ways[way](static_cast<uint32_t>(model.size()), random);
          list.Insert(at, n);
          model.insert(model.begin() + at, n);
        }
        ASSERT_EQ(list.size(), model.size());
        if (!model.empty()) {
          ASSERT_EQ(list.back(), model.back());
        }
        if (n % 20 != 0) continue;
        for (uint32_t i = 0; i < model.size(); ++i) ASSERT_EQ(list[i], model[i]);
        const GapRing<uint32_t> copy = list;
        for (uint32_t i = 0; i < model.size(); ++i) ASSERT_EQ(copy[i], model[i]);
      }
    }
  }
}

TEST(SortedRing, BehavesLikeAMap) {
  SortedRing ring;
  std::map<uint32_t, uint32_t> model;
  Random random;
  const auto remove = [&](std::map<uint32_t, uint32_t>::iterator item) {
    const uint32_t at = ring.LowerBound(item->first);
    ASSERT_TRUE(ring.Holds(at, item->first));
    ring.Remove(at);
    model.erase(item);
  };
  for (uint32_t n = 0; n < 20'000; ++n) {
    const uint32_t key = n / 8 + random.Below(100);  // now and then one that was there before
    const uint32_t at = ring.LowerBound(key);
    ASSERT_EQ(ring.Holds(at, key), model.contains(key));
    if (model.contains(key)) {
      EXPECT_EQ(ring[at].value, model[key]);
      remove(model.find(key));
    } else {
      ring.Insert({.key = key, .value = n});
      model[key] = n;
    }
    if (model.size() > 60) remove(std::next(model.begin(), random.Below(20)));
    ASSERT_EQ(ring.empty(), model.empty());
    if (n % 10 != 0) continue;
    std::map<uint32_t, uint32_t> held;
    for (uint32_t i = ring.NextItem(0); i < ring.size(); i = ring.NextItem(i + 1))
      held[ring[i].key] = ring[i].value;
    ASSERT_EQ(held, model);
    EXPECT_LE(ring.size(), 2 * model.size() + 1);
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
