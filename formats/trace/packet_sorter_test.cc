#include "formats/trace/packet_sorter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/base/wire.h"

namespace ringscope {
namespace {

struct Item {
  uint64_t time_ns;
  uint32_t sequence;
  std::string bytes;
  friend bool operator==(const Item&, const Item&) = default;
};

std::vector<Item> Sort(const std::vector<Item>& items, PacketSorter& sorter) {
  for (const Item& item : items) {
    EXPECT_TRUE(sorter.Add({.time_ns = item.time_ns,
                            .sequence = item.sequence,
                            .dropped = item.sequence + 1,
                            .bytes = wire::AsBytes(item.bytes)}));
  }
  EXPECT_TRUE(sorter.Finish());
  std::vector<Item> sorted;
  while (true) {
    const auto packet = sorter.Next();
    EXPECT_TRUE(packet) << packet.error().ToString();
    if (!packet || !*packet) return sorted;
    EXPECT_EQ((*packet)->dropped, (*packet)->sequence + 1);
    sorted.push_back(
        {(*packet)->time_ns, (*packet)->sequence, std::string(wire::AsText((*packet)->bytes))});
  }
}

std::vector<Item> RandomItems(size_t count, size_t max_size) {
  std::mt19937 random(1);
  std::vector<Item> items;
  for (size_t i = 0; i < count; ++i) {
    items.push_back({random() % 50, static_cast<uint32_t>(i),
                     std::string(random() % max_size, static_cast<char>('a' + i % 26))});
  }
  return items;
}

std::vector<Item> StableSorted(std::vector<Item> items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.time_ns < b.time_ns; });
  return items;
}

TEST(PacketSorter, InMemory_OrdersByTimeAndKeepsTheOrderWithin) {
  const std::vector<Item> items = RandomItems(1000, 40);
  PacketSorter sorter({.folder = ::testing::TempDir()});
  EXPECT_EQ(Sort(items, sorter), StableSorted(items));
  EXPECT_EQ(sorter.spilled_bytes(), 0u);
}

TEST(PacketSorter, SpilledRuns_GiveTheSameOrder) {
  const std::vector<Item> items = RandomItems(3000, 3000);
  for (const size_t run_bytes : {size_t{1}, size_t{5000}, size_t{1} << 20}) {
    PacketSorter sorter(
        {.folder = ::testing::TempDir(), .run_bytes = run_bytes, .merge_bytes = 1 << 16});
    EXPECT_EQ(Sort(items, sorter), StableSorted(items)) << run_bytes;
    EXPECT_GT(sorter.spilled_bytes(), 0u);
  }
}

TEST(PacketSorter, TimesOfAllSizes_AreSorted) {
  std::mt19937_64 random(3);
  for (const int bits : {1, 8, 30, 64}) {
    std::vector<Item> items;
    for (uint32_t i = 0; i < 10'000; ++i) items.push_back({random() >> (64 - bits), i, "x"});
    PacketSorter sorter({.folder = ::testing::TempDir()});
    EXPECT_TRUE(Sort(items, sorter) == StableSorted(items)) << bits;
  }
}

TEST(PacketSorter, PacketsLargerThanARunAndItsWindow_ComeBack) {
  std::vector<Item> items = RandomItems(20, 100);
  items.push_back({7, 100, std::string(size_t{3} << 20, 'x')});
  items.push_back({5, 101, std::string(size_t{2} << 20, 'y')});
  items.push_back({6, 102, ""});
  PacketSorter sorter(
      {.folder = ::testing::TempDir(), .run_bytes = size_t{1} << 20, .merge_bytes = 1 << 16});
  EXPECT_EQ(Sort(items, sorter), StableSorted(items));
}

TEST(PacketSorter, Nothing_IsNothing) {
  PacketSorter sorter({.folder = ::testing::TempDir()});
  EXPECT_TRUE(Sort({}, sorter).empty());
}

TEST(PacketSorter, NoRoomToSpill_IsAnErrorThatNamesTheFolder) {
  PacketSorter sorter({.folder = "/nonexistent", .run_bytes = 1});
  ASSERT_TRUE(sorter.Add({.bytes = wire::AsBytes("a")}));
  const auto status = sorter.Add({.bytes = wire::AsBytes("b")});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().ToString(), ::testing::HasSubstr("/nonexistent"));
}

TEST(PacketSorter, TemporaryFile_HasNoName) {
  const std::string folder = ::testing::TempDir() + "/sorter-without-a-name";
  std::filesystem::create_directory(folder);
  PacketSorter sorter({.folder = folder, .run_bytes = 1});
  ASSERT_TRUE(sorter.Add({.bytes = wire::AsBytes("a")}));
  ASSERT_TRUE(sorter.Add({.bytes = wire::AsBytes("b")}));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace ringscope
