#include "core/log/service_reads.h"

#include <gmock/gmock.h>

#include "core/base/wire.h"
#include "core/session/replay.h"
#include "core/testing/message_text.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kReadMs = 1'000'000;

struct ConfigFields {
  uint64_t period_ms = 0;
  uint64_t flush_mode = 0;
  uint64_t trigger_mode = 0;
  const char* trigger = nullptr;
  bool into_file = true;
  bool deferred = false;
};

Op ConfigOp(const ConfigFields& fields) {
  std::string config;
  if (fields.into_file) config += Uint(8, 1);
  if (fields.period_ms != 0) config += Uint(9, fields.period_ms);
  if (fields.deferred) config += Uint(12, 1);
  if (fields.flush_mode != 0) config += Uint(44, fields.flush_mode);
  if (fields.trigger != nullptr)
    config += Sub(17, Uint(1, fields.trigger_mode) + Sub(2, Sub(1, fields.trigger)));
  return {.time_ns = {}, .body = TraceConfigRecord{config, {}}};
}

/// CLOCK_BOOTTIME and CLOCK_MONOTONIC at one instant.
Op ClocksOp(uint64_t boot_ns, uint64_t monotonic_ns) {
  const std::string snapshot =
      Sub(1, Uint(1, 6) + Uint(2, boot_ns)) + Sub(1, Uint(1, 3) + Uint(2, monotonic_ns));
  return {.time_ns = {}, .body = ClockSnapshotRecord{snapshot}};
}

/// Replays records at times in ms; chunk n of buffer 0 holds a packet of n + 1 bytes.
class ServiceReadsTest : public ::testing::Test {
 protected:
  void Start(ReplayOptions options = {}) {
    replay_.emplace(std::move(options), log_);
    Apply(BufferOp(0, 65536));
  }
  void Apply(Op op) { ASSERT_TRUE(replay_->Apply(op)); }
  void At(double ms, Op op) {
    op.time_ns = static_cast<uint64_t>(ms * kReadMs);
    Apply(std::move(op));
  }
  void CommitAt(double ms) {
    At(ms, Request(1).Move(0, Chunk(1, 1, chunks_).Whole(1 + chunks_, 'a')).op());
    ++chunks_;
  }
  void ConsumerReads() {
    ReadPass read;
    read.reason = ReadReason::kConsumer;
    Apply({.time_ns = {}, .body = read});
  }
  std::vector<std::string> Finish() {
    EXPECT_TRUE(replay_->Finish());
    std::vector<std::string> reads;
    for (const std::string& line : log_.lines)
      if (line.starts_with("read")) reads.push_back(line.substr(8));
    return reads;
  }

  SessionLog log_;
  std::optional<Replay> replay_;
  uint32_t chunks_ = 0;
};

// From 1,234.5 ms on: the first multiple of 500 ms is 1,500.5 ms, as the service counts in whole
// milliseconds; then 2,000.5 ms.
TEST_F(ServiceReadsTest, ReadsAtMultiplesOfThePeriod) {
  Start();
  At(1234.5, ConfigOp({.period_ms = 500}));
  CommitAt(1300);
  CommitAt(1500.4);
  CommitAt(1500.5);
  CommitAt(2000.4);
  CommitAt(2000.6);
  EXPECT_THAT(Finish(), ElementsAre("2", "2", "1"));
  const ReadsUsed used = replay_->reads().used();
  EXPECT_EQ(used.mode, ReadsMode::kStreamed);
  EXPECT_TRUE(used.assumed);
  EXPECT_TRUE(used.alignment_assumed);
  EXPECT_EQ(used.period_ns, 500 * kReadMs);
}

// The machine slept for 300 ms: multiples of 500 ms of CLOCK_MONOTONIC are at 800 and 1,300 ms.
TEST_F(ServiceReadsTest, PeriodsAreAlignedOnTheMonotonicClock) {
  Start();
  At(600, ConfigOp({.period_ms = 500}));
  At(600, ClocksOp(600 * kReadMs, 300 * kReadMs));
  CommitAt(700);
  CommitAt(900);
  CommitAt(1299);
  CommitAt(1301);
  EXPECT_THAT(Finish(), ElementsAre("1", "2", "1"));
  EXPECT_FALSE(replay_->reads().used().alignment_assumed);
}

