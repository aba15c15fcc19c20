#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/record/service_watch.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorded_bodies.h"
#include "formats/descriptors/descriptors.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionBuffersTest : public ::testing::Test {
 protected:
  /// Buffers set up so far, as "ID:INDEX".
  std::vector<std::string> SetUps() const {
    std::vector<std::string> texts;
    for (const OpBody& body : log_.bodies)
      if (const auto* set_up = std::get_if<BufferSetUp>(&body))
        texts.push_back(std::to_string(Raw(set_up->id)) + ":" +
                        (set_up->index ? std::to_string(*set_up->index) : "-"));
    return texts;
  }
  std::optional<uint64_t> Target(const std::string& source, uint16_t buffer, uint64_t session = 0,
                                 std::string own = {}) {
    return buffers_.OnTarget({.data_source = source,
                              .buffer = BufferId{buffer},
                              .service_session = session,
                              .own = std::move(own)});
  }
  /// The service lists sessions with one buffer of 4 KiB.
  void List(uint64_t session, const std::vector<uint64_t>& ids) {
    std::vector<ipc::ListedSession> listed;
    for (const uint64_t id : ids) listed.push_back({.id = id, .buffer_sizes_kb = {4}});
    buffers_.Identify(session, listed);
  }
  size_t Marks() const {
    return static_cast<size_t>(std::ranges::count_if(
        log_.bodies, [](const OpBody& body) { return std::holds_alternative<Inexact>(body); }));
  }
  static TraceConfigFacts Plan(std::vector<ConfiguredSource> sources, size_t buffers) {
    TraceConfigFacts config;
    config.buffers.resize(buffers, {.size_kb = 4});
    config.sources = std::move(sources);
    return config;
  }

  testing::RecordedBodies log_;
  std::vector<std::string> warnings_;
  SessionBuffers buffers_{log_,
                          [this](const std::string& text, int32_t) { warnings_.push_back(text); }};
};

TEST_F(SessionBuffersTest, DataSourcesJoinGlobalIdsAndIndexes) {
  const auto session = buffers_.Start(
      Plan({{.name = "a", .target_buffer = 1}, {.name = "b", .target_buffer = 0}}, 2));
  Target("a", 18);
  Target("b", 17);
  Target("a", 18);  // of another producer
  EXPECT_THAT(SetUps(), ElementsAre("18:1", "17:0"));
  EXPECT_THAT(buffers_.BuffersOf(session), ElementsAre(BufferId{17}, BufferId{18}));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SessionBuffersTest, OneDataSourceInTwoBuffers_IsTakenInTheConfigsOrder) {
  buffers_.Start(Plan({{.name = "a", .target_buffer = 0}, {.name = "a", .target_buffer = 1}}, 2));
  Target("a", 5);
  Target("a", 6);
  EXPECT_THAT(SetUps(), ElementsAre("5:0", "6:1"));
}

TEST_F(SessionBuffersTest, IdsComeBackAfterASessionsEnd) {
  const auto first = buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  Target("a", 1);
  buffers_.End(first);
  EXPECT_TRUE(buffers_.IsFreed(BufferId{1}));
  buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  Target("a", 1);
  EXPECT_FALSE(buffers_.IsFreed(BufferId{1}));
  EXPECT_THAT(SetUps(), ElementsAre("1:0", "1:0"));
}

