// The fast way through many configurations finds what ordinary replays find.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/engine/catalogue.h"
#include "core/session/counted_replay.h"
#include "core/sweep/exact_sweep.h"
#include "core/sweep/kept_batches.h"
#include "core/sweep/needed_sizes.h"
#include "core/sweep/sweep_front.h"
#include "core/sweep/sweep_replay.h"
#include "core/sweep/sweep_run.h"
#include "core/testing/replays_in_turn.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// A log of one session as the input of a sweep.
SweepInput InputOf(const std::string& path) {
  SweepInput input;
  input.open = [path]() -> Result<std::unique_ptr<OpSource>> { return OpenLog(path); };
  input.find_engine = FindEngine;
  input.run_replays = [](const std::vector<SweepReplay*>& replays) {
    return std::make_unique<ReplaysInTurn>(replays);
  };
  input.warn = [](const std::string&) {};
  return input;
}

std::string Text(const PacketCount& count) {
  return fmt::format("{} of {} B", count.packets, count.bytes);
}

/// Where two rows differ; empty: nowhere.
std::string Difference(const SweepRow& fast, const SweepRow& slow) {
  std::string text;
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    if (a != b) text += fmt::format("{}: {} and {}; ", what, a, b);
  };
  compare("buffer", Raw(fast.id), Raw(slow.id));
  compare("engine", fast.engine, slow.engine);
  compare("size", fast.size, slow.size);
  compare("written", Text(fast.written), Text(slow.written));
  compare("read", Text(fast.read), Text(slow.read));
  compare("unread", Text(fast.unread), Text(slow.unread));
  compare("overwritten", fast.overwritten.packets, slow.overwritten.packets);
  compare("discarded", fast.discarded.packets, slow.discarded.packets);
  // Fragments that are committed after newer ones were lost are not added to their packet.
  const auto far_apart = [](uint64_t a, uint64_t b) {
    return std::max(a, b) - std::min(a, b) > 64;
  };
  if (far_apart(fast.overwritten.bytes, slow.overwritten.bytes) ||
      far_apart(fast.discarded.bytes, slow.discarded.bytes))
    text +=
        fmt::format("overwritten bytes: {} and {}, discarded: {} and {}; ", fast.overwritten.bytes,
                    slow.overwritten.bytes, fast.discarded.bytes, slow.discarded.bytes);
  if (fast.stats != slow.stats) text += "stats; ";
  compare("packet loss", fast.losses.sequence_packet_loss, slow.losses.sequence_packet_loss);
  compare("incremental", fast.losses.incremental_sequences_dropped,
          slow.losses.incremental_sequences_dropped);
  if (fast.losses.by_bit != slow.losses.by_bit) text += "loss bits; ";
  compare("history", fast.history_ns, slow.history_ns);
  compare("shortest", fast.shortest_history_ns, slow.shortest_history_ns);
  compare("used", fast.used_bytes, slow.used_bytes);
  compare("sequences", fast.sequences.size(), slow.sequences.size());
  for (size_t i = 0; i < std::min(fast.sequences.size(), slow.sequences.size()); ++i) {
    const SweepSequence& a = fast.sequences[i];
    const SweepSequence& b = slow.sequences[i];
    if (a.sequence != b.sequence || a.written != b.written || a.read != b.read ||
        a.overwritten.packets != b.overwritten.packets || a.history_ns != b.history_ns)
      text += fmt::format(
          "sequence {}: written {} and {}, read {} and {}, overwritten {} and {}, history {} and "
          "{}; ",
          i, Text(a.written), Text(b.written), Text(a.read), Text(b.read), Text(a.overwritten),
          Text(b.overwritten), a.history_ns, b.history_ns);
  }
  return text;
}