// Statistics give ids to sequences that have none: at the first read, and after each 10 s of
// CLOCK_MONOTONIC.
TEST(ServiceReads, StatisticsAreDueAfterEachInterval) {
  ServiceReads reads(/*all=*/false, /*period_ns=*/0);
  reads.Take(ConfigOp({.period_ms = 500}), 600 * kReadMs);
  reads.Take(ClocksOp(600 * kReadMs, 300 * kReadMs), 600 * kReadMs);
  std::vector<double> due;
  for (const double ms : {800.0, 1300.0, 10'299.0, 10'300.0, 10'800.0, 30'900.0, 31'000.0})
    if (reads.TakeStatistics({}, static_cast<uint64_t>(ms * kReadMs))) due.push_back(ms);
  EXPECT_THAT(due, ElementsAre(800, 10'300, 30'900));
}

TEST_F(ServiceReadsTest, PeriodsWithoutACommitAreReadOnce) {
  Start();
  At(0, ConfigOp({.period_ms = 100}));
  CommitAt(50);
  CommitAt(100'000'050);
  CommitAt(100'000'101);
  EXPECT_THAT(Finish(), ElementsAre("1", "1", "1"));
}

// A period of more than 5 s: the read waits for the flush, which the slower producer ends.
TEST_F(ServiceReadsTest, ReadsWhenTheFlushBeforeItIsCompleted) {
  Start();
  At(0, ConfigOp({.period_ms = 10'000}));
  CommitAt(9000);
  for (const uint16_t producer : {uint16_t{1}, uint16_t{2}})
    At(10'001, {.time_ns = {}, .body = FlushRequested{7, ProducerId{producer}}});
  At(10'010, {.time_ns = {}, .body = FlushAcknowledged{ProducerId{1}, 7}});
  CommitAt(10'300);
  At(10'301, {.time_ns = {}, .body = FlushAcknowledged{ProducerId{2}, 7}});
  CommitAt(10'400);
  EXPECT_THAT(Finish(), ElementsAre("2", "1"));
}

TEST_F(ServiceReadsTest, AFlushThatNobodyAnswersDelaysTheReadToItsTimeout) {
  Start();
  At(0, ConfigOp({.period_ms = 1000, .flush_mode = 3}));
  CommitAt(900);
  At(1001, {.time_ns = {}, .body = FlushRequested{7, ProducerId{1}}});
  CommitAt(5900);
  CommitAt(6100);
  EXPECT_THAT(Finish(), ElementsAre("2", "1"));
}

TEST_F(ServiceReadsTest, NobodyToFlush_ReadsAtOnce) {
  Start();
  At(0, ConfigOp({.period_ms = 1000, .flush_mode = 3}));
  CommitAt(900);
  CommitAt(1100);
  EXPECT_THAT(Finish(), ElementsAre("1", "1"));
}

// What is committed after the session has stopped is in no file.
TEST_F(ServiceReadsTest, TheLastReadIsAtTheStop) {
  Start();
  At(0, ConfigOp({.period_ms = 1000}));
  CommitAt(100);
  At(200, {.time_ns = {}, .body = SessionChanged{{}, SessionChange::kStopped, ""}});
  CommitAt(300);
  CommitAt(1100);
  EXPECT_THAT(Finish(), ElementsAre("1"));
}

TEST_F(ServiceReadsTest, TheStartCountsNotTheConfig) {
  Start();
  At(900, ConfigOp({.period_ms = 1000, .deferred = true}));
  At(1200, {.time_ns = {}, .body = SessionChanged{{}, SessionChange::kStarted, ""}});
  CommitAt(1300);
  CommitAt(2001);
  EXPECT_THAT(Finish(), ElementsAre("1", "1"));
}

TEST_F(ServiceReadsTest, ATriggerStartsThePeriods) {
  Start();
  At(900, ConfigOp({.period_ms = 1000, .trigger_mode = 1, .trigger = "crash"}));
  At(2500, {.time_ns = {}, .body = TriggerActivated{ProducerId{1}, "crash"}});
  CommitAt(2600);
  CommitAt(3001);
  EXPECT_THAT(Finish(), ElementsAre("1", "1"));
}

TEST_F(ServiceReadsTest, ReadsOfTheLogAreStronger) {
  Start({.has_reads = [] { return true; }});
  At(0, ConfigOp({.period_ms = 100}));
  CommitAt(50);
  CommitAt(150);
  ReadPass read;
  read.reason = ReadReason::kFile;
  At(155, {.time_ns = {}, .body = read});
  CommitAt(250);
  EXPECT_THAT(Finish(), ElementsAre("2"));
  EXPECT_EQ(replay_->reads().used().mode, ReadsMode::kRecorded);
  EXPECT_FALSE(replay_->reads().used().assumed);
}

// Nobody can look ahead, as on standard input: the log's reads come too late.
TEST_F(ServiceReadsTest, ReadsAfterAnAssumedOneAreLeftOut) {
  Start();
  At(0, ConfigOp({.period_ms = 100}));
  CommitAt(50);
  CommitAt(150);
  At(155, {.time_ns = {}, .body = ReadPass{}});
  EXPECT_THAT(Finish(), ElementsAre("1", "1"));
  EXPECT_EQ(replay_->reads().used().left_out, 1u);
}

// Another period than the config's, and a session without a config.
TEST_F(ServiceReadsTest, Streamed_ReadsWithAnyPeriod) {
  Start({.reads = {ReadsMode::kStreamed, 200 * kReadMs}});
  CommitAt(50);
  CommitAt(199);
  CommitAt(201);
  EXPECT_THAT(Finish(), ElementsAre("2", "1"));
  EXPECT_FALSE(replay_->reads().used().assumed);
}

TEST_F(ServiceReadsTest, AConsumerReadsNothingOfAFilesSession) {
  Start();
  At(0, ConfigOp({}));
  CommitAt(50);
  ConsumerReads();
  EXPECT_THAT(Finish(), ElementsAre("1"));  // the file's, at the end
  EXPECT_EQ(replay_->reads().used().empty_reads, 1u);
  EXPECT_EQ(replay_->reads().used().mode, ReadsMode::kStreamed);
}

TEST_F(ServiceReadsTest, AConsumerReadsNothingBeforeTheTrigger) {
  Start({.reads = {ReadsMode::kRecorded}});
  At(0, ConfigOp({.trigger_mode = 2, .trigger = "crash", .into_file = false}));
  CommitAt(50);
  ConsumerReads();
  At(60, {.time_ns = {}, .body = TriggerActivated{ProducerId{1}, "another"}});
  ConsumerReads();
  At(70, {.time_ns = {}, .body = TriggerActivated{ProducerId{1}, "crash"}});
  ConsumerReads();
  EXPECT_THAT(Finish(), ElementsAre("1"));
  EXPECT_EQ(replay_->reads().used().empty_reads, 2u);
}

TEST_F(ServiceReadsTest, AConsumerReadsNothingOfASessionThatIsOnlyCloned) {
  Start({.reads = {ReadsMode::kRecorded}});
  At(0, ConfigOp({.trigger_mode = 4, .trigger = "crash", .into_file = false}));
  CommitAt(50);
  At(70, {.time_ns = {}, .body = TriggerActivated{ProducerId{1}, "crash"}});
  ConsumerReads();
  EXPECT_THAT(Finish(), IsEmpty());
}

// A read for a file leaves nothing, however much there is.
TEST_F(ServiceReadsTest, ARecordedReadForAFileTakesEverything) {
  Start();
  for (int i = 0; i < 5; ++i) {
    std::string payload = std::string("\x02\x08") + static_cast<char>(i);
    Chunk chunk(1, 1, static_cast<uint32_t>(i));
    chunk.Raw(payload).Counting(1);
    Apply(Request(1).Move(0, chunk).op());
  }
  ReadPass read;
  read.reason = ReadReason::kFile;
  read.max_bytes = 1;
  Apply({.time_ns = {}, .body = read});
  ASSERT_TRUE(replay_->Finish());
  EXPECT_EQ(replay_->reads().passes(), 6u);
}

// The service's own packets in front of it count in the first pass: it ends sooner, and only it.
TEST_F(ServiceReadsTest, OwnPackets_EndTheFirstPassForAFileSooner) {
  struct Case {
    uint64_t own_bytes;
    std::vector<std::string> passes;
  };
  for (const Case& each :
       {Case{0, {"3", "3", "0"}}, Case{100, {"2", "3", "1"}}, Case{1000, {"1", "3", "2"}}}) {
    log_.lines.clear();
    Start();
    for (uint32_t i = 0; i < 6; ++i) {  // packets of 100 bytes, and the service's fields
      Chunk chunk(1, 1, i);
      chunk.Raw("\x64\x0A\x62" + std::string(98, 'x')).Counting(1);
      Apply(Request(1).Move(0, chunk).op());
    }
    ReadPass read;
    read.reason = ReadReason::kFile;
    read.max_bytes = 300;
    read.own_bytes = each.own_bytes;
    Apply({.time_ns = {}, .body = read});
    EXPECT_EQ(Finish(), each.passes) << each.own_bytes;
  }
}

// It would never end.
TEST_F(ServiceReadsTest, PassesOfNoBytesForAFile_ReadAPacketEach) {
  Start();
  CommitAt(1);
  ReadPass read;
  read.reason = ReadReason::kFile;
  read.max_bytes = 0;
  Apply({.time_ns = {}, .body = read});
  EXPECT_FALSE(Finish().empty());
}

/// Five packets, of which the recorded session read two and found no more.
class LastReadTest : public ServiceReadsTest {
 protected:
  std::vector<std::string> ReplayInto(ReplayOptions options,
                                      ReadReason reason = ReadReason::kConsumer,
                                      std::vector<std::optional<bool>> left_nothing = {{}, {}}) {
    Start(std::move(options));
    for (int i = 0; i < 5; ++i) {
      Chunk chunk(1, 1, static_cast<uint32_t>(i));
      chunk.Raw(std::string("\x02\x08") + static_cast<char>(i)).Counting(1);
      Apply(Request(1).Move(0, chunk).op());
    }
    ReadPass read;
    read.max_bytes = 1;
    read.reason = reason;
    for (const std::optional<bool> recorded : left_nothing) {
      read.left_nothing = recorded;
      Apply({.time_ns = {}, .body = read});
    }
    Apply({.time_ns = {}, .body = BufferFreed{BufferId{0}}});
    return Finish();
  }
  static ReplayOptions Larger() {
    ReplayOptions options;
    options.session.all.size = 131072;
    return options;
  }
};

TEST_F(LastReadTest, GoesOnInALargerBuffer) {
  EXPECT_THAT(ReplayInto(Larger()), ElementsAre("1", "1", "1", "1", "1", "0"));
  EXPECT_EQ(replay_->reads().used().added_passes, 4u);
}

TEST_F(LastReadTest, StaysAsRecordedInTheRecordedBuffer) {
  EXPECT_THAT(ReplayInto({}), ElementsAre("1", "1"));
  EXPECT_EQ(replay_->reads().used().added_passes, 0u);
}

TEST_F(LastReadTest, StaysAsRecordedIfTheRecordedOneDidNotFinish) {
  EXPECT_THAT(ReplayInto(Larger(), ReadReason::kUnknown, {false, false}), ElementsAre("1", "1"));
}

// The service itself continues a consumer's read until nothing is left. A recording that is inexact
// or cut off need not show that.
TEST_F(LastReadTest, OfAConsumerGoesOnEvenSo) {
  EXPECT_THAT(ReplayInto(Larger(), ReadReason::kConsumer, {false, false}),
              ElementsAre("1", "1", "1", "1", "1", "0"));
  EXPECT_TRUE(replay_->reads().used().recorded_end_unknown);
}

TEST_F(LastReadTest, GoesOnAtOnceWhereTheRecordedOneFinished) {
  EXPECT_THAT(ReplayInto(Larger(), ReadReason::kConsumer, {true, true}),
              ElementsAre("1", "1", "1", "1", "1", "0", "0"))
      << "the first of two reads takes everything";
  EXPECT_FALSE(replay_->reads().used().recorded_end_unknown);
}

TEST_F(LastReadTest, GoesOnInAnotherEngine) {
  ReplayOptions options;
  options.session.all.engine = "v2@54";
  EXPECT_THAT(ReplayInto(std::move(options)), ElementsAre("1", "1", "1", "1", "1", "0"));
}

TEST_F(LastReadTest, TheLogsOwnSizeIsNoOtherBuffer) {
  ReplayOptions options;
  options.session.all.size = 65536;
  EXPECT_THAT(ReplayInto(std::move(options)), ElementsAre("1", "1"));
}

}  // namespace
}  // namespace ringscope::testing
