// What doctor makes of logs, of traces with several buffers, and of files that ringscope wrote.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/examine/examination.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Finding* FindingOf(const Examination& diagnosis, std::string_view rule) {
  for (const Finding& finding : diagnosis.findings)
    if (finding.rule->id == rule) return &finding;
  return nullptr;
}

std::string StagesLineOf(const Examination& diagnosis) {
  for (const AnswerLine& line : diagnosis.answer.lines)
    if (line.label == "Stages") return line.text;
  return "";
}

/// What a replay makes of a log with nothing but a buffer and, perhaps, packets.
TraceFacts FactsOfALog(uint64_t packets) {
  TraceFacts facts;
  facts.all = {packets + 1, 100 * (packets + 1), {}};
  facts.data_packets = facts.trusted_packets = packets;
  facts.service_packets = 1;
  facts.stats_packets = 1;
  TraceBuffer& buffer = facts.buffers.emplace_back();
  buffer.has_stats = buffer.has_losses = true;
  buffer.stats.buffer_size = 65'536;
  buffer.stats.chunks_written = packets > 0 ? 1 : 0;
  return facts;
}

/// The replay of a log of 20 s whose only buffer is number 5.
/// @param lost packets of the 7 that were written
LogEvidence ReplayOfALog(uint64_t lost) {
  LogEvidence log;
  log.outcome.first_time_ns = 0;
  log.outcome.last_time_ns = 20'000'000'000;
  log.outcome.buffers.push_back({.id = BufferId{5}, .size = 65'536});
  BufferGaps& gaps = log.gaps.buffers.emplace_back();
  gaps.id = BufferId{5};
  gaps.totals.written = {7, 700};
  gaps.totals.by_fate[Fate::kRead] = {7 - lost, 100 * (7 - lost)};
  gaps.totals.by_fate[Fate::kOverwritten] = {lost, 100 * lost};
  return log;
}

/// A trace with a ring that wrapped and a buffer that was full.
TraceFacts RingAndFullBuffer() {
  using BufferConfig = proto::TraceConfig::BufferConfig;
  using testing::MessageText;
  TraceFacts facts = FactsOfALog(10);
  facts.buffers.push_back(facts.buffers[0]);
  BufferStats& ring = facts.buffers[0].stats;
  ring.bytes_written = 100 * 1024;
  ring.bytes_overwritten = 50 * 1024;
  ring.chunks_written = 100;
  ring.chunks_overwritten = 50;
  BufferStats& full = facts.buffers[1].stats;
  full.bytes_written = 60 * 1024;
  full.chunks_written = 16;
  full.chunks_discarded = 460;
  const auto buffer = [](uint64_t policy) {
    return MessageText().Uint(BufferConfig::kSizeKb, 64).Uint(BufferConfig::kFillPolicy, policy);
  };
  facts.config = MessageText()
                     .Inner(proto::TraceConfig::kBuffers, buffer(1))
                     .Inner(proto::TraceConfig::kBuffers, buffer(2))
                     .Inner(proto::TraceConfig::kDataSources,
                            MessageText().Inner(
                                proto::TraceConfig::DataSource::kConfig,
                                MessageText().Text(proto::DataSourceConfig::kName, "com.example")))
                     .text();
  return facts;
}

TEST(ExamineLog, WhatALogDoesNotRecordIsNoFinding) {
  const TraceFacts facts = FactsOfALog(5);
  const Examination of_log = ExamineLog(ReplayOfALog(0), facts, {});
  EXPECT_TRUE(of_log.findings.empty()) << of_log.answer.headline;
  EXPECT_THAT(of_log.unknown, Contains(HasSubstr("no clock snapshot is in the log")));
  EXPECT_THAT(of_log.unknown, Contains(HasSubstr("the log has no record of a final flush")));
  EXPECT_THAT(of_log.unknown, Not(Contains(HasSubstr("did no final flush"))));
  // Of a trace, both are known.
  TraceFacts trace = facts;
  trace.service_version = "Perfetto v49.0";
  const Examination of_trace = ExamineTrace(trace);
  EXPECT_NE(FindingOf(of_trace, "clock.no_snapshots"), nullptr);
  EXPECT_THAT(of_trace.unknown, Contains(HasSubstr("did no final flush")));
}

TEST(ExamineLog, WithoutDataCitesNoServicesCounts) {
  const TraceFacts facts = FactsOfALog(0);
  const Examination diagnosis = ExamineLog(ReplayOfALog(0), facts, {});
  const Finding* const finding = FindingOf(diagnosis, "trace.empty");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->cause.text, "0 chunks of the log came to a buffer.");
  EXPECT_THAT(finding->proof.text, Not(HasSubstr("service")));
}

TEST(ExamineLog, ReCommitsThatLoseNothingAreNoLoss) {
  TraceFacts facts = FactsOfALog(5);
  facts.buffers[0].stats.abi_violations = 2;
  LogEvidence replay = ReplayOfALog(0);
  const auto examine = [&] { return ExamineLog(replay, facts, {}); };
  const auto harm = [&] { return FindingOf(examine(), "buffer.abi_violations")->harm; };
  BufferGaps& gaps = replay.gaps.buffers.front();
  gaps.abi_violations = 2;
  EXPECT_EQ(harm(), Harm::kDataLoss);
  EXPECT_THAT(examine().answer.headline, StartsWith("Data that broke the rules"));
  EXPECT_EQ(examine().answer.lines.front().text,
            "No packet of the log was lost, but more may be missing: abi_violations: 2.");
  gaps.abi_violations = 1;  // the other was a re-commit
  EXPECT_EQ(harm(), Harm::kDataLoss);
  gaps.abi_violations = 0;
  EXPECT_EQ(harm(), Harm::kInfo);
  EXPECT_EQ(examine().answer.headline, "Nothing was lost.");
  const Examination examination = examine();
  EXPECT_EQ(FindingOf(examination, "buffer.abi_violations")->what.text,
            "2 chunks were re-committed against the rules; no packet was lost.");
}

TEST(ExamineLog, TheLostPacketsAreTheVerdict) {
  TraceFacts facts = FactsOfALog(4);
  facts.buffers[0].stats.abi_violations = 1;
  LogEvidence replay = ReplayOfALog(3);
  replay.gaps.buffers.front().abi_violations = 1;
  const Examination examination = ExamineLog(std::move(replay), facts, {});
  EXPECT_EQ(examination.answer.severity, Harm::kDataLoss);
  EXPECT_EQ(examination.findings.front().rule->id, std::string_view("log.lost"));
  EXPECT_EQ(examination.answer.headline, "3 of 7 packets (42.9%) were lost.");
  const auto also = std::ranges::find(examination.answer.lines, "Also", &AnswerLine::label);
  ASSERT_NE(also, examination.answer.lines.end());
  EXPECT_EQ(also->text, "Chunks that break the protocol");
  EXPECT_EQ(examination.answer.lines.back().label, "Stages");
}

TEST(ExamineLog, ReachAndSizesAreThoseOfTheReplay) {
  TraceFacts facts = FactsOfALog(4);
  facts.buffers[0].stats.chunks_overwritten = 3;
  LogEvidence replay = ReplayOfALog(3);
  RemedyList remedies;
  Remedy& size = remedies.remedies.emplace_back();
  size.buffer = BufferId{5};
  size.changes = {{"buffers[0].size_kb", "324", "keeps all", false}};
  const Examination without = ExamineLog(replay, facts, remedies);
  EXPECT_THAT(FindingOf(without, "buffer.overwritten")->cause.text, Not(HasSubstr("What is left")));
  BufferGaps& gaps = replay.gaps.buffers.front();
  gaps.newest_overwritten_ns = 2'000'000'000;
  SequenceGaps& sequence = gaps.sequences.emplace_back();
  sequence.by_fate[Fate::kOverwritten] = {3, 300};
  sequence.gaps.emplace_back().causes = {{.cause = Cause::kEvicted, .count = {3, 300}}};
  const Examination examination = ExamineLog(replay, facts, remedies);
  EXPECT_EQ(examination.reach.at(0), (Reach{18'000'000'000, false}));
  EXPECT_EQ(examination.answer.headline, "Only the last 18.000 s of 20.000 s are left.");
  const Finding* const finding = FindingOf(examination, "buffer.overwritten");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->cause.text, HasSubstr("The data that is left begins at 2.000 s."));
  ASSERT_EQ(finding->changes.size(), 1u);
  EXPECT_EQ(finding->changes[0].value, "324");
}

// A trace alone does not show whether the chunk had all its packets already.
TEST(ExamineTrace, ABrokenRuleIsALossIfAPacketReportsOne) {
  TraceFacts facts = RingAndFullBuffer();
  facts.buffers[0].stats.abi_violations = 1;
  const auto finding_of = [&] { return *FindingOf(ExamineTrace(facts), "buffer.abi_violations"); };
  EXPECT_EQ(finding_of().harm, Harm::kWarning);
  EXPECT_THAT(finding_of().what.text, HasSubstr("no packet reports that one is missing"));
  facts.sequences.emplace_back().losses.Add(kLossPresent | kLossReadGap);
  EXPECT_EQ(finding_of().harm, Harm::kDataLoss);
}

TEST(Answer, NamesTheBufferWhereThereAreSeveral) {
  const TraceFacts facts = RingAndFullBuffer();
  const Examination diagnosis = ExamineTrace(facts);
  EXPECT_THAT(diagnosis.answer.headline, StartsWith("buffers[1]: The buffer of 64 KiB was full"));
  EXPECT_THAT(StagesLineOf(diagnosis),
              HasSubstr("buffers[0] overwrote 50 KiB; buffers[1] refused 460 chunks"));
}

TEST(ExamineTrace, FailedPatchesAreNotSaidToBeLate) {
  TraceFacts facts = FactsOfALog(5);
  facts.buffers[0].stats.patches_failed = 4;
  facts.buffers[0].stats.patches_succeeded = 6;
  const Examination diagnosis = ExamineTrace(facts);
  const Finding* const finding = FindingOf(diagnosis, "buffer.patches_failed");
  EXPECT_THAT(finding->what.text, HasSubstr("4 of 10 patches could not be applied"));
  EXPECT_THAT(finding->cause.text, HasSubstr("does not distinguish"));
}

TEST(ExamineTrace, AnEmptyFileHasNoPacketsThatCanBeRead) {
  const Examination diagnosis = ExamineTrace(TraceFacts());
  EXPECT_NE(FindingOf(diagnosis, "trace.empty"), nullptr);
  EXPECT_TRUE(diagnosis.well.empty()) << diagnosis.well.front();
}

}  // namespace
}  // namespace ringscope
