#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/record/service_watch.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorded_bodies.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using testing::Encode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ProducerId kApp{1};
constexpr ProducerId kProbes{2};
constexpr uint64_t kForClone = 3 | 1 << 4;
constexpr uint64_t kServiceSession = 9;

/// A session with buffer 1, which is transferred and which `app` writes to, and buffer 2, which is
/// emptied before and which `probes` writes to.
class FlushWatchTest : public ::testing::Test {
 protected:
  FlushWatchTest() {
    TraceConfigFacts config;
    config.buffers = {{.size_kb = 4, .transfer_on_clone = true},
                      {.size_kb = 4, .clear_before_clone = true}};
    config.unique_session_name = "mine";
    config.sources = {{.name = "a", .target_buffer = 0}, {.name = "b", .target_buffer = 1}};
    buffers_.Start(config);
    Add(kApp, "a", 1);
    Add(kProbes, "b", 2);
    log_.bodies.clear();
  }
  void Add(ProducerId producer, const std::string& source, uint16_t buffer, bool flushes = true) {
    const auto session = buffers_.OnTarget(
        {.data_source = source, .buffer = BufferId{buffer}, .service_session = kServiceSession});
    instances_[{producer, 1}] = {
        .session = session, .target = BufferId{buffer}, .flushes = flushes};
  }
  uint64_t Request(const ipc::CloneSession& request) {
    const std::string bytes = Encode(request);
    return watch_.OnCloneRequested(wire::AsBytes(bytes));
  }
  void Ask(uint64_t flush, ProducerId producer, uint64_t flags = 1 | 1 << 4) {
    watch_.OnRequested({.flush = flush, .producer = producer, .instances = {1}, .flags = flags},
                       kStart);
  }
  void Flush(uint64_t flush, ProducerId producer) { Ask(flush, producer, kForClone); }
  void OnTime(int ms) { watch_.OnTime(kStart + std::chrono::milliseconds(ms)); }
  /// What was logged since the last call: "clone 1 of 1", "clear 2", "take 1", "copy 2", "late 5",
  /// "done".
  std::vector<std::string> Log() {
    std::vector<std::string> texts;
    for (const OpBody& body : log_.bodies) {
      if (const auto* clone = std::get_if<CloneRequested>(&body))
        texts.push_back("clone " + std::to_string(clone->clone) + " of " +
                        (clone->session ? std::to_string(*clone->session) : "?"));
      if (const auto* cleared = std::get_if<BufferCleared>(&body))
        texts.push_back("clear " + std::to_string(Raw(cleared->buffer)));
      if (const auto* cloned = std::get_if<BufferCloned>(&body))
        texts.push_back((cloned->transfer ? "take " : "copy ") +
                        std::to_string(Raw(cloned->buffer)));
      if (const auto* ended = std::get_if<CloneEnded>(&body))
        texts.push_back(ended->success ? "done" : "failed " + ended->error);
      if (const auto* late = std::get_if<FlushTimedOut>(&body))
        texts.push_back("late " + std::to_string(late->flush));
      if (std::holds_alternative<Note>(body)) texts.push_back("note");
      if (const auto* inexact = std::get_if<Inexact>(&body))
        texts.push_back("inexact: " + inexact->detail);
    }
    log_.bodies.clear();
    return texts;
  }

  static constexpr FlushWatch::Clock::time_point kStart{};
  testing::RecordedBodies log_;
  SessionBuffers buffers_{log_, [](const std::string&, int32_t) {}};
  Instances instances_;
  FlushWatch watch_{log_, buffers_, instances_};
};

TEST_F(FlushWatchTest, EachGroupIsClonedWhenItsFlushIsDone) {
  const uint64_t clone = Request({.session_id = kServiceSession});
  EXPECT_THAT(Log(), IsEmpty());  // other requests may be handled before
  watch_.OnRequestHandled();
  EXPECT_THAT(Log(), ElementsAre("clone 1 of 1", "clear 2"));
  Flush(5, kApp);
  Flush(6, kProbes);
  EXPECT_THAT(Log(), IsEmpty());
  watch_.OnAcknowledged(kProbes, 6);
  watch_.OnHandled();
  EXPECT_THAT(Log(), ElementsAre("copy 2"));
  watch_.OnAcknowledged(kProbes, 7);
  watch_.OnHandled();
  EXPECT_THAT(Log(), IsEmpty());
  watch_.OnAcknowledged(kApp, 5);
  EXPECT_THAT(Log(), IsEmpty());
  watch_.OnCloneReply(clone, {.success = true});
  EXPECT_THAT(Log(), ElementsAre("take 1", "done"));
}

