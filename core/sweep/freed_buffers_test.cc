// All replays agree on what a freed buffer is: it takes no more chunks, no read or clone of the log
// reaches it, and what it held can still be read at the end, or until another buffer has its id:
// with that it is counted as one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/compare/log_differ.h"
#include "core/engine/catalogue.h"
#include "core/ledger/ledger.h"
#include "core/session/replay_outcome.h"
#include "core/sweep/sweep.h"
#include "core/testing/ops_in_memory.h"
#include "core/testing/session_log.h"

namespace ringscope {
namespace {

using testing::BufferOp;
using testing::Chunk;
using testing::Request;

constexpr BufferId kFreed{1};
constexpr BufferId kOpen{2};

/// Buffer 1 is read once, takes one more chunk, and is freed; then a chunk is committed too late.
class FreedBufferLog {
 public:
  /// @param used_again whether another buffer then has its id, and takes a chunk
  explicit FreedBufferLog(bool used_again) {
    Add(BufferOp(Raw(kFreed)));
    Add(BufferOp(Raw(kOpen)));
    Commit(kFreed, Chunk(1, 1, 0).Whole(10, 'h').Whole(12, 'h'));
    Add({.time_ns = {}, .body = ReadPass{.buffer = kFreed}});
    Commit(kFreed, Chunk(1, 1, 1).Whole(14, 'h'));
    Commit(kOpen, Chunk(1, 2, 0).Whole(18, 'h'));
    Add({.time_ns = {}, .body = BufferFreed{kFreed}});
    Commit(kFreed, Chunk(1, 1, 2).Whole(16, 'h'));
    Add({.time_ns = {}, .body = ReadPass{}});
    Add({.time_ns = {}, .body = ReadPass{.buffer = kFreed}});
    Add({.time_ns = {}, .body = CloneRead{kFreed}});
    if (!used_again) return;
    Add(BufferOp(Raw(kFreed)));
    Commit(kFreed, Chunk(1, 1, 3).Whole(20, 'h'));
  }
  const std::vector<Op>& ops() const { return ops_; }

 private:
  void Add(Op op) {
    op.time_ns = ops_.size() + 1;
    ops_.push_back(op);
  }
  void Commit(BufferId buffer, const Chunk& chunk) {
    requests_.push_back(std::make_unique<Request>(uint16_t{1}));
    Add(requests_.back()->Move(Raw(buffer), chunk).op());
  }

  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Op> ops_;
};

struct Counts {
  PacketCount read;
  PacketCount unread;

  friend bool operator==(const Counts&, const Counts&) = default;
  friend void PrintTo(const Counts& counts, std::ostream* out) {
    *out << "read " << counts.read.packets << " of " << counts.read.bytes << " B, unread "
         << counts.unread.packets << " of " << counts.unread.bytes << " B";
  }
};

class FreedBuffer : public ::testing::TestWithParam<std::tuple<const char*, ReadsMode, bool>> {
 protected:
  FreedBuffer() : used_again_(std::get<2>(GetParam())), log_(used_again_) {
    options_.session.all.engine = std::get<0>(GetParam());
    options_.reads.mode = std::get<1>(GetParam());
    input_.open = [this]() -> Result<std::unique_ptr<OpSource>> {
      return std::make_unique<testing::OpsInMemory>(log_.ops());
    };
  }
  Counts Expected() const {
    switch (options_.reads.mode) {
      case ReadsMode::kEnd:
        // The reads at the end reach what has the id then.
        if (used_again_) return {.read = {1, 20}, .unread = {3, 36}};
        return {.read = {3, 36}, .unread = {}};
      case ReadsMode::kNone:
        return {.read = {}, .unread = used_again_ ? PacketCount{4, 56} : PacketCount{3, 36}};
      default:
        return {.read = {2, 22}, .unread = used_again_ ? PacketCount{2, 34} : PacketCount{1, 14}};
    }
  }
  PacketCount Written() const { return used_again_ ? PacketCount{5, 72} : PacketCount{4, 52}; }

  const bool used_again_;
  FreedBufferLog log_;
  ReplayOptions options_;
  SweepInput input_;
};
INSTANTIATE_TEST_SUITE_P(EnginesAndReads, FreedBuffer,
                         ::testing::Combine(::testing::Values("v1", "v2@54", "v2@58"),
                                            ::testing::Values(ReadsMode::kRecorded, ReadsMode::kEnd,
                                                              ReadsMode::kNone),
                                            ::testing::Bool()),
                         [](const auto& test) {
                           return testing::TestNameOf(std::get<0>(test.param)) + "_" +
                                  Name(std::get<1>(test.param)) +
                                  (std::get<2>(test.param) ? "_Reused" : "");
                         });

TEST_P(FreedBuffer, PlainReplayAndLedgerAgree) {
  LedgerSink nothing;
  Ledger ledger(nothing);
  CountedReplay replay(options_, {&ledger});
  for (const Op& op : log_.ops()) ASSERT_TRUE(replay.Apply(op));
  const auto outcome = replay.Finish();
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->buffers.size(), 2u);
  const BufferOutcome& freed = outcome->buffers[0];
  EXPECT_EQ(freed.freed, !used_again_);
  EXPECT_FALSE(outcome->buffers[1].freed);
  EXPECT_EQ((Counts{freed.read, freed.unread}), Expected());

  EXPECT_EQ(ledger.Check(), "");
  const LedgerTotals& totals = ledger.totals().at(kFreed);
  EXPECT_EQ((Counts{totals[Fate::kRead], totals[Fate::kReadable]}), Expected());
  EXPECT_EQ(totals[Fate::kDiscarded], (PacketCount{1, 16}));
  EXPECT_EQ(totals.written, Written());
}

// Without a listener to what happens inside the buffers.
TEST_P(FreedBuffer, UnobservedReplayAgrees) {
  CountedReplay replay(options_, {});
  for (const Op& op : log_.ops()) ASSERT_TRUE(replay.Apply(op));
  const auto outcome = replay.Finish();
  ASSERT_TRUE(outcome);
  const BufferOutcome& freed = outcome->buffers.at(0);
  EXPECT_EQ((Counts{freed.read, freed.unread}), Expected());
}

TEST_P(FreedBuffer, ComparisonAgrees) {
  DiffOptions options;
  options.sides = {options_, options_};
  LogDiffer differ(options);
  uint64_t number = 0;
  for (const Op& op : log_.ops()) ASSERT_TRUE(differ.Apply(op, ++number));
  const auto diff = differ.Finish();
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->buffers.at(0).id, kFreed);
  for (const Side side : kSides) EXPECT_EQ(diff->buffers[0].sides[side].read, Expected().read);
}

TEST_P(FreedBuffer, SweepsAgree) {
  Sweep sweep(input_);
  // The second one is counted without a ledger of its own.
  for (int i = 0; i < 2; ++i) {
    const auto swept = sweep.Run({{0, options_}});
    ASSERT_TRUE(swept);
    const std::vector<SweepRow>& rows = swept->front();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].id, kFreed);
    EXPECT_EQ((Counts{rows[0].read, rows[0].unread}), Expected());
    EXPECT_EQ(rows[0].written, Written());
    EXPECT_EQ(rows[0].full_packets(), 0u);
    EXPECT_EQ(rows[0].written.packets - rows[0].kept_packets() - rows[0].full_packets(),
              1u);  // refused by the service
  }
}

}  // namespace
}  // namespace ringscope
