#include "core/gaps/byte_shares.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace ringscope {
namespace {

SequenceKey Key(uint16_t writer) { return {ProducerId{1}, WriterId{writer}}; }

uint64_t BytesOf(const ByteShares& list) {
  uint64_t sum = list.other_bytes();
  for (const SequenceShare& share : list.shares()) sum += share.bytes;
  return sum;
}

// As a map does it, for sequences that come and go.
TEST(BytesBySequence, AddedAndTakenAway_AreCounted) {
  std::mt19937 random(1);
  std::map<uint16_t, uint64_t> expected;
  BytesBySequence bytes;
  for (int step = 0; step < 100'000; ++step) {
    // At first few sequences, later many.
    const auto writer = static_cast<uint16_t>(1 + random() % (step < 50'000 ? 40 : 1000));
    if (random() % 2 == 0) {
      expected[writer] += 1 + step % 7;
      bytes[Key(writer)] += 1 + step % 7;
    } else if (const auto at = expected.find(writer); at != expected.end()) {
      const uint64_t part = random() % 3 == 0 ? 1 : at->second;
      bytes.Subtract(Key(writer), part);
      if ((at->second -= part) == 0) expected.erase(at);
    }
    ASSERT_EQ(bytes.contains(Key(writer)), expected.contains(writer));
    ASSERT_EQ(bytes.size(), expected.size());
    if (step % 1000 != 0) continue;
    for (const auto& [sequence, sum] : bytes) ASSERT_EQ(sum, expected.at(Raw(sequence.writer)));
  }
  bytes.clear();
  EXPECT_EQ(bytes.size(), 0u);
  EXPECT_FALSE(bytes.contains(Key(1)));
}

TEST(ByteShares, Few_AreExactAndSorted) {
  ByteShares list;
  list.Add(BytesBySequence{{Key(1), 10}, {Key(2), 30}});
  list.Add(BytesBySequence{{Key(1), 40}});
  list.Sort();
  EXPECT_EQ(list.shares(), (std::vector<SequenceShare>{{Key(1), 50}, {Key(2), 30}}));
  EXPECT_EQ(list.other_bytes(), 0u);
}

TEST(ByteShares, Many_KeepTheLargestAndTheSum) {
  BytesBySequence bytes;
  uint64_t sum = 0;
  for (uint16_t writer = 1; writer <= 1000; ++writer) {
    bytes[Key(writer)] = writer;
    sum += writer;
  }
  ByteShares list;
  for (int i = 0; i < 3; ++i) list.Add(bytes);
  list.Sort();
  ASSERT_EQ(list.shares().size(), ByteShares::kMost);
  EXPECT_EQ(list.shares().front(), (SequenceShare{Key(1000), 3000}));
  EXPECT_EQ(BytesOf(list), 3 * sum);
}

TEST(ByteShares, ManyAfterOthers_AreAddedToThem) {
  ByteShares list;
  BytesBySequence some, many;
  for (uint16_t i = 0; i < 40; ++i) some[Key(i)] = 500u + i;
  for (uint16_t i = 20; i < 1000; ++i) many[Key(i)] = 1u + i;
  list.Add(some);
  list.Add(many);
  list.Sort();
  ASSERT_EQ(list.shares().size(), ByteShares::kMost);
  EXPECT_EQ(list.shares().front(), (SequenceShare{Key(999), 1000}));
  EXPECT_EQ(BytesOf(list), 40u * 500 + 39 * 20 + (21 + 1000) * 490);
  ByteShares small;
  many = {};
  for (uint16_t i = 0; i < 1000; ++i) many[Key(i)] = 2;
  small.Add(some);
  small.Add(many);
  small.Sort();
  EXPECT_EQ(small.shares().front(), (SequenceShare{Key(39), 541}));
}

TEST(ByteShares, Part_IsScaled) {
  ByteShares list, other;
  other.Add(BytesBySequence{{Key(1), 100}});
  list.AddPart(other, 1, 4);
  EXPECT_EQ(BytesOf(list), 25u);
}

// Stretches from block to block are exact, through all levels; a half block is rounded.
TEST(ShareBlocks, Between_IsExactAtTheBordersOfBlocks) {
  ShareBlocks blocks;
  constexpr uint64_t kBlocks = 300;
  for (uint64_t i = 0; i < kBlocks * ShareBlocks::kBlock; ++i)
    blocks.Add(Key(static_cast<uint16_t>(1 + i % 2)), i % 5 == 0 ? 0 : 16);
  const auto expected = [](uint64_t first, uint64_t end) {
    uint64_t sum = 0;
    for (uint64_t i = first; i < end; ++i) sum += i % 5 == 0 ? 0 : 16;
    return sum;
  };
  for (const auto& [first, end] :
       {std::pair<uint64_t, uint64_t>{0, 300}, {1, 2}, {15, 17}, {16, 272}, {3, 299}, {7, 7}}) {
    const uint64_t from = first * ShareBlocks::kBlock, to = end * ShareBlocks::kBlock;
    EXPECT_EQ(BytesOf(blocks.Between(from, to)), expected(from, to)) << first << " " << end;
    EXPECT_EQ(BytesOf(blocks.Between(from + 100, to + 100)), expected(from, to));
  }
  EXPECT_EQ(BytesOf(blocks.Between(0, 1000 * ShareBlocks::kBlock)),
            expected(0, kBlocks * ShareBlocks::kBlock));
  EXPECT_EQ(BytesOf(ShareBlocks().Between(0, 5000)), 0u);
}

}  // namespace
}  // namespace ringscope