/// A configuration through a replay, without falling back. @return nullopt: it needs payloads
std::optional<std::vector<SweepRow>> ThroughShapes(const SweepInput& input,
                                                   const ReplayOptions& config) {
  SweepFront front([](const std::string&) {});
  SweepReplay replay(config, FindEngine);
  const std::unique_ptr<OpSource> ops = input.open().value();
  BatchBuilder& batches = front.batches();
  while (true) {
    const std::optional<Op> op = ops->Next().value();
    if (!op) break;
    if (!front.Apply(*op)) return std::nullopt;
    replay.Apply(*batches.TakeBatch());
  }
  batches.Finish();
  const uint64_t end = batches.last_time_ns().value_or(0);
  replay.Finish(batches.written(), end, end - batches.first_time_ns().value_or(end));
  return batches.problem().empty() ? replay.TakeRows() : std::nullopt;
}

struct Tally {
  uint64_t compared = 0;
  uint64_t need_payloads = 0;
  uint64_t told = 0;  // whose rows tell all losses
};

/// What the rows tell of all losses, without a replay in full, is what such a replay finds.
void ExpectSameLosses(const SweepInput& input, const ReplayOptions& config,
                      std::vector<SweepRow> fast, const std::vector<SweepRow>& slow, Tally& tally) {
  SweepInput closed = input;
  closed.open = []() -> Result<std::unique_ptr<OpSource>> {
    return Fail(ErrorCode::kUnsupported, "the rows do not tell");
  };
  std::vector<std::vector<SweepRow>> rows = {std::move(fast)};
  // As a sweep does it: with the accounts of the session as it was.
  ReplayOptions as_is = config;
  as_is.session.all.size.reset();
  for (auto& [id, choice] : as_is.session.buffers) choice.size.reset();
  const auto needs = FindNeededSizes(input, as_is);
  ASSERT_TRUE(needs) << needs.error().ToString();
  if (!FindLosses(closed, {config}, &needs->own, rows)) return;
  // Whether the service would refuse a packet in fragments, shapes do not tell.
  for (size_t i = 0; i < slow.size(); ++i) {
    if (slow[i].invalid > 0) continue;
    EXPECT_EQ(rows[0][i].lost, slow[i].lost) << i;
  }
  ++tally.told;
}

void ExpectSame(const std::string& path, const ReplayOptions& config, Tally& tally) {
  const SweepInput input = InputOf(path);
  const auto fast = ThroughShapes(input, config);
  if (!fast) {
    ++tally.need_payloads;
    return;
  }
  const auto slow = ReplayConfiguration(input, config);
  ASSERT_TRUE(slow) << slow.error().ToString();
  ASSERT_EQ(fast->size(), slow->size());
  for (size_t i = 0; i < fast->size(); ++i)
    EXPECT_EQ(Difference((*fast)[i], (*slow)[i]), "") << "buffer " << i;
  ExpectSameLosses(input, config, *std::move(fast), *slow, tally);
  ++tally.compared;
}

const char* const kSweptEngines[] = {"v1", "v2@54", "v2@55", "v2@56", "v2@58"};

class SweepCaptureTest : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Captures, SweepCaptureTest, testing::AllCaptures(),
                         testing::NameOfCapture<std::string>);

TEST_P(SweepCaptureTest, ShapesAloneGiveTheRowsOfAReplay) {
  const std::string path =
      testing::TestdataPath("captures/" + GetParam() + "/session.ops.jsonl.zst").string();
  Tally v1, v2;
  for (const std::string engine :
       {"v1", "v2@54", "v2@58"}) {  // the others: over the conformance cases
    Tally& tally = engine == "v1" ? v1 : v2;
    for (const uint64_t size : {16u << 10, 512u << 10}) {
      for (const FillPolicy policy : {FillPolicy::kRingBuffer, FillPolicy::kDiscard}) {
        for (const ReadsMode reads : {ReadsMode::kAuto, ReadsMode::kEvery}) {
          SCOPED_TRACE(fmt::format("{} size {} {} reads {}", engine, size, Name(policy),
                                   static_cast<int>(reads)));
          ReplayOptions config;
          config.session.all = {.engine = engine, .size = size, .policy = policy};
          config.reads = {reads, 100'000'000};
          ExpectSame(path, config, tally);
        }
      }
    }
  }
  // v2@54 does strange things in small buffers.
  EXPECT_LE(v2.need_payloads, 6u);
  EXPECT_GE(v2.compared, 10u);
  // V1 overwrites parts of packets whose chunks were committed in another order.
  EXPECT_LE(v1.need_payloads, 3u);
  EXPECT_GE(v1.compared, 5u);
}

