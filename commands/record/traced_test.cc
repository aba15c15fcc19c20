// Against a real tracing service: a session through the recorder, replayed, must give the trace
// that the service wrote. Runs where RINGSCOPE_TRACED names the service's program (traced); so do,
// against it, LiveService, StreamedSessions and ConcurrentSessions.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "commands/testing/fake_producer.h"
#include "commands/testing/live_recording.h"
#include "commands/testing/memory_run.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/replay_to_trace.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/trace_content.h"

namespace ringscope::testing {
namespace {

/// A chunk's payload with so many packets.
std::string Packets(int count, uint64_t& timestamp) {
  std::string payload;
  for (int i = 0; i < count; ++i) {
    std::string packet;
    wire::AppendUint(packet, 8, ++timestamp);
    wire::AppendVarint(payload, packet.size());
    payload += packet;
  }
  return payload;
}

TEST(RecordTraced, ReplayEqualsTheTraceItWrote) {
  if (std::getenv("RINGSCOPE_TRACED") == nullptr) GTEST_SKIP() << "RINGSCOPE_TRACED is not set";
  LiveRecording run{RecorderOptions()};
  MemoryLog& log = run.log();
  std::string trace;
  {
    auto consumer = Consumer::Connect(run.consumer_listen()).value();
    const std::string args = EnableTracingArgs(FillPolicy::kRingBuffer);
    ASSERT_TRUE(consumer.EnableTracing(std::string(wire::AsText(
        wire::BytesIn(wire::AsBytes(args), proto::EnableTracingRequest::kTraceConfig)))));

    FakeProducer producer(run.listen(), "p");
    ASSERT_TRUE(producer.Connect());
    ASSERT_TRUE(log.WaitFor<DataSourceSetUp>());
    const BufferId buffer = log.All<DataSourceSetUp>().front().target_buffer;
    producer.RegisterWriter(WriterId{1}, buffer);
    uint64_t timestamp = 1'000'000;
    uint32_t chunk = 0;
    for (int i = 0; i < 100; ++i) {  // more than the buffer holds
      const auto page = producer.FreePage();
      ASSERT_TRUE(page);
      producer.Write({.page = *page,
                      .writer = WriterId{1},
                      .id = ChunkId{chunk++},
                      .fragments = 50,
                      .payload = Packets(50, timestamp)});
      std::string request;
      FakeProducer::AddChunk(request, *page, buffer);
      ASSERT_TRUE(producer.Commit(request));
    }
    const auto page = producer.FreePage();
    ASSERT_TRUE(page);
    producer.Write({.page = *page,
                    .writer = WriterId{1},
                    .id = ChunkId{chunk++},
                    .fragments = 20,
                    .payload = Packets(20, timestamp),
                    .complete = false});
    const uint64_t flush = consumer.StartFlush().value();
    const auto asked = producer.WaitForFlush();
    ASSERT_TRUE(asked);
    std::string acknowledgement;
    CommitRequestBuilder(acknowledgement).SetFlushRequestId(*asked);
    ASSERT_TRUE(producer.Commit(acknowledgement));
    ASSERT_TRUE(consumer.WaitFor(flush));
    ASSERT_TRUE(consumer.DisableTracing());
    ASSERT_TRUE(consumer.WaitUntilDisabled());
    ASSERT_TRUE(consumer.ReadBuffers(trace));
  }
  run.recorder().Stop();

  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  for (const Op& op : log.ops()) ASSERT_TRUE(writer->Append(op));
  ASSERT_TRUE(writer->Close());
  const TraceContent expected = ReadTraceContent(MakeMemorySource(trace)).value();
  const TraceContent found =
      ReadTraceContent(MakeMemorySource(ReplayToTrace(std::move(sink.text)))).value();
  ASSERT_GT(expected.packets.size(), 20u);
  EXPECT_EQ(PacketsDifference(expected, found), "");
}

}  // namespace
}  // namespace ringscope::testing
