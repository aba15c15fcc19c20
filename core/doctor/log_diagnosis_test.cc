// What doctor makes of logs, of traces with several buffers, and of files that ringscope wrote.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/doctor/finding.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Finding* FindingOf(const Diagnosis& diagnosis, std::string_view rule) {
  for (const Finding& finding : diagnosis.findings)
    if (finding.rule->id == rule) return &finding;
  return nullptr;
}

std::string StagesLineOf(const Diagnosis& diagnosis) {
  for (const AnswerLine& line : diagnosis.answer.lines)
    if (line.label == "Stages") return line.text;
  return "";
}

/// What a replay makes of a log with nothing but a buffer and, perhaps, packets.
TraceFacts FactsOfALog(uint64_t packets) {
  TraceFacts facts;
  facts.all = {packets + 1, 100 * (packets + 1), {}};
  facts.data_packets = packets;
  facts.stats_packets = 1;
  TraceBuffer& buffer = facts.buffers.emplace_back();
  buffer.has_stats = buffer.has_losses = true;
  buffer.stats.buffer_size = 65'536;
  buffer.stats.chunks_written = packets > 0 ? 1 : 0;
  return facts;
}

ReplayFacts LosslessReplay() {
  ReplayFacts replay;
  replay.buffers[0].id = BufferId{1};
  replay.answer = {.severity = Harm::kOk, .headline = "Nothing was lost.", .lines = {}};
  return replay;
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

TEST(DiagnoseLog, WhatALogDoesNotRecordIsNoFinding) {
  const TraceFacts facts = FactsOfALog(5);
  const ReplayFacts replay = LosslessReplay();
  const Diagnosis of_log = Diagnose(facts, &replay);
  EXPECT_TRUE(of_log.findings.empty()) << of_log.answer.headline;
  EXPECT_THAT(of_log.unknown, Contains(HasSubstr("no clock snapshot is in the log")));
  EXPECT_THAT(of_log.unknown, Contains(HasSubstr("no record of the log shows it")));
  EXPECT_THAT(of_log.unknown, Not(Contains(HasSubstr("did no final flush"))));
  // Of a trace, both are known.
  const Diagnosis of_trace = Diagnose(facts);
  EXPECT_NE(FindingOf(of_trace, "clock.no_snapshots"), nullptr);
  EXPECT_THAT(of_trace.unknown, Contains(HasSubstr("did no final flush")));
}

TEST(DiagnoseLog, WithoutDataCitesNoServicesCounts) {
  const TraceFacts facts = FactsOfALog(0);
  const ReplayFacts replay = LosslessReplay();
  const Diagnosis diagnosis = Diagnose(facts, &replay);
  const Finding* const finding = FindingOf(diagnosis, "trace.empty");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->cause.text, "0 chunks of the log came to a buffer.");
  EXPECT_THAT(finding->proof.text, Not(HasSubstr("service")));
}

TEST(DiagnoseLog, ReCommitsThatLoseNothingAreNoLoss) {
  TraceFacts facts = FactsOfALog(5);
  facts.buffers[0].stats.abi_violations = 2;
  ReplayFacts replay = LosslessReplay();
  const auto harm = [&] {
    return FindingOf(Diagnose(facts, &replay), "buffer.abi_violations")->harm;
  };
  EXPECT_EQ(harm(), Harm::kDataLoss);
  replay.buffers[0].harmless_recommits = 1;  // the other was none
  EXPECT_EQ(harm(), Harm::kDataLoss);
  replay.buffers[0].harmless_recommits = 2;
  EXPECT_EQ(harm(), Harm::kInfo);
  EXPECT_EQ(Diagnose(facts, &replay).answer.headline, "Nothing was lost.");
  EXPECT_EQ(FindingOf(Diagnose(facts, &replay), "buffer.abi_violations")->what.text,
            "2 chunks were re-committed against the rules; no packet was lost.");
}

// A trace alone does not show whether the chunk had all its packets already.
TEST(Diagnose, ABrokenRuleIsALossIfAPacketReportsOne) {
  TraceFacts facts = RingAndFullBuffer();
  facts.buffers[0].stats.abi_violations = 1;
  const auto finding_of = [&] { return *FindingOf(Diagnose(facts), "buffer.abi_violations"); };
  EXPECT_EQ(finding_of().harm, Harm::kWarning);
  EXPECT_THAT(finding_of().what.text, HasSubstr("no packet reports that one is missing"));
  facts.sequences.emplace_back().losses.Add(kLossPresent | kLossReadGap);
  EXPECT_EQ(finding_of().harm, Harm::kDataLoss);
}

TEST(Answer, NamesTheBufferWhereThereAreSeveral) {
  const TraceFacts facts = RingAndFullBuffer();
  const Diagnosis diagnosis = Diagnose(facts);
  EXPECT_THAT(diagnosis.answer.headline, StartsWith("buffers[1]: The buffer of 64 KiB was full"));
  EXPECT_THAT(StagesLineOf(diagnosis),
              HasSubstr("in buffers[0] (50 KiB), in buffers[1] at 460 places"));
}

TEST(Diagnose, FailedPatchesAreNotSaidToBeLate) {
  TraceFacts facts = FactsOfALog(5);
  facts.buffers[0].stats.patches_failed = 4;
  facts.buffers[0].stats.patches_succeeded = 6;
  const Diagnosis diagnosis = Diagnose(facts);
  const Finding* const finding = FindingOf(diagnosis, "buffer.patches_failed");
  EXPECT_THAT(finding->what.text,
              HasSubstr("4 of 10 patches that complete packets could not be applied"));
  EXPECT_THAT(finding->cause.text, HasSubstr("does not distinguish"));
}

TEST(Diagnose, AnEmptyFileHasNoPacketsThatCanBeRead) {
  const Diagnosis diagnosis = Diagnose(TraceFacts());
  EXPECT_NE(FindingOf(diagnosis, "trace.empty"), nullptr);
  EXPECT_TRUE(diagnosis.well.empty()) << diagnosis.well.front();
}

}  // namespace
}  // namespace ringscope