/// Fills `kept` with what a replay of the session sends to its buffers.
void ReplayInto(const SweepInput& input, KeptBatches& kept) {
  Ledger ledger(kept);
  ReplayOptions options;
  options.session.find_engine = FindEngine;
  CountedReplay replay(std::move(options), {&ledger, &kept});
  const std::unique_ptr<OpSource> ops = input.open().value();
  while (true) {
    const std::optional<Op> op = ops->Next().value();
    if (!op) break;
    ASSERT_TRUE(replay.Apply(*op));
  }
  ASSERT_TRUE(replay.Finish());
  kept.Finish();
}

SweepInput Closed(SweepInput input) {
  input.open = []() -> Result<std::unique_ptr<OpSource>> {
    return Fail(ErrorCode::kUnsupported, "the log is closed");
  };
  return input;
}

std::vector<ReplayOptions> SomeSizes() {
  std::vector<ReplayOptions> configs;
  for (const uint64_t size : {64u << 10, 512u << 10, 16u << 20})
    configs.emplace_back().session.all.size = size;
  return configs;
}

void ExpectSame(const SweepResult& a, const SweepResult& b) {
  EXPECT_EQ(a.records, b.records);
  EXPECT_EQ(a.recorder_gaps, b.recorder_gaps);
  EXPECT_EQ(a.first_time_ns, b.first_time_ns);
  EXPECT_EQ(a.last_time_ns, b.last_time_ns);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows[i].size(), b.rows[i].size());
    for (size_t j = 0; j < a.rows[i].size(); ++j)
      EXPECT_EQ(Difference(a.rows[i][j], b.rows[i][j]), "") << i;
  }
}

TEST_P(SweepCaptureTest, WhatWasKeptGivesTheRowsOfTheLog) {
  SweepInput input =
      InputOf(testing::TestdataPath("captures/" + GetParam() + "/session.ops.jsonl.zst").string());
  const auto from_log = RunSweep(input, SomeSizes());
  ASSERT_TRUE(from_log);
  KeptBatches of_sweep, of_replay;
  input.kept = &of_sweep;
  ASSERT_TRUE(RunSweep(input, SomeSizes()));
  ReplayInto(input, of_replay);
  for (KeptBatches* const kept : {&of_sweep, &of_replay}) {
    ASSERT_TRUE(kept->complete());
    if (!kept->facts().problem().empty()) continue;  // they are replayed from the log
    SweepInput closed = Closed(input);
    closed.kept = kept;
    const auto again = RunSweep(closed, SomeSizes());
    ASSERT_TRUE(again) << again.error().ToString();
    ExpectSame(*from_log, *again);
  }
}

TEST(KeptBatchesTest, MoreThanTheLimit_IsNotKept) {
  SweepInput input = InputOf(
      testing::TestdataPath(testing::ListTestdata("conformance/cases", ".jsonl.zst").front())
          .string());
  KeptBatches kept(/*max_bytes=*/1);
  input.kept = &kept;
  const auto first = RunSweep(input, SomeSizes());
  ASSERT_TRUE(first);
  EXPECT_FALSE(kept.complete());
  const auto second = RunSweep(input, SomeSizes());
  ASSERT_TRUE(second);
  ExpectSame(*first, *second);
}

TEST(SweepConformanceTest, ShapesAloneGiveTheRowsOfAReplayOrSayThatTheyCanNot) {
  Tally tally;
  for (const std::string& name : testing::ListTestdata("conformance/cases", ".jsonl.zst")) {
    const std::string path = testing::TestdataPath(name).string();
    for (const char* engine : kSweptEngines) {
      SCOPED_TRACE(path + " " + engine);
      ReplayOptions config;
      config.session.all.engine = engine;
      ExpectSame(path, config, tally);
    }
  }
  EXPECT_GT(tally.compared, 80u);
  EXPECT_GT(tally.told, 40u);
}

}  // namespace
}  // namespace ringscope
