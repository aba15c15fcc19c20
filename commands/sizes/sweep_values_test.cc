#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/sizes/sizes.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kKi = 1024;

std::vector<uint64_t> Sizes(std::string_view text) { return ParseSizeList(text).value().sizes; }
template <typename T>
std::string ValueErrorOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(SweepSizes, List_IsSortedAndHasNoneTwice) {
  EXPECT_THAT(Sizes("2M,1M,2048k"), ElementsAre(1024 * kKi, 2048 * kKi));
}

TEST(SweepSizes, Range_Doubles) {
  EXPECT_THAT(Sizes("64k..512k"), ElementsAre(64 * kKi, 128 * kKi, 256 * kKi, 512 * kKi));
}

TEST(SweepSizes, RangeThatMissesItsEnd_HasItAllTheSame) {
  EXPECT_THAT(Sizes("64k..200k"), ElementsAre(64 * kKi, 128 * kKi, 200 * kKi));
  EXPECT_THAT(Sizes("64k..64k"), ElementsAre(64 * kKi));
}

TEST(SweepSizes, Factor_RoundsUpToPages) {
  EXPECT_THAT(Sizes("64k..200kx1.5"), ElementsAre(64 * kKi, 96 * kKi, 144 * kKi, 200 * kKi));
  EXPECT_THAT(Sizes("100k..200kx1.7"), ElementsAre(100 * kKi, 172 * kKi, 200 * kKi));
}

TEST(SweepSizes, BufferInFront_IsTheirBuffer) {
  const SizeList list = ParseSizeList("3=4k,8k").value();
  EXPECT_EQ(list.buffer, BufferId{3});
  EXPECT_THAT(list.sizes, ElementsAre(4 * kKi, 8 * kKi));
}

TEST(SweepSizes, Nonsense_IsRefused) {
  EXPECT_THAT(ValueErrorOf(ParseSizeList("0")), HasSubstr("too small"));
  EXPECT_THAT(ValueErrorOf(ParseSizeList("1M,")), HasSubstr("a value is missing"));
  EXPECT_THAT(ValueErrorOf(ParseSizeList("2M..1M")), HasSubstr("smaller size first"));
  EXPECT_THAT(ValueErrorOf(ParseSizeList("1M..2Mx1")), HasSubstr("is not a factor"));
  EXPECT_THAT(ValueErrorOf(ParseSizeList("1M..2Mxnan")), HasSubstr("is not a factor"));
  EXPECT_THAT(ValueErrorOf(ParseSizeList("1k..1Tx1.01")), HasSubstr("more than 1024 sizes"));
}

TEST(SweepReads, KeepTheirName) {
  const NamedReads reads = ParseSweptReads("every=1s").value();
  EXPECT_EQ(reads.name, "every=1s");
  EXPECT_EQ(reads.choice.every_ns, 1'000'000'000u);
}

TEST(SweepTargets, AreKeepAndLoss) {
  EXPECT_EQ(ParseTarget("keep=30s").value().keep_ns, 30'000'000'000u);
  EXPECT_EQ(ParseTarget("loss=0").value().loss_millionths, 0u);
  EXPECT_EQ(ParseTarget("loss=0.1%").value().loss_millionths, 1000u);
}

TEST(SweepTargets, ShareWithoutItsSign_IsRefused) {
  EXPECT_THAT(ValueErrorOf(ParseTarget("loss=5")), HasSubstr("loss=0.1%"));
  EXPECT_THAT(ValueErrorOf(ParseTarget("loss=101%")), HasSubstr("not a target"));
  EXPECT_THAT(ValueErrorOf(ParseTarget("keep=30")), HasSubstr("not a time"));
}

}  // namespace
}  // namespace ringscope
