#include "core/log/verdict.h"

#include <gmock/gmock.h>

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Inexact Mark(InexactReason reason, std::optional<uint64_t> session, std::string detail) {
  return {.reason = reason, .session = session, .producer = {}, .detail = std::move(detail)};
}

TEST(Verdict, RecordingWithoutMarks_IsExact) {
  VerdictBuilder builder;
  EXPECT_FALSE(builder.Add(SessionStarted{1, "a"}));
  builder.Add(TraceConfigRecord{});
  builder.Add(ProducerConnected{});
  builder.Add(DataSourceSetUp{});
  builder.Add(SessionEnded{1});
  const RecordingEnded end = builder.Ended(RecordingEnding::kSignal);
  EXPECT_EQ(end.ending, RecordingEnding::kSignal);
  EXPECT_EQ(end.sessions, 1u);
  EXPECT_EQ(end.producers, 1u);
  EXPECT_EQ(end.gaps, 0u);
  EXPECT_THAT(end.verdicts, IsEmpty());
}

TEST(Verdict, MarksAreCounted_ByReasonAndSession) {
  VerdictBuilder builder;
  EXPECT_TRUE(builder.Add(Mark(InexactReason::kReads, 2, "first")));
  builder.Add(Mark(InexactReason::kReads, 2, "second"));
  builder.Add(Mark(InexactReason::kReads, 1, "other"));
  builder.Add(RecorderGap{
      .reason = "slow", .producer = {}, .records = {}, .bytes = {}, .from_ns = {}, .to_ns = {}});
  EXPECT_THAT(builder.Verdicts(),
              ElementsAre(RecordingVerdict{InexactReason::kReads, 1, 1, "other"},
                          RecordingVerdict{InexactReason::kReads, 2, 2, "first"},
                          RecordingVerdict{InexactReason::kRecords, 1, {}, "slow"}));
  EXPECT_EQ(builder.Ended(RecordingEnding::kSignal).gaps, 1u);
}

TEST(Verdict, WhatLivesAtTheEnd_HasNoEnd) {
  VerdictBuilder builder;
  builder.Add(TraceConfigRecord{});
  builder.Add(SessionStarted{1, ""});
  builder.Add(SessionStarted{2, ""});
  builder.Add(SessionEnded{1});
  EXPECT_THAT(builder.Ended(RecordingEnding::kNextPart).verdicts, IsEmpty());
  EXPECT_THAT(builder.Ended(RecordingEnding::kDuration).verdicts,
              ElementsAre(RecordingVerdict{InexactReason::kEnd, 1, 2, "it had not ended"}));
}

TEST(Verdict, WithoutAConsumer_ReadsAreNotKnown) {
  VerdictBuilder builder;
  builder.Add(DataSourceSetUp{});
  const RecordingEnded end = builder.Ended(RecordingEnding::kSignal);
  ASSERT_EQ(end.verdicts.size(), 2u);
  EXPECT_EQ(end.verdicts.front().reason, InexactReason::kReads);
  EXPECT_EQ(end.verdicts.back().reason, InexactReason::kProducers);
  EXPECT_EQ(end.verdicts.back().times, 0u);
}

TEST(Verdict, LastRecordCountsWhatIsNotInTheLog_AndNothingTwice) {
  VerdictBuilder writer;
  writer.AddRemovedParts(3);
  for (int i = 0; i < 5; ++i) writer.Add(Mark(InexactReason::kClone, {}, "c"));
  const RecordingEnded end = writer.Ended(RecordingEnding::kSignal);
  VerdictBuilder reader;  // of the parts that were kept
  reader.Add(Mark(InexactReason::kClone, {}, "c"));
  reader.Add(Mark(InexactReason::kClone, {}, "c"));
  reader.Add(end);
  EXPECT_EQ(reader.Verdicts(), end.verdicts);
}

TEST(Verdict, ManySessions_TakeBoundedMemory) {
  VerdictBuilder builder;
  for (uint64_t session = 0; session < 100'000; ++session)
    builder.Add(Mark(InexactReason::kReads, session, std::string(5000, 'x')));
  const auto verdicts = builder.Verdicts();
  EXPECT_LE(verdicts.size(), 257u);
  uint64_t times = 0;
  for (const RecordingVerdict& verdict : verdicts) {
    times += verdict.times;
    EXPECT_LE(verdict.detail.size(), 1024u);
  }
  EXPECT_EQ(times, 100'000u);
}

}  // namespace
}  // namespace ringscope
