#include "core/perfetto/fragment.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace ringscope {
namespace {

struct FragmentCase {
  const char* name;
  std::string payload;
  uint32_t offset;
  FragmentStatus status;
  uint32_t body;
  uint32_t end;
};

using S = FragmentStatus;
std::string Long(size_t size) { return std::string(size, 'x'); }

TEST(FragmentTest, Reads) {
  const FragmentCase cases[] = {
      {"Empty", "", 0, S::kNone, 0, 0},
      {"AfterTheEnd", "\1a", 2, S::kNone, 0, 0},
      {"OneByte", "\1a", 0, S::kFragment, 1, 2},
      {"ZeroSize", std::string("\0a", 2), 0, S::kFragment, 1, 1},
      {"TwoByteSize", "\x80\1" + Long(128), 0, S::kFragment, 2, 130},
      {"RedundantSize", std::string("\x81\x80\x00z", 4), 0, S::kFragment, 3, 4},
      {"TenByteSize", "\x81\x80\x80\x80\x80\x80\x80\x80\x80" + std::string("\0z", 2), 0,
       S::kFragment, 10, 11},
      {"ElevenByteSize", Long(0) + std::string(10, '\x80') + std::string("\0z", 2), 0,
       S::kCorrupted, 0, 0},
      // 2^64 + 1 in ten bytes: the value is taken modulo 2^64.
      {"ModuloTwoTo64", "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02z", 0, S::kFragment, 10, 11},
      {"TornSize", "\x80", 0, S::kCorrupted, 0, 0},
      {"TooLarge", "\2a", 0, S::kCorrupted, 0, 0},
      {"HugeSize", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 0, S::kCorrupted, 0, 0},
      {"WriterDrop", "\xFF\xFF\xFF\x7F", 0, S::kWriterDrop, 0, 0},
      {"WriterDropInFiveBytes", std::string("\xFF\xFF\xFF\xFF\x00", 5), 0, S::kWriterDrop, 0, 0},
      {"Second", "\1a\2bc", 2, S::kFragment, 3, 5}};
  for (const FragmentCase& c : cases) {
    SCOPED_TRACE(c.name);
    Fragment fragment;
    const FragmentStatus status =
        ReadFragment(reinterpret_cast<const uint8_t*>(c.payload.data()),
                     static_cast<uint32_t>(c.payload.size()), c.offset, fragment);
    EXPECT_EQ(status, c.status);
    if (status == FragmentStatus::kFragment) {
      EXPECT_EQ(fragment.offset, c.offset);
      EXPECT_EQ(fragment.body, c.body);
      EXPECT_EQ(fragment.end, c.end);
    }
  }
}

TEST(FragmentKindTest, FollowsPlaceAndFlags) {
  const Fragment first{.offset = 0, .body = 1, .end = 5};
  const Fragment middle{.offset = 5, .body = 6, .end = 8};
  const Fragment last{.offset = 8, .body = 9, .end = 12};
  const Fragment only{.offset = 0, .body = 1, .end = 12};
  constexpr uint8_t kBoth = kFirstContinues | kLastContinues;
  EXPECT_EQ(KindOf(first, 12, 0), FragmentKind::kWhole);
  EXPECT_EQ(KindOf(first, 12, kBoth), FragmentKind::kEnd);
  EXPECT_EQ(KindOf(middle, 12, kBoth), FragmentKind::kWhole);
  EXPECT_EQ(KindOf(last, 12, kBoth), FragmentKind::kBegin);
  EXPECT_EQ(KindOf(last, 12, kFirstContinues), FragmentKind::kWhole);
  EXPECT_EQ(KindOf(only, 12, kBoth), FragmentKind::kContinue);
  EXPECT_EQ(KindOf(only, 12, kLastContinues), FragmentKind::kBegin);
  EXPECT_EQ(KindOf(only, 12, kFirstContinues), FragmentKind::kEnd);
}

TEST(VisitPatchedSizes, VisitsTheVarintsThatThePatchMayOverlap) {
  std::vector<uint32_t> offsets;
  for (uint32_t i = 0; i < 1023; ++i) offsets.push_back(3 * i + i % 2);
  size_t looked_at = 0;
  const auto offset_of = [&](size_t index) {
    ++looked_at;
    return offsets[index];
  };
  for (const uint64_t at :
       {uint64_t{0}, uint64_t{1}, uint64_t{1500}, uint64_t{3066}, uint64_t{4000}, UINT64_MAX - 2}) {
    const Patch patch{.offset = at, .data = nullptr};
    std::vector<size_t> expected, visited;
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] + uint64_t{10} > at && (offsets[i] < at || offsets[i] - at < kPatchSize))
        expected.push_back(i);
    looked_at = 0;
    VisitPatchedSizes(patch, offsets.size(), offset_of, [&](size_t i) { visited.push_back(i); });
    EXPECT_EQ(visited, expected) << at;
    EXPECT_LE(looked_at, 11u + visited.size()) << "of 1023 fragments";
  }
}

}  // namespace
}  // namespace ringscope
