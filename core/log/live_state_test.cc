#include "core/log/live_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/log/summary.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ProducerId kProducer{1};
constexpr ProducerId kOtherProducer{2};

std::vector<std::string> KindsOf(const LiveState& state) {
  std::vector<std::string> kinds;
  for (const OpBody& body : state.Records()) kinds.emplace_back(OpKindName(body.index()));
  return kinds;
}

void Add(LiveState& state, const OpBody& body) { state.Add(body); }

/// A tracing session with a producer that writes.
LiveState ASession() {
  LiveState state;
  Add(state, ClockSnapshotRecord{"s"});
  Add(state, SessionStarted{1, "name"});
  Add(state, TraceConfigRecord{"config", 1});
  Add(state, BufferSetUp{.id = BufferId{3}, .index = 0, .size = 4096, .session = 1});
  Add(state, SessionChanged{1, SessionChange::kStarted, ""});
  Add(state, ProducerConnected{.producer = kProducer, .name = "one"});
  Add(state, SharedMemorySetUp{kProducer, 4096, 4096});
  Add(state, DataSourceRegistered{.producer = kProducer, .name = "ds"});
  Add(state, DataSourceSetUp{
                 .producer = kProducer, .instance = 7, .name = "ds", .target_buffer = BufferId{3}});
  Add(state, DataSourceStarted{kProducer, 7});
  Add(state, WriterRegistered{kProducer, WriterId{5}, BufferId{3}});
  return state;
}

TEST(LiveState, WhatLives_InItsOrder) {
  EXPECT_THAT(
      KindsOf(ASession()),
      ElementsAre("clock_snapshot", "session_start", "config", "buffer", "session", "producer",
                  "smb", "data_source", "data_source_setup", "data_source_start", "writer"));
}

TEST(LiveState, Producer_TakesAllThatIsItsWithIt) {
  LiveState state = ASession();
  state.Add(ProducerConnected{.producer = kOtherProducer, .name = "two"});
  state.Add(ProducerDisconnected{kProducer});
  EXPECT_THAT(KindsOf(state), ElementsAre("clock_snapshot", "session_start", "config", "buffer",
                                          "session", "producer"));
}

TEST(LiveState, EndOfASession_WithItsBuffers) {
  LiveState state = ASession();
  state.Add(BufferFreed{BufferId{3}});
  state.Add(SessionEnded{1});
  state.Add(WriterUnregistered{kProducer, WriterId{5}});
  state.Add(DataSourceUnregistered{kProducer, "ds"});
  EXPECT_THAT(KindsOf(state), ElementsAre("clock_snapshot", "producer", "smb"));
}

TEST(LiveState, RefusedSession_LeavesNothing) {
  LiveState state;
  Add(state, SessionStarted{1, ""});
  Add(state, TraceConfigRecord{"c", 1});
  Add(state, SessionChanged{1, SessionChange::kRefused, "no"});
  EXPECT_THAT(KindsOf(state), IsEmpty());
}

TEST(LiveState, AThousandSessions_TakeTheSpaceOfOne) {
  LiveState state;
  for (uint64_t i = 0; i < 1000; ++i) {
    state.Add(SessionStarted{i, ""});
    state.Add(TraceConfigRecord{"c", i});
    state.Add(BufferSetUp{.id = BufferId{static_cast<uint16_t>(i)}, .size = 1, .session = i});
    state.Add(SessionChanged{i, SessionChange::kFlushCalled, ""});
    state.Add(BufferFreed{BufferId{static_cast<uint16_t>(i)}});
    state.Add(SessionEnded{i});
  }
  EXPECT_THAT(KindsOf(state), IsEmpty());
}

}  // namespace
}  // namespace ringscope
