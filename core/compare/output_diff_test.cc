#include "core/compare/output_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace ringscope {
namespace {

/// Differences in the results: everything but counters and the order across sequences.
uint64_t ResultsOfOutputs(const DiffCounts& counts) {
  return counts.all() - counts[DifferenceKind::kCounter] - counts[DifferenceKind::kOrder];
}

using OutputKind = DifferenceKind;

/// A result in the making: each letter of a sequence is a packet of that content.
class Results {
 public:
  Results& Sequence(std::string name, std::string_view packets, Identity identity = {1000, 42}) {
    OutputSequence sequence{.name = std::move(name), .identity = identity, .packets = {}};
    for (const char c : packets) {
      sequence.packets.push_back({.hash = static_cast<uint64_t>(c),
                                  .size = 10,
                                  .loss_bits = 0,
                                  .content = 0,
                                  .position = static_cast<uint32_t>(file.packets++)});
    }
    file.sequences.push_back(std::move(sequence));
    return *this;
  }
  ReplayOutput file;
};

OutputDiff DiffOf(const Results& a, const Results& b) {
  return DiffOutputs(a.file, b.file, 10).value();
}

TEST(OutputDiff, EqualResults_AreTheSame) {
  const OutputDiff diff = DiffOf(Results().Sequence("1", "abc").Sequence("2", "xyz"),
                                 Results().Sequence("1", "abc").Sequence("2", "xyz"));
  EXPECT_TRUE(diff.Same());
  EXPECT_EQ(diff.counts.matched, 6u);
  EXPECT_TRUE(diff.sequences.empty());
}

TEST(OutputDiff, OneLostPacket_IsOneDifference) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += static_cast<char>('a' + i % 23);
  std::string fewer = many;
  fewer.erase(700, 1);
  const OutputDiff diff = DiffOf(Results().Sequence("1", many), Results().Sequence("1", fewer));
  EXPECT_EQ(ResultsOfOutputs(diff.counts), 1u);
  EXPECT_EQ(diff.counts.matched, 1999u);
  ASSERT_TRUE(diff.first);
  // The content is there elsewhere: that this one is missing shows as one more in A.
  EXPECT_EQ(diff.first->kind, OutputKind::kDuplicateInA);
  EXPECT_EQ(diff.first->index.a, 700u);
}

TEST(OutputDiff, Sequences_MatchWhateverTheirNames) {
  const OutputDiff diff = DiffOf(Results().Sequence("2", "abc").Sequence("3", "xyz"),
                                 Results().Sequence("3", "abc").Sequence("2", "xyw"));
  EXPECT_EQ(diff.sequences_matched, 2u);
  EXPECT_EQ(diff.counts.matched, 5u);
  EXPECT_EQ(diff.counts[OutputKind::kOnlyInA], 1u);
  EXPECT_EQ(diff.counts[OutputKind::kOnlyInB], 1u);
  ASSERT_EQ(diff.sequences.size(), 1u);
  EXPECT_EQ(diff.sequences[0].name.a, "3");
  EXPECT_EQ(diff.sequences[0].name.b, "2");
}

TEST(OutputDiff, MovedWithinTheSequence_IsReordered) {
  const OutputDiff diff =
      DiffOf(Results().Sequence("1", "abcdef"), Results().Sequence("1", "acdebf"));
  EXPECT_EQ(diff.counts[OutputKind::kReordered], 1u);
  EXPECT_EQ(ResultsOfOutputs(diff.counts), 1u);
  EXPECT_EQ(diff.counts.matched, 6u);
}

TEST(OutputDiff, PacketTwice_IsADuplicate) {
  const OutputDiff diff = DiffOf(Results().Sequence("1", "abc"), Results().Sequence("1", "abbc"));
  EXPECT_EQ(diff.counts[OutputKind::kDuplicateInB], 1u);
  EXPECT_EQ(ResultsOfOutputs(diff.counts), 1u);
}

TEST(OutputDiff, LossBitsAndIdentity_AreCompared) {
  Results a, b;
  a.Sequence("1", "abc");
  b.Sequence("1", "abc", {1000, 43});
  b.file.sequences[0].packets[1].loss_bits = 3;
  const OutputDiff diff = DiffOf(a, b);
  EXPECT_EQ(diff.counts[OutputKind::kLossBits], 1u);
  EXPECT_EQ(diff.counts[OutputKind::kIdentity], 1u);
  EXPECT_EQ(ResultsOfOutputs(diff.counts), 2u);
}

TEST(OutputDiff, OrderAcrossSequences_IsCountedApart) {
  Results a, b;
  a.Sequence("1", "ab").Sequence("2", "x");
  b.Sequence("2", "x").Sequence("1", "ab");
  const OutputDiff diff = DiffOf(a, b);
  EXPECT_EQ(ResultsOfOutputs(diff.counts), 0u);
  EXPECT_EQ(diff.counts[OutputKind::kOrder], 1u);
  EXPECT_FALSE(diff.Same());
}

TEST(OutputDiff, Counters_AreCompared) {
  Results a, b;
  a.Sequence("1", "a").file.stats.push_back({.chunks_written = 1});
  b.Sequence("1", "a").file.stats.push_back({.chunks_written = 2});
  EXPECT_EQ(DiffOf(a, b).counts[OutputKind::kCounter], 1u);
}

// The service gives ids in an order that a replay may miss.
TEST(OutputDiff, OtherIds_AreCounted) {
  const OutputDiff diff = DiffOf(Results().Sequence("2", "abc").Sequence("3", "xy"),
                                 Results().Sequence("2", "abc").Sequence("4", "xy"));
  EXPECT_TRUE(diff.Same());
  EXPECT_EQ(diff.renamed_sequences, 1u);
  EXPECT_EQ(diff.renamed_packets, 2u);
}

TEST(OutputDiff, ResultsOfOtherLogs_AreRefused) {
  const auto none =
      DiffOutputs(Results().Sequence("1", "abc").file, Results().Sequence("1", "xyz").file, 10);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_THAT(none.error().message, ::testing::HasSubstr("only 0 of the 3 packets"));

  Results a, b;
  a.file.stats.resize(1);
  b.file.stats.resize(2);
  const auto other = DiffOutputs(a.file, b.file, 10);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(DiffOutputs(Results().file, Results().file, 10)->Same());
}

TEST(OutputDiff, RandomEdits_AreAllCounted) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Results a;
    std::string kept;
    std::string all;
    for (int i = 0; i < 100; ++i) all += static_cast<char>(33 + i % 200);
    uint64_t lost = 0;
    for (const char c : all) {
      if (random() % 10 == 0)
        ++lost;
      else
        kept += c;
    }
    const OutputDiff diff = DiffOf(Results().Sequence("1", all), Results().Sequence("1", kept));
    EXPECT_EQ(diff.counts[OutputKind::kOnlyInA], lost);
    EXPECT_EQ(ResultsOfOutputs(diff.counts), lost);
    EXPECT_LE(diff.listed[OutputKind::kOnlyInA].size(), 10u);
  }
}

}  // namespace
}  // namespace ringscope
