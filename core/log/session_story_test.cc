#include "core/log/session_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Sub;

constexpr uint64_t kSession = 1;

std::string ConfigWith(std::initializer_list<const char*> sources) {
  std::string config;
  for (const char* name : sources)
    config += Sub(proto::TraceConfig::kDataSources,
                  Sub(proto::DataSource::kConfig, Sub(proto::DataSourceConfig::kName, name)));
  return config;
}

class SessionStoryTest : public ::testing::Test {
 protected:
  void Add(OpBody body) {
    const Op op{.time_ns = ++time_ns_, .body = std::move(body)};
    if (const auto event = LifeEventOf(op, time_ns_)) session_.life.push_back(*event);
  }
  void Config(std::initializer_list<const char*> sources) {
    Add(TraceConfigRecord{.config = ConfigWith(sources), .session = kSession});
  }
  void Producer(uint16_t id, const std::string& name, std::initializer_list<const char*> sources) {
    ProducerConnected producer;
    producer.producer = ProducerId{id};
    producer.name = name;
    Add(producer);
    for (const char* source : sources)
      Add(DataSourceRegistered{.producer = ProducerId{id}, .name = source});
  }
  void SetUpSource(uint16_t producer, uint64_t instance, const std::string& name, uint16_t buffer) {
    Add(DataSourceSetUp{.producer = ProducerId{producer},
                        .instance = instance,
                        .name = name,
                        .target_buffer = BufferId{buffer},
                        .session = kSession});
  }
  void Start(uint16_t producer, uint64_t instance) {
    Add(DataSourceStarted{.producer = ProducerId{producer}, .instance = instance});
  }
  void Write(ProducerId producer, BufferId buffer) {
    session_.sequences.push_back(
        {.sequence = {producer, WriterId{1}}, .buffer = buffer, .commits = 1});
  }
  /// "problem source", or "problem producer" where it is about one.
  std::vector<std::string> Findings() {
    std::vector<std::string> texts;
    for (const SourceFinding& finding : StoryOf(session_).findings)
      texts.push_back(std::string(Name(finding.problem)) + " " + finding.source);
    return texts;
  }

  SessionSummary session_;
  uint64_t time_ns_ = 0;
};

TEST_F(SessionStoryTest, SourcesThatNobodyHas_AndThatNobodyWants) {
  Producer(1, "app", {"track_event"});
  Producer(2, "idle", {"x", "y"});
  Config({"track_event", "linux.ftrace"});
  SetUpSource(1, 1, "track_event", 1);
  Start(1, 1);
  Write(ProducerId{1}, BufferId{1});
  EXPECT_THAT(Findings(), ElementsAre("no_producer linux.ftrace", "unused_producer x, y"));
}

TEST_F(SessionStoryTest, SourceThatWasNotAskedFor) {
  Producer(1, "app", {"track_event"});
  Config({"track_event"});
  EXPECT_THAT(Findings(), ElementsAre("not_set_up track_event", "unused_producer track_event"));
}

TEST_F(SessionStoryTest, StartedAndNeverWrote) {
  Producer(1, "app", {"a", "b", "c"});
  Config({"a", "b", "c"});
  SetUpSource(1, 1, "a", 1);
  SetUpSource(1, 2, "b", 2);
  SetUpSource(1, 3, "c", 3);
  Start(1, 1);
  Start(1, 2);  // and never c
  Write(ProducerId{1}, BufferId{1});
  EXPECT_THAT(Findings(), ElementsAre("never_wrote b"));
}

// Two data sources of one producer in one buffer: which of them wrote is not in the log.
TEST_F(SessionStoryTest, SharedBuffer_ProvesNothing) {
  Producer(1, "app", {"a", "b"});
  Config({"a", "b"});
  SetUpSource(1, 1, "a", 1);
  SetUpSource(1, 2, "b", 1);
  Start(1, 1);
  Start(1, 2);
  Write(ProducerId{1}, BufferId{1});
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(SessionStoryTest, IncompleteCommits_ProveNothing) {
  Producer(1, "app", {"a"});
  Config({"a"});
  SetUpSource(1, 1, "a", 1);
  Start(1, 1);
  session_.recorder_gaps = 1;
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(SessionStoryTest, WithoutRecordsOfProducers_NothingIsFound) {
  Config({"a"});
  EXPECT_THAT(Findings(), IsEmpty());
}

// As in a log that was made of a trace.
TEST_F(SessionStoryTest, ProducersWithoutTheirDataSources_ProveNothing) {
  Producer(1, "app", {});
  Config({"a"});
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(SessionStoryTest, RefusedSession_AsksForNothing) {
  Producer(1, "app", {"a"});
  Config({"b"});
  Add(SessionChanged{.session = kSession, .change = SessionChange::kRefused, .detail = "too many"});
  EXPECT_THAT(Findings(), ElementsAre("unused_producer a"));
}

TEST_F(SessionStoryTest, Flushes_AreThoseOfTheTracker) {
  Producer(1, "app", {});
  for (uint64_t flush = 1; flush <= 3; ++flush) {
    Add(FlushRequested{.flush = flush, .producer = ProducerId{1}});
    time_ns_ += 10 * flush;
    if (flush < 3) Add(FlushAcknowledged{ProducerId{1}, flush});
  }
  const SessionStory story = StoryOf(session_);
  ASSERT_EQ(story.flushes.size(), 3u);
  EXPECT_EQ(story.flushes[1].answers[0].latency_ns(), 21u);
  EXPECT_FALSE(story.flushes[2].answers[0].acknowledged);
}

}  // namespace
}  // namespace ringscope
