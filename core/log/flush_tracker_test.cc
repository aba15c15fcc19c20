#include "core/log/flush_tracker.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr ProducerId kApp{1};
constexpr ProducerId kProbes{2};
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kFinalByService = 2 | 1 << 4;

class FlushTrackerTest : public ::testing::Test {
 protected:
  void At(uint64_t ms, OpBody body) {
    tracker_.Apply(*LifeEventOf({.time_ns = ms * kMillisecond, .body = body}, 0));
  }
  void Ask(uint64_t ms, uint64_t flush, ProducerId producer, uint64_t flags = 0) {
    At(ms, FlushRequested{.flush = flush, .producer = producer, .instances = {}, .flags = flags});
  }
  void Answer(uint64_t ms, uint64_t flush, ProducerId producer) {
    At(ms, FlushAcknowledged{producer, flush});
  }
  /// "requested succeeded failed"
  std::string Counts() const {
    return std::to_string(tracker_.requested()) + " " +
           std::to_string(tracker_.Count(FlushOutcome::kSucceeded)) + " " +
           std::to_string(tracker_.Count(FlushOutcome::kFailed));
  }

  std::vector<FlushAccount> ended_;
  FlushTracker tracker_{[this](const FlushAccount& flush) { ended_.push_back(flush); }};
};

TEST_F(FlushTrackerTest, NobodyAnswers_HasFailedAtTheEnd) {
  Ask(0, 1, kApp);
  EXPECT_EQ(Counts(), "1 0 0");
  tracker_.Finish();
  EXPECT_EQ(Counts(), "1 0 1");
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].outcome, FlushOutcome::kFailed);
  EXPECT_FALSE(ended_[0].timed_out);
}

TEST_F(FlushTrackerTest, OneOfTwoAnswers_HasFailed) {
  Ask(0, 1, kApp);
  Ask(0, 1, kProbes);
  Answer(3, 1, kApp);
  tracker_.Finish();
  EXPECT_EQ(Counts(), "1 0 1");
  EXPECT_EQ(tracker_.missed(), (std::map<ProducerId, uint64_t>{{kProbes, 1}}));
}

TEST_F(FlushTrackerTest, AllAnswer_WithTheirLatencies) {
  Ask(0, 1, kApp);
  Ask(1, 1, kProbes);
  Answer(3, 1, kApp);
  Answer(11, 1, kProbes);
  EXPECT_EQ(Counts(), "1 1 0");
  tracker_.Finish();
  ASSERT_EQ(ended_.at(0).answers.size(), 2u);
  EXPECT_EQ(ended_[0].answers[0].latency_ns(), 3 * kMillisecond);
  EXPECT_EQ(ended_[0].answers[1].latency_ns(), 10 * kMillisecond);
}

// The service asks one after the other, and the first can be faster than that.
TEST_F(FlushTrackerTest, AnswerBeforeTheNextIsAsked_IsNotTheEnd) {
  Ask(0, 1, kApp);
  Answer(1, 1, kApp);
  Ask(2, 1, kProbes);
  EXPECT_EQ(Counts(), "1 0 0");
  Answer(3, 1, kProbes);
  EXPECT_EQ(Counts(), "1 1 0");
}

TEST_F(FlushTrackerTest, AnswerIsForAllOlderFlushes) {
  Ask(0, 1, kApp);
  Ask(0, 2, kApp);
  Answer(5, 2, kApp);
  EXPECT_EQ(Counts(), "2 2 0");
}

TEST_F(FlushTrackerTest, AnswerAfterTheTimeout_ComesTooLate) {
  Ask(0, 1, kApp);
  At(5000, FlushTimedOut{1});
  Answer(6000, 1, kApp);
  EXPECT_EQ(Counts(), "1 0 1");
  tracker_.Finish();
  EXPECT_TRUE(ended_[0].timed_out);
  EXPECT_EQ(ended_[0].answers[0].latency_ns(), 6000 * kMillisecond);
}

TEST_F(FlushTrackerTest, AskingAll_WaitsForThoseThatAreConnected) {
  ProducerConnected producer;
  producer.producer = kApp;
  At(0, producer);
  producer.producer = kProbes;
  At(0, producer);
  At(1, ProducerDisconnected{kProbes});
  At(2, FlushRequested{.flush = 1, .producer = {}});
  EXPECT_EQ(Counts(), "1 0 0");
  Answer(4, 1, kApp);
  EXPECT_EQ(Counts(), "1 1 0");
}

// A producer that disconnects is not taken off the flush that waits for it.
TEST_F(FlushTrackerTest, DisconnectedProducer_MakesItFail) {
  Ask(0, 1, kApp);
  At(1, ProducerDisconnected{kApp});
  tracker_.Finish();
  EXPECT_EQ(Counts(), "1 0 1");
}

TEST_F(FlushTrackerTest, FinalFlush_IsTheServicesOwnAtAStop) {
  Ask(0, 1, kApp, 2 | 2 << 4);  // by the perfetto command
  Answer(1, 1, kApp);
  EXPECT_EQ(tracker_.final_outcome(), FlushOutcome::kOpen);
  Ask(2, 2, kApp, kFinalByService);
  Answer(3, 2, kApp);
  EXPECT_EQ(tracker_.final_outcome(), FlushOutcome::kSucceeded);
  Ask(4, 3, kApp, kFinalByService);
  tracker_.Finish();
  EXPECT_EQ(tracker_.final_outcome(), FlushOutcome::kFailed);
}

TEST_F(FlushTrackerTest, Memory_IsThatOfTheNewest) {
  for (uint64_t id = 1; id <= FlushTracker::kMaxKept + 10; ++id) Ask(id, id, kApp);
  EXPECT_EQ(ended_.size(), 10u);
  EXPECT_EQ(tracker_.Count(FlushOutcome::kFailed), 10u);
  Answer(1, FlushTracker::kMaxKept + 10, kApp);
  EXPECT_EQ(tracker_.Count(FlushOutcome::kSucceeded), FlushTracker::kMaxKept);
}

}  // namespace
}  // namespace ringscope
