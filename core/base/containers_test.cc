// The containers under engines and reports.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/base/gap_list.h"
#include "core/base/sequence_map.h"
#include "core/engine/chunk_ring.h"

namespace ringscope {
namespace {

TEST(Ring, BehavesLikeADeque) {
  Ring<uint32_t> ring;
  std::deque<uint32_t> model;
  std::mt19937 random(7);
  for (uint32_t n = 0; n < 5000; ++n) {
    switch (model.empty() ? 0 : random() % 5) {
      case 0:
      case 1:
        EXPECT_EQ(ring[ring.PushBack(n)], n);
        model.push_back(n);
        break;
      case 2:
        ring.PushFront(n);
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
      for (uint32_t i = 0; i < model.size(); ++i) ASSERT_EQ(ring[ring.begin() + i], model[i]);
    }
  }
}

// Few ids of few sequences, so that many share a place in the table; then more and more.
TEST(ChunkMap, BehavesLikeAMap) {
  ChunkMap<uint32_t> chunks;
  std::map<uint64_t, uint32_t> model;
  std::mt19937 random(7);
  for (uint32_t n = 1; n <= 200'000; ++n) {
    const uint32_t ids = 20 * (1 + n / 40'000);
    const ChunkName chunk{{ProducerId{1}, WriterId{static_cast<uint16_t>(1 + random() % 5)}},
                          ChunkId{static_cast<uint32_t>(random() % ids)}};
    const auto expected = model.find(chunk.Packed());
    uint32_t* const found = chunks.Find(chunk);
    ASSERT_EQ(found != nullptr, expected != model.end());
    ASSERT_TRUE(found == nullptr || *found == expected->second);
    if (found != nullptr && random() % 2 == 0) {
      chunks.Erase(chunk);
      model.erase(expected);
    } else {
      const auto [value, is_new] = chunks.Add(chunk);
      ASSERT_EQ(is_new, found == nullptr);
      ASSERT_TRUE(is_new ? value == 0 : &value == found);
      value = model[chunk.Packed()] = n;
    }
    ASSERT_EQ(chunks.size(), model.size());
  }
  std::map<uint64_t, uint32_t> visited;
  chunks.ForEach([&](ChunkName chunk, uint32_t value) { visited[chunk.Packed()] = value; });
  EXPECT_EQ(visited, model);
}

class Random {
 public:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  std::mt19937 random_{7};
};

/// Where to insert the next item among so many.
using NextPlace = std::function<uint32_t(uint32_t size, Random& random)>;

// Insertions in any order, and those that the gap is made for: all near one place, at two places in
// turn, near the front, and at the back.
TEST(GapList, BehavesLikeADeque) {
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
      GapList<uint32_t> list;
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
        const GapList<uint32_t> copy = list;
        for (uint32_t i = 0; i < model.size(); ++i) ASSERT_EQ(copy[i], model[i]);
      }
    }
  }
}

TEST(SortedList, BehavesLikeAMap) {
  SortedList ring;
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

TEST(StableVector, MovesWithoutCopies) {
  static int copies;
  struct Counted {
    Counted() = default;
    Counted(const Counted&) { ++copies; }
  };
  copies = 0;
  StableVector<Counted> vector;
  for (int i = 0; i < 100; ++i) vector.emplace_back();
  StableVector<Counted> made = std::move(vector);
  StableVector<Counted> assigned;
  assigned = std::move(made);
  EXPECT_EQ(assigned.size(), 100u);
  EXPECT_EQ(made.size(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(copies, 0);
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

TEST(SequenceMap, KeepsValuesInOrderOfFirstUse) {
  const SequenceKey a{ProducerId{1}, WriterId{1}}, b{ProducerId{1}, WriterId{2}};
  SequenceMap<int> map;
  EXPECT_EQ(map.Find(b), nullptr);
  int& of_b = map[b];
  of_b = 5;
  map[a] = 6;
  EXPECT_EQ(&map[b], &of_b);
  EXPECT_EQ(*map.Find(b), 5);
  ASSERT_EQ(map.size(), 2u);
  EXPECT_EQ(map.At(0).key, b);
  EXPECT_EQ(map.At(1).value, 6);
}

}  // namespace
}  // namespace ringscope
