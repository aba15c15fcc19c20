// The streams of testdata/diff: for each behaviour that changes between neighbouring releases one,
// minimized. Each shows a difference, nothing can be taken away, and the difference is the rule's.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/testing/memory_run.h"
#include "core/compare/fuzz_run.h"
#include "core/compare/log_differ.h"
#include "core/engine/v2_engine.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"

namespace ringscope {
namespace {

struct RuleStream {
  const char* stream;              // name in testdata/diff
  const char* a;                   // the release before
  const char* b;                   // the release that changed it
  bool V2Rules::*changed;          // the rule
  const char* difference;          // class of the first
  std::array<uint64_t, 4> counts;  // of packets only in A, only in B, with other bits; of counters
};

constexpr auto kGrown = &V2Rules::readmits_grown_chunk;
constexpr auto kIncomplete = &V2Rules::scrape_keeps_incomplete;
constexpr auto kWraps = &V2Rules::wraps_at_next_commit;
constexpr auto kRelocates = &V2Rules::relocates_completed_chunk;

constexpr RuleStream kStreams[] = {
    {"54-55-readmits-grown-chunk", "v2@54", "v2@55", kGrown, "only_in_a evicted", {1, 1, 0, 8}},
    {"54-55-scrape-keeps-incomplete",
     "v2@54",
     "v2@55",
     kIncomplete,
     "only_in_b discarded",
     {0, 1, 0, 4}},
    {"54-55-wraps-at-next-commit",
     "v2@54",
     "v2@55",
     kWraps,
     "counter write_wrap_count rises",
     {0, 0, 0, 1}},
    {"54-55-seals-when-exactly-full",
     "v2@54",
     "v2@55",
     kWraps,
     "only_in_a discarded",
     {1, 1, 0, 7}},
    {"55-56-readmission-is-no-gap",
     "v2@55",
     "v2@56",
     &V2Rules::readmission_is_no_gap,
     "loss_bits present/none",
     {0, 0, 1, 2}},
    {"55-56-recommit-before-evict",
     "v2@55",
     "v2@56",
     &V2Rules::recommit_before_evict,
     "only_in_b evicted",
     {0, 1, 1, 8}},
    {"55-56-counts-lost-fragments",
     "v2@55",
     "v2@56",
     &V2Rules::counts_lost_fragments,
     "counter bytes_overwritten falls",
     {0, 0, 0, 2}},
    {"55-56-clearing-consumes-fragments",
     "v2@55",
     "v2@56",
     &V2Rules::clearing_consumes_fragments,
     "counter bytes_overwritten rises",
     {0, 0, 0, 4}},
    {"56-57-reports-loss-causes",
     "v2@56",
     "v2@57",
     &V2Rules::reports_loss_causes,
     "loss_bits present/overwrite",
     {0, 0, 1, 0}},
    {"57-58-allows-writer-drop",
     "v2@57",
     "v2@58",
     &V2Rules::allows_writer_drop,
     "counter abi_violations falls",
     {0, 0, 0, 1}},
    {"57-58-relocates-completed-chunk",
     "v2@57",
     "v2@58",
     kRelocates,
     "only_in_b evicted",
     {0, 1, 0, 9}},
    {"57-58-completed-chunk-moves",
     "v2@57",
     "v2@58",
     kRelocates,
     "counter bytes_written rises",
     {0, 0, 0, 4}},
};
std::vector<StoredOp> ReadStream(const RuleStream& rule) {
  const std::string path =
      std::string(RS_TESTDATA) + "/diff/" + std::string(rule.stream) + ".ops.jsonl";
  std::vector<StoredOp> ops;
  auto log = OpenLog(path);
  if (!log) {
    ADD_FAILURE() << log.error().ToString();
    return ops;
  }
  while (true) {
    const auto op = (*log)->Next().value();
    if (!op) return ops;
    if (!std::holds_alternative<Note>(op->body)) ops.emplace_back(*op);
  }
}

Both<ReplayOptions> SidesOf(const RuleStream& rule) {
  Both<ReplayOptions> sides;
  sides.a.session.all.engine = rule.a;
  sides.b.session.all.engine = rule.b;
  return sides;
}

class NeighbourStream : public ::testing::TestWithParam<RuleStream> {};

INSTANTIATE_TEST_SUITE_P(Releases, NeighbourStream, ::testing::ValuesIn(kStreams),
                         [](const auto& test) {
                           std::string name = test.param.stream;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The class of the first difference; empty: there is none.
std::string Shown(const std::vector<StoredOp>& ops, const Both<ReplayOptions>& sides) {
  const LogDiff diff = DiffOps(ops, {.sides = sides}).value();
  return diff.First() == nullptr ? "" : diff.First()->Class();
}

TEST_P(NeighbourStream, ShowsADifference_AndNoOperationCanGo) {
  const std::vector<StoredOp> ops = ReadStream(GetParam());
  const Both<ReplayOptions> sides = SidesOf(GetParam());
  EXPECT_EQ(Shown(ops, sides), GetParam().difference);
  const LogDiff diff = DiffOps(ops, {.sides = sides}).value();
  const auto count = [&](DifferenceKind kind) { return diff.counts[kind]; };
  const std::array<uint64_t, 4> counts = {
      count(DifferenceKind::kOnlyInA), count(DifferenceKind::kOnlyInB),
      count(DifferenceKind::kLossBits), count(DifferenceKind::kCounter)};
  EXPECT_EQ(counts, GetParam().counts);
  for (size_t i = 0; i < ops.size(); ++i) {
    std::vector<StoredOp> rest = ops;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(Shown(rest, sides), GetParam().difference) << "without record " << i;
  }
}

// The release before shows it as soon as it has this rule, and no other.
TEST_P(NeighbourStream, ShowsThisRule) {
  const FuzzSide before = SideOf(*FindEngine(GetParam().a).value());
  FuzzSide with = before;
  ASSERT_FALSE((*with.rules).*GetParam().changed);
  (*with.rules).*GetParam().changed = true;
  with.info.create = [rules = *with.rules](const EngineConfig& config) {
    return CreateV2Engine(rules, config);
  };
  EXPECT_TRUE(CompareOver({before, with}, {}, ReadStream(GetParam())));
}

TEST(NeighbourStreams, AreThereForEachRuleThatChanges) {
  for (const NamedRule& rule : kNamedRules) {
    const bool listed =
        std::any_of(std::begin(kStreams), std::end(kStreams), [&](const RuleStream& stream) {
          return stream.changed == rule.rule && stream.b == fmt::format("v2@{}", rule.since);
        });
    EXPECT_TRUE(listed) << FullName(rule);
  }
}

TEST(NeighbourStreams, AreAllTested) {
  size_t files = 0;
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(RS_TESTDATA) / "diff"))
    ++files;
  EXPECT_EQ(files, std::size(kStreams));
}

}  // namespace
}  // namespace ringscope