// The acknowledgement of one producer can precede the request to the next.
TEST_F(FlushWatchTest, GroupWaitsForAllItsProducers) {
  Add(kProbes, "a", 1);
  Request({.session_id = kServiceSession});
  Flush(5, kApp);
  watch_.OnAcknowledged(kApp, 5);
  watch_.OnHandled();
  EXPECT_THAT(Log(), ElementsAre("clone 1 of 1", "clear 2", "copy 2"));  // nobody flushes 2
  Flush(5, kProbes);
  watch_.OnAcknowledged(kProbes, 5);
  watch_.OnHandled();
  EXPECT_THAT(Log(), ElementsAre("take 1"));
}

// The service clones it in a task of its own, and may read for a file before: its reply shows that.
TEST_F(FlushWatchTest, GroupWithoutFlushes_IsClonedWhenTheServiceReplies) {
  for (const bool replies : {true, false}) {
    Add(kApp, "a", 1, /*flushes=*/false);
    const uint64_t clone = Request({.session_id = kServiceSession});
    watch_.OnRequestHandled();
    Log();
    watch_.OnRead(1);
    if (replies) {
      watch_.OnCloneReply(clone, {.success = true});
      EXPECT_THAT(Log(), ElementsAre("take 1", "copy 2", "done"));
    } else {
      watch_.OnHandled();
      EXPECT_THAT(Log(), ElementsAre(HasSubstr("before or after a read"), "take 1"));
    }
  }
}

// The service clones when its flush has timed out, and replies then.
TEST_F(FlushWatchTest, ReplyAfterATimeout_IsTheInstant) {
  const uint64_t clone = Request({.session_id = kServiceSession});
  Flush(5, kApp);
  Flush(6, kProbes);
  watch_.OnAcknowledged(kProbes, 6);
  watch_.OnHandled();
  Log();
  OnTime(5000);
  EXPECT_THAT(Log(), ElementsAre("late 5"));
  watch_.OnCloneReply(clone, {.success = true});
  EXPECT_THAT(Log(), ElementsAre("take 1", "done"));
}

// A session that is not started is cloned without a flush.
TEST_F(FlushWatchTest, Reply_ClonesWhatWasNotFlushed) {
  const uint64_t clone = Request({.session_id = kServiceSession});
  Log();
  watch_.OnCloneReply(clone, {.success = true});
  EXPECT_THAT(Log(), ElementsAre("clone 1 of 1", "clear 2", "take 1", "copy 2", "done"));
}

// What was handled before the last acknowledgement is in the clone, what comes later is not.
TEST_F(FlushWatchTest, Cloning_UntilTheServiceHasHandledTheLastAcknowledgement) {
  EXPECT_FALSE(watch_.IsCloning());
  const uint64_t clone = Request({.session_id = kServiceSession});
  Flush(5, kApp);
  Flush(6, kProbes);
  watch_.OnPassed(BufferId{1});
  watch_.OnAcknowledged(kApp, 4);
  watch_.OnHandled();
  watch_.OnAcknowledged(kApp, 5);
  watch_.OnHandled();
  EXPECT_TRUE(watch_.IsCloning());
  EXPECT_TRUE(watch_.IsCloning(std::set{BufferId{1}, BufferId{2}}));
  EXPECT_FALSE(watch_.IsCloning(std::set{BufferId{1}})) << "that one is cloned";
  EXPECT_FALSE(watch_.IsCloning(std::set{BufferId{9}})) << "of another session";
  watch_.OnPassed(BufferId{1});
  watch_.OnPassed(BufferId{2});
  watch_.OnAcknowledged(kProbes, 6);
  EXPECT_TRUE(watch_.IsCloning());
  watch_.OnHandled();
  EXPECT_FALSE(watch_.IsCloning());
  watch_.OnCloneReply(clone, {.success = true});
  EXPECT_THAT(Log(), ElementsAre("clone 1 of 1", "clear 2", "take 1", "copy 2", "done"));
}

