// A sweep reads a session once, and its rows are those of whole replays.

#include "core/sweep/run_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/engine/catalogue.h"
#include "core/sweep/exact_sweep.h"
#include "core/sweep/kept_batches.h"
#include "core/testing/ops_in_memory.h"
#include "core/testing/replays_in_turn.h"
#include "core/testing/session_log.h"

namespace ringscope {
namespace {

using testing::BufferOp;
using testing::Chunk;
using testing::Request;

/// A session of two writers, the chunks of one of which have parts of packets, and its sweep.
class Sweep {
 public:
  explicit Sweep(const char* engine, bool set_up_again = false) {
    Add(BufferOp(1, 8192));
    for (uint32_t i = 0; i < 60; ++i) {
      if (set_up_again && i == 30) Add(BufferOp(1, 16384));
      Commit(Chunk(1, 1, i).Whole(200, 'h').Whole(30, 'h').Whole(150, 'h'));
      Chunk parts(1, 2, i);
      if (i % 3 == 2) parts.Ends(70, 'h');
      parts.Whole(90, 'h');
      if (i % 3 == 1) parts.Begins(60, 'h');
      Commit(parts);
    }
    input_.open = [this]() -> Result<std::unique_ptr<OpSource>> {
      ++opened_;
      return std::make_unique<testing::OpsInMemory>(ops_);
    };
    input_.find_engine = FindEngine;
    input_.run_replays = [](const auto& replays) {
      return std::make_unique<ReplaysInTurn>(replays);
    };
    input_.warn = [](const std::string&) {};
    input_.kept = &kept_;
    choices_.engines = {engine};
    choices_.reads = {{"end", {ReadsMode::kEnd, 0, {}}}};
    choices_.sizes = {{.buffer = {}, .sizes = {4096, 12288, 20480, 65536}}};
  }

  SweepReport Run() {
    testing::OpsInMemory ops(ops_);
    SweepReport report;
    const SessionFacts facts = ScanSession(ops, {}).value();
    report.plan = MakePlan(choices_, facts).value();
    EXPECT_TRUE(RunPointsAndNeeds(input_, choices_, facts, report));
    return report;
  }
  std::vector<SweepRow> Exact(const SweepPoint& point) {
    return ReplayConfiguration(input_, point.config).value();
  }
  int opened() const { return opened_; }

 private:
  void Add(Op op) {
    op.time_ns = 1000 * (ops_.size() + 1);
    ops_.push_back(std::move(op));
  }
  void Commit(const Chunk& chunk) {
    requests_.push_back(std::make_unique<Request>(uint16_t{1}));
    Add(requests_.back()->Move(1, chunk).op());
  }

  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Op> ops_;
  KeptBatches kept_;
  SweepInput input_;
  SweepChoices choices_;
  int opened_ = 0;
};

void ExpectExact(Sweep& sweep, const SweepReport& report) {
  ASSERT_EQ(report.result.rows.size(), report.plan.points.size());
  for (size_t i = 0; i < report.plan.points.size(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<SweepRow> exact = sweep.Exact(report.plan.points[i]);
    const std::vector<SweepRow>& rows = report.result.rows[i];
    ASSERT_EQ(rows.size(), 1u);
    ASSERT_EQ(exact.size(), 1u);
    EXPECT_EQ(rows[0].written, exact[0].written);
    EXPECT_EQ(rows[0].read, exact[0].read);
    EXPECT_EQ(rows[0].unread, exact[0].unread);
    EXPECT_EQ(rows[0].overwritten.packets, exact[0].overwritten.packets);
    EXPECT_EQ(rows[0].lost, exact[0].lost);
    EXPECT_EQ(rows[0].history_ns, exact[0].history_ns);
    EXPECT_EQ(rows[0].shortest_history_ns, exact[0].shortest_history_ns);
    EXPECT_TRUE(rows[0].stats == exact[0].stats);
  }
}

class RunPoints : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, RunPoints, ::testing::Values("v1", "v2@54", "v2@58"),
                         [](const auto& engine) {
                           return std::string(engine.param).substr(0, 2) +
                                  (engine.index == 0 ? "" : std::string(engine.param).substr(3));
                         });

TEST_P(RunPoints, OnePassFindsAllRowsAndTheSizeNeeded) {
  Sweep sweep(GetParam());
  const SweepReport report = sweep.Run();
  EXPECT_EQ(sweep.opened(), 1);
  EXPECT_EQ(report.plan.points.size(), 5u);  // with the size needed
  ASSERT_TRUE(report.LosslessSizeOf(0, BufferId{1}));
  EXPECT_EQ(report.result.rows.back().at(0).size, report.LosslessSizeOf(0, BufferId{1}));
  ExpectExact(sweep, report);
}

TEST_P(RunPoints, ABufferThatIsSetUpWithAnotherSizeTakesMorePasses) {
  Sweep sweep(GetParam(), /*set_up_again=*/true);
  const SweepReport report = sweep.Run();
  EXPECT_GT(sweep.opened(), 1);
  ExpectExact(sweep, report);
}

}  // namespace
}  // namespace ringscope
