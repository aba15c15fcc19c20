#include "core/gaps/gap_report.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

std::string Bundle(uint32_t cpu, bool lost) {
  return Sub(proto::TracePacket::kFtraceEvents, Uint(1, cpu) + (lost ? Uint(3, 1) : ""));
}

std::string Stats(uint64_t phase, uint32_t cpu, uint64_t overrun, uint64_t dropped) {
  // The phase after the counters: fields have no order.
  return Sub(proto::TracePacket::kFtraceStats,
             Sub(2, Uint(1, cpu) + Uint(3, overrun) + Uint(8, dropped)) + Uint(1, phase));
}

TEST(FtraceLosses, Bundles_ByCpu) {
  FtraceCounters counters;
  for (const std::string& packet : {Bundle(0, false), Bundle(2, true), Bundle(2, false)})
    counters.AddPacket(proto::TracePacket::kFtraceEvents, wire::AsBytes(packet));
  const auto result = FtraceLossesOf(counters);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].cpu, 2u);
  EXPECT_EQ(result[0].bundles, 2u);
  EXPECT_EQ(result[0].bundles_after_loss, 1u);
  EXPECT_FALSE(result[0][FtraceCounter::kOverrun].delta());
}

TEST(FtraceLosses, Stats_CountFromTheStart) {
  FtraceCounters counters;
  for (const std::string& packet : {Stats(1, 3, 100, 7), Stats(2, 3, 140, 7)})
    counters.AddPacket(proto::TracePacket::kFtraceStats, wire::AsBytes(packet));
  const auto result = FtraceLossesOf(counters);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0][FtraceCounter::kOverrun].delta(), 40u);
  EXPECT_EQ(result[0][FtraceCounter::kDroppedEvents].delta(), 0u);
}

TEST(FtraceLosses, OtherContent_IsIgnored) {
  const std::string packet = Sub(11, Bundle(0, true));
  FtraceCounters counters;
  counters.AddPacket(11, wire::AsBytes(packet));
  EXPECT_TRUE(FtraceLossesOf(counters).empty());
}

TEST(Stages, EachFateHasOne) {
  for (size_t i = 0; i < kFates; ++i) {
    const auto fate = static_cast<Fate>(i);
    const Stage stage = StageOf(fate, Cause::kNone);
    EXPECT_EQ(stage == Stage::kLeft, fate == Fate::kRead) << Name(fate);
    if (IsLoss(fate)) {
      EXPECT_LT(stage, Stage::kElsewhere) << Name(fate);
    }
  }
  EXPECT_EQ(StageOf(Fate::kOverwritten, Cause::kEvicted), Stage::kBuffer);
  EXPECT_EQ(StageOf(Fate::kDiscarded, Cause::kSealed), Stage::kBuffer);
  EXPECT_EQ(StageOf(Fate::kStalled, Cause::kWaitsForPatch), Stage::kBuffer);
  EXPECT_EQ(StageOf(Fate::kDiscarded, Cause::kMayNotWrite), Stage::kCommit);
  EXPECT_EQ(StageOf(Fate::kDiscarded, Cause::kTooLarge), Stage::kCommit);
  EXPECT_EQ(StageOf(Fate::kCut, Cause::kNeverCommitted), Stage::kCommit);
  EXPECT_EQ(StageOf(Fate::kCut, Cause::kNotInLog), Stage::kUnknown);
  EXPECT_EQ(StageOf(Fate::kCut, Cause::kReadGap), Stage::kBuffer);
  EXPECT_EQ(StageOf(Fate::kIncomplete, Cause::kUnfinished), Stage::kSharedMemory);
  EXPECT_EQ(StageOf(Fate::kReadable, Cause::kNone), Stage::kFile);
  EXPECT_EQ(StageOf(Fate::kInvalid, Cause::kRejected), Stage::kFile);
  EXPECT_EQ(StageOf(Fate::kMoved, Cause::kTransferred), Stage::kElsewhere);
}

}  // namespace
}  // namespace ringscope::testing