// The service may then send a producer something before it replies to a commit.
TEST_F(SessionBuffersTest, CommandsAreExpected_AroundFlushesAndFromTheEndOn) {
  using std::chrono::milliseconds;
  const std::chrono::steady_clock::time_point multiple{milliseconds(60'000)};
  TraceConfigFacts flushes = Plan({{.name = "a", .target_buffer = 0}}, 1);
  flushes.flush_period_ms = 1000;
  const auto first = buffers_.Start(flushes);
  EXPECT_TRUE(buffers_.ExpectsCommands(multiple));
  EXPECT_TRUE(buffers_.ExpectsCommands(multiple - milliseconds(3)));
  EXPECT_TRUE(buffers_.ExpectsCommands(multiple + milliseconds(40)));
  EXPECT_FALSE(buffers_.ExpectsCommands(multiple + milliseconds(500)));
  buffers_.End(first);
  EXPECT_FALSE(buffers_.ExpectsCommands(multiple));
  TraceConfigFacts written = Plan({{.name = "a", .target_buffer = 0}}, 1);
  written.write_into_file = true;
  written.write_flush_mode = WriteFlushMode::kEnabled;  // before each write, each 5 s
  const auto second = buffers_.Start(written);
  EXPECT_TRUE(buffers_.ExpectsCommands(multiple));
  EXPECT_FALSE(buffers_.ExpectsCommands(multiple + milliseconds(500)));
  buffers_.End(second);
  TraceConfigFacts limited = Plan({{.name = "a", .target_buffer = 0}}, 1);
  limited.duration_ms = 3'600'000;
  buffers_.MarkStarted(buffers_.Start(limited));
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(buffers_.ExpectsCommands(now));
  EXPECT_TRUE(buffers_.ExpectsCommands(now + std::chrono::hours(1)));
}

// The service tells producers its number of the session, which decides among sessions alike.
TEST_F(SessionBuffersTest, SessionsAlike_AreToldApartByTheServicesNumber) {
  const auto first = buffers_.Start(
      Plan({{.name = "a", .target_buffer = 0}, {.name = "b", .target_buffer = 1}}, 2));
  buffers_.Identify(first, {{.id = 7, .buffer_sizes_kb = {4, 4}}});
  const auto second = buffers_.Start(
      Plan({{.name = "a", .target_buffer = 0}, {.name = "b", .target_buffer = 1}}, 2));
  buffers_.Identify(second,
                    {{.id = 7, .buffer_sizes_kb = {4, 4}}, {.id = 8, .buffer_sizes_kb = {4, 4}}});
  EXPECT_EQ(Target("a", 1, 7), first);
  EXPECT_EQ(Target("a", 3, 8), second);
  EXPECT_EQ(Target("b", 4, 8), second);
  EXPECT_EQ(Target("b", 2, 7), first);
  EXPECT_EQ(Target("b", 2, 7), first);  // of another producer
  EXPECT_THAT(buffers_.BuffersOf(first), ElementsAre(BufferId{1}, BufferId{2}));
  EXPECT_THAT(buffers_.BuffersOf(second), ElementsAre(BufferId{3}, BufferId{4}));
  const std::string request = testing::Encode(ipc::CloneSession{.session_id = 8});
  EXPECT_EQ(buffers_.ClonedBy(wire::AsBytes(request)), second);
  EXPECT_THAT(warnings_, IsEmpty());
}

// A session names a data source that no producer has matched: its buffer must not be taken for that
// of another session.
TEST_F(SessionBuffersTest, SourceThatNobodyMatched_IsNotTakenForAnother) {
  const auto first = buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  List(first, {7});
  const auto second = buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  List(second, {7, 8});
  EXPECT_EQ(Target("a", 1, 8), second);
  EXPECT_THAT(buffers_.BuffersOf(first), IsEmpty());
  EXPECT_EQ(Marks(), 0u);
  EXPECT_EQ(Target("a", 2, 9), std::nullopt);  // of a consumer that is not recorded
  EXPECT_EQ(Marks(), 1u);                      // its buffer is missing in the log
}

// Without the service's list of sessions.
TEST_F(SessionBuffersTest, DataSourceOfOneSession_ShowsIt) {
  buffers_.Start(Plan({{.name = "b", .target_buffer = 0}}, 1));
  const auto second = buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  EXPECT_EQ(Target("a", 2, 8), second);
  EXPECT_EQ(Marks(), 0u);
}

TEST_F(SessionBuffersTest, GuessAmongSessions_IsMarked) {
  const auto first = buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  EXPECT_EQ(Target("a", 1, 8), first);
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(SessionBuffersTest, OneDataSourceInTwoBuffers_TheConfigDecides) {
  buffers_.Start(Plan({{.name = "a", .target_buffer = 0, .own = "x", .filtered = true},
                       {.name = "a", .target_buffer = 1, .own = "y", .filtered = true}},
                      2));
  Target("a", 6, 7, "y");
  EXPECT_THAT(SetUps(), ElementsAre("6:1"));
  EXPECT_EQ(Marks(), 0u);
}

TEST_F(SessionBuffersTest, OneDataSourceInTwoBuffers_WithFilters_IsMarked) {
  buffers_.Start(Plan({{.name = "a", .target_buffer = 0, .filtered = true},
                       {.name = "a", .target_buffer = 1, .filtered = true}},
                      2));
  Target("a", 6, 7);
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(SessionBuffersTest, Buffers_HaveTheirSession) {
  const auto session = buffers_.Start(Plan({{.name = "a", .target_buffer = 0}}, 1));
  Target("a", 1);
  EXPECT_EQ(std::get<BufferSetUp>(log_.bodies.back()).session, session);
}

TEST_F(SessionBuffersTest, UnknownBuffer_IsSaidOnce) {
  buffers_.SetUp({.id = BufferId{1}, .size = 4096});
  Target("a", 1);
  Target("a", 2);
  Target("a", 2);
  EXPECT_THAT(SetUps(), ElementsAre("1:-"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("--buffer 2=SIZE,POLICY")));
}

TraceConfigFacts FactsOf(std::string_view text) {
  const std::string config = descriptors::Encode("TraceConfig", text, "x").value();
  return ReadTraceConfigFacts(wire::AsBytes(config));
}

TEST(SessionConfig, Text_OfACapture) {
  const TraceConfigFacts plan =
      FactsOf(testing::ReadTestdata("captures/two-buffers-v2/config.pbtxt"));
  ASSERT_EQ(plan.buffers.size(), 2u);
  EXPECT_EQ(plan.buffers[0].size_kb, 256u);
  EXPECT_FALSE(plan.sources.empty());
}

TEST(SessionConfig, Buffers_MayBeNamed) {
  const TraceConfigFacts plan = FactsOf(
      "buffers { size_kb: 4 name: \"x\" } buffers { size_kb: 8 name: \"y\" } "
      "data_sources { config { name: \"a\" target_buffer_name: \"y\" } }");
  ASSERT_EQ(plan.sources.size(), 1u);
  EXPECT_EQ(plan.sources[0].target_buffer, 1u);
}

}  // namespace
}  // namespace ringscope
