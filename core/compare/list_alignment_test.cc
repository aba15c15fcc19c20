#include "core/compare/list_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using List = std::vector<uint64_t>;

List Letters(std::string_view text) { return {text.begin(), text.end()}; }

/// The least number of elements that stay alone, by the textbook.
size_t EditsBetween(const List& a, const List& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0)
        table[i][j] = i + j;
      else if (a[i - 1] == b[j - 1])
        table[i][j] = table[i - 1][j - 1];
      else
        table[i][j] = 1 + std::min(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

size_t Alone(const List& a, const List& b, const std::vector<AlignedPair>& pairs) {
  return a.size() + b.size() - 2 * pairs.size();
}

/// Pairs ascend on both sides and join equal elements.
void ExpectAlignment(const List& a, const List& b, const std::vector<AlignedPair>& pairs) {
  for (size_t n = 0; n < pairs.size(); ++n) {
    ASSERT_LT(pairs[n].first, a.size());
    ASSERT_LT(pairs[n].second, b.size());
    ASSERT_EQ(a[pairs[n].first], b[pairs[n].second]);
    if (n == 0) continue;
    ASSERT_LT(pairs[n - 1].first, pairs[n].first);
    ASSERT_LT(pairs[n - 1].second, pairs[n].second);
  }
}

TEST(Alignment, OneMissingElement_StaysAlone) {
  EXPECT_THAT(AlignLists(Letters("abcd"), Letters("abd")),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(3, 2)));
  EXPECT_THAT(AlignLists(Letters("a"), Letters("a")), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(AlignLists(Letters(""), Letters("abc")), ElementsAre());
  EXPECT_THAT(AlignLists(Letters("abc"), Letters("xyz")), ElementsAre());
}

TEST(Alignment, SmallLists_AreAlignedBest) {
  std::mt19937 random(7);
  for (uint64_t round = 0; round < 3000; ++round) {
    const auto letter = [&] { return random() % (2 + round % 6); };
    List a(random() % 24), b(random() % 24);
    std::generate(a.begin(), a.end(), letter);
    std::generate(b.begin(), b.end(), letter);
    const std::vector<AlignedPair> pairs = AlignLists(a, b);
    ExpectAlignment(a, b, pairs);
    ASSERT_EQ(Alone(a, b, pairs), EditsBetween(a, b));
  }
}

TEST(Alignment, EditsOfALongList_AreAllThatStaysAlone) {
  std::mt19937 random(8);
  List a(20000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = i;
  for (const size_t edits : {1u, 10u, 300u}) {
    List b = a;
    for (size_t n = 0; n < edits; ++n) {
      if (n % 2 == 0)
        b.erase(b.begin() + static_cast<int>(random() % b.size()));
      else
        b.insert(b.begin() + static_cast<int>(random() % b.size()), 1'000'000 + n);
    }
    const std::vector<AlignedPair> pairs = AlignLists(a, b);
    ExpectAlignment(a, b, pairs);
    EXPECT_LE(Alone(a, b, pairs), edits);
    EXPECT_GE(Alone(a, b, pairs), edits / 2);  // an insertion may be erased again
  }
}

TEST(Alignment, EverySecondElementReplaced_StaysAlone) {
  List a(6000), b;
  for (size_t i = 0; i < a.size(); ++i) a[i] = i;
  b = a;
  for (size_t i = 0; i < b.size(); i += 2) b[i] = 1'000'000 + i;
  const std::vector<AlignedPair> pairs = AlignLists(a, b);
  ExpectAlignment(a, b, pairs);
  EXPECT_EQ(Alone(a, b, pairs), a.size());
}

TEST(Alignment, TooManyEqualElements_AreCutAtUniqueElements) {
  // Between the unique elements, one of equal elements is missing.
  constexpr uint64_t kEqual = 150, kStretches = 200;
  List a, b;
  for (uint64_t stretch = 0; stretch < kStretches; ++stretch) {
    for (List* list : {&a, &b}) {
      list->push_back(1000 + stretch);
      list->push_back(stretch % 2);
      list->resize(list->size() + kEqual - (list == &b ? 1 : 0), 2);
      list->push_back(stretch % 3);
    }
  }
  ASSERT_GT(kEqual * kStretches * (kEqual - 1) * kStretches, kMaxCandidates);
  const std::vector<AlignedPair> pairs = AlignLists(a, b);
  ExpectAlignment(a, b, pairs);
  EXPECT_EQ(Alone(a, b, pairs), kStretches);
}

TEST(Alignment, ManyEditsWithoutUniqueElements_GiveSomeAlignment) {
  std::mt19937 random(9);
  List a(20000), b(20000);
  for (uint64_t& value : a) value = random() % 3;
  for (uint64_t& value : b) value = random() % 3 + 1;
  const std::vector<AlignedPair> pairs = AlignLists(a, b);
  ExpectAlignment(a, b, pairs);
  EXPECT_GT(pairs.size(), 50u);
}

TEST(LongestAscending, IsTheLongest) {
  const std::vector<uint32_t> values = {5, 1, 2, 9, 3, 4, 0};
  EXPECT_THAT(LongestAscending(values), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(LongestAscending({}), ElementsAre());
}

}  // namespace
}  // namespace ringscope
