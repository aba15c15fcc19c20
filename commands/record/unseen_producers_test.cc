// Producers that take part in a recorded session, but are connected to the service itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/session/session_view.h"
#include "commands/testing/live_recording.h"

namespace ringscope::testing {
namespace {

using ::testing::HasSubstr;

std::string ConfigWithSource(const std::string& name) {
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = 64}};
  config.data_sources = {{{.name = name, .target_buffer = 0}}};
  return Encode(config);
}

std::unique_ptr<Producer> Connected(const std::string& socket, const std::string& name,
                                    const std::string& source) {
  auto producer = Producer::Connect(socket, {.name = name, .sources = {{.name = source}}}).value();
  EXPECT_TRUE(producer->Sync());
  return producer;
}

TEST(UnseenProducers, ThoseThatTakePart_AreMarked) {
  LiveRecording run;
  const auto seen = Connected(run.listen(), "app", "events");
  const auto unseen = Connected(run.service_socket(), "app", "events");
  const auto idle = Connected(run.service_socket(), "other", "something else");
  Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
  ASSERT_TRUE(consumer.EnableTracing(ConfigWithSource("events")));
  ASSERT_TRUE(consumer.DisableTracing());
  ASSERT_TRUE(consumer.WaitUntilDisabled());
  ASSERT_TRUE(consumer.FreeBuffers());
  run.recorder().Stop();
  const auto marks = run.log().All<Inexact>();
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].reason, InexactReason::kProducers);
  EXPECT_EQ(marks[0].session, 1u);
  EXPECT_THAT(marks[0].detail, HasSubstr("'app'"));
}

/// Commits a packet, which is a chunk.
void WriteChunk(Producer& producer) {
  ASSERT_TRUE(producer.WaitForSources(1));
  SharedMemoryWriter* const writer = producer.AddWriter(producer.started()[0].buffer).value();
  ASSERT_TRUE(writer->Write(wire::AsBytes(std::string("\x40\x01", 2))));
  ASSERT_TRUE(writer->Finish());
  ASSERT_TRUE(producer.Commit());
  ASSERT_TRUE(producer.Sync());
}

class UnseenProducersOf : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(AConsumerThat, UnseenProducersOf, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "FreesBuffers" : "Leaves"; });

// The service reports what it got, and the recorder knows what it has logged.
TEST_P(UnseenProducersOf, HowMuchTheLogLacks_IsInTheVerdict) {
  LiveRecording run;
  const auto seen = Connected(run.listen(), "app", "events");
  const auto unseen = Connected(run.service_socket(), "other", "events");
  Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
  ASSERT_TRUE(consumer.EnableTracing(ConfigWithSource("events")));
  WriteChunk(*seen);
  WriteChunk(*unseen);
  WriteChunk(*unseen);
  ASSERT_TRUE(consumer.DisableTracing());
  ASSERT_TRUE(consumer.WaitUntilDisabled());
  if (GetParam())
    ASSERT_TRUE(consumer.FreeBuffers());
  else
    consumer.Close();
  ASSERT_TRUE(run.log().WaitFor<RecorderGap>());
  run.recorder().Stop();
  const auto gaps = run.log().All<RecorderGap>();
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_THAT(gaps[0].reason, HasSubstr("committed 2 of the 3 chunks for buffers[0]"));
  VerdictBuilder verdicts;
  for (const Op& op : run.log().ops()) verdicts.Add(op.body);
  EXPECT_EQ(VerdictSentence(verdicts.Verdicts(), false),
            "This recording is not exact, because of producers that it has not seen and its gaps.");
  EXPECT_THAT(VerdictLines(verdicts.Verdicts(), 2), HasSubstr("2 of the 3 chunks"));
}

TEST(UnseenProducers, IfAllAreRecorded_NothingIsMarked) {
  LiveRecording run;
  const auto first = Connected(run.listen(), "app", "events");
  const auto second = Connected(run.listen(), "app", "events");
  Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
  ASSERT_TRUE(consumer.EnableTracing(ConfigWithSource("events")));
  ASSERT_TRUE(run.log().WaitFor<DataSourceSetUp>(2));
  ASSERT_TRUE(consumer.FreeBuffers());
  run.recorder().Stop();
  EXPECT_TRUE(run.log().All<Inexact>().empty());
  EXPECT_GE(run.recorder().counts().checks, 1u);
}

}  // namespace
}  // namespace ringscope::testing