// A producer does not acknowledge, and others commit meanwhile.
TEST_F(FlushWatchTest, TimeoutOfAClonesFlush_IsMarkedIfChunksWereCommitted) {
  const uint64_t clone = Request({.session_id = kServiceSession});
  Flush(5, kApp);
  Flush(6, kProbes);
  Log();
  watch_.OnPassed(BufferId{1});
  OnTime(5000);
  watch_.OnCloneReply(clone, {.success = true});
  EXPECT_THAT(Log(), ElementsAre("late 5", "late 6", HasSubstr("chunks were committed until"),
                                 "take 1", "copy 2", "done"));
}

TEST_F(FlushWatchTest, Failure_ClonesNothing) {
  const uint64_t clone = Request({.session_id = kServiceSession});
  Log();
  watch_.OnCloneReply(clone, {.success = false, .error = "not allowed"});
  EXPECT_THAT(Log(), ElementsAre("clone 1 of 1", "clear 2", "failed not allowed"));
}

TEST_F(FlushWatchTest, SeveralClones_ByNameAndByChoice) {
  watch_.OnCloneReply(Request({.unique_session_name = "mine"}), {.success = true});
  EXPECT_THAT(Log(), ElementsAre("clone 1 of 1", "clear 2", "take 1", "copy 2", "done"));
  watch_.OnCloneReply(Request({.session_id = ipc::kAnySession}), {.success = true});
  EXPECT_THAT(Log(), ElementsAre("clone 2 of 1", "clear 2", "take 1", "copy 2", "done"));
}

TEST_F(FlushWatchTest, AnotherSession_IsNotTakenForThis) {
  watch_.OnCloneReply(Request({.unique_session_name = "other"}), {.success = true});
  EXPECT_THAT(Log(), ElementsAre("clone 1 of ?", "note", "done"));
  watch_.OnCloneReply(Request({.session_id = kServiceSession + 1}), {.success = true});
  EXPECT_THAT(Log(), ElementsAre("clone 2 of ?", "note", "done"));
}

// Of several sessions whose numbers are not known the flush shows which it is.
TEST_F(FlushWatchTest, Flush_ShowsTheSession) {
  buffers_.Start(TraceConfigFacts());
  Request({.session_id = ipc::kAnySession});
  watch_.OnRequestHandled();
  EXPECT_THAT(Log(), ElementsAre("clone 1 of ?"));
  Flush(5, kApp);
  EXPECT_THAT(Log(), ElementsAre("clear 2"));
  watch_.OnAcknowledged(kApp, 5);
  watch_.OnHandled();
  EXPECT_THAT(Log(), ElementsAre("take 1"));
}

TEST_F(FlushWatchTest, Timeout_IsTheConfigs) {
  Ask(5, kApp);
  Ask(5, kProbes);
  Ask(6, kApp);
  watch_.OnAcknowledged(kApp, 6);
  OnTime(4999);
  EXPECT_THAT(Log(), IsEmpty());
  OnTime(5000);
  EXPECT_THAT(Log(), ElementsAre("late 5"));
  OnTime(9000);
  EXPECT_THAT(Log(), IsEmpty());
}

// A consumer chooses how long its flush may take: the service's reply shows that it has ended.
TEST_F(FlushWatchTest, FlushOfAConsumer_EndsWithTheReply) {
  Ask(5, kApp, 4 | 2 << 4);
  Ask(6, kApp);  // the service's own
  OnTime(4999);
  EXPECT_THAT(Log(), IsEmpty());
  watch_.OnConsumersFailure(1);
  EXPECT_THAT(Log(), ElementsAre("late 5"));
  OnTime(5000);
  EXPECT_THAT(Log(), ElementsAre("late 6"));
}

}  // namespace
}  // namespace ringscope
