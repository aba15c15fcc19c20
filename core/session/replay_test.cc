#include "core/session/replay.h"

#include <gmock/gmock.h>

#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;

/// Replays and returns what was reported.
class ReplayTest : public ::testing::Test {
 protected:
  void Start(ReplayOptions options) { replay_.emplace(std::move(options), log_); }
  void Apply(Op op, std::optional<uint64_t> time_ns = {}) {
    op.time_ns = time_ns;
    ASSERT_TRUE(replay_->Apply(op));
  }
  void CommitAt(std::optional<uint64_t> time_ns, uint32_t chunk) {
    Apply(Request(1).Move(0, Chunk(1, 1, chunk).Whole(1 + chunk, 'a')).op(), time_ns);
  }
  void Read() {
    ReadPass read;
    read.buffer = BufferId{0};
    Apply({.time_ns = {}, .body = read});
  }
  std::vector<std::string> Finish() {
    EXPECT_TRUE(replay_->Finish());
    return log_.lines;
  }

  SessionLog log_;
  std::optional<Replay> replay_;
};

// The first record of a log has the number 0, which is a number like any.
TEST_F(ReplayTest, Record_KeepsItsNumber) {
  class Numbers : public ReplayListener {
   public:
    void OnRecord(const Op&, const LogMoment& moment) override { numbers.push_back(moment.record); }
    std::vector<std::optional<uint64_t>> numbers;
  };
  Numbers log;
  Replay replay({}, log);
  ASSERT_TRUE(replay.Apply(BufferOp(0), 0));
  ASSERT_TRUE(replay.Apply(BufferOp(1), 1));
  EXPECT_THAT(log.numbers, ElementsAre(0, 1));
}

// What an earlier session left in its buffer is not the later one's to read.
TEST_F(ReplayTest, ReadAll_PassesFreedBuffersOver) {
  Start({});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  Apply({.time_ns = {}, .body = BufferFreed{BufferId{0}}});
  Apply(BufferOp(1));
  Apply(Request(2).Move(1, Chunk(2, 1, 0).Whole(5, 'b')).op());
  Read();
  Apply({.time_ns = {}, .body = ReadPass{}});
  EXPECT_THAT(Finish(), ElementsAre("b5 invalid", "read 1: 1"));
  EXPECT_THAT(log_.warnings, ElementsAre("a read of buffer 0, which is not set up: skipped"));
}

TEST_F(ReplayTest, End_ReadsWhatFreedBuffersHeld) {
  Start({.reads = {ReadsMode::kEnd}});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  Apply({.time_ns = {}, .body = BufferFreed{BufferId{0}}});
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "read 0: 1"));
}

TEST_F(ReplayTest, Auto_ReadsAtTheEndWhereNothingWasRead) {
  Start({});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "read 0: 1"));
  EXPECT_EQ(replay_->reads().passes(), 1u);
}

TEST_F(ReplayTest, Auto_ReadsAsRecorded) {
  Start({});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  Read();
  CommitAt({}, 1);
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "read 0: 1"));
}

TEST_F(ReplayTest, Auto_AddsNothingToPlainOperationsIfAsked) {
  Start({.plain_streams_as_recorded = true});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  EXPECT_THAT(Finish(), IsEmpty());
}

TEST_F(ReplayTest, Auto_ReadsASessionAtTheEndAllTheSame) {
  Start({.plain_streams_as_recorded = true});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  Apply({.time_ns = {}, .body = ProducerDisconnected{ProducerId{1}}});
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "read 0: 1"));
}

TEST_F(ReplayTest, End_LeavesRecordedReadsOut) {
  Start({.reads = {ReadsMode::kEnd}});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  Read();
  CommitAt({}, 1);
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "a2 invalid", "read 0: 2"));
}

TEST_F(ReplayTest, None_ReadsNothing) {
  Start({.reads = {ReadsMode::kNone}});
  Apply(BufferOp(0));
  CommitAt({}, 0);
  Read();
  EXPECT_THAT(Finish(), IsEmpty());
}

// Records at 10.0, 11.9, 12.0 and 19 s, read every 2 s: at 12 (before the record of that time), 19
// (once for 14, 16 and 18), and at the end.
TEST_F(ReplayTest, Every_CountsFromTheFirstRecord) {
  Start({.reads = {ReadsMode::kEvery, 2 * kSecond}});
  Apply(BufferOp(0));
  CommitAt(10 * kSecond, 0);
  CommitAt(11'900'000'000, 1);
  CommitAt(12 * kSecond, 2);
  CommitAt(19 * kSecond, 3);
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "a2 invalid", "read 0: 2",  //
                                    "a3 invalid", "read 0: 1",                //
                                    "a4 invalid", "read 0: 1"));
}

TEST_F(ReplayTest, Every_SurvivesTimesThatJump) {
  Start({.reads = {ReadsMode::kEvery, 1}});
  Apply(BufferOp(0));
  CommitAt(5, 0);
  CommitAt(UINT64_MAX, 1);
  CommitAt(0, 2);
  EXPECT_THAT(Finish(), ElementsAre("a1 invalid", "read 0: 1",  //
                                    "a2 invalid", "a3 invalid", "read 0: 2"));
}

}  // namespace
}  // namespace ringscope::testing
