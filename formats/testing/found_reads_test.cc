// A session that the service wrote into a file: no socket shows when it was read. The file does.

#include <gtest/gtest.h>

#include "core/reads/ready_times.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/replay_to_trace.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope::testing {
namespace {

Result<std::unique_ptr<OpSource>> OpenStream() {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<LogSource> log, OpenLog(CapturePath("stream-v2")));
  return log;
}

std::unique_ptr<ByteSource> StreamTrace() {
  return OpenByteSource(TestdataPath("captures/stream-v2/trace.pftrace.zst").string()).value();
}

class StreamedCapture : public ::testing::Test {
 protected:
  /// Finds the reads of `file`, and compares a replay with them with the whole trace.
  void ExpectEqualToTrace(const WrittenFile& file) {
    const FoundReads found = FindReads(OpenStream, {}, file).value();
    EXPECT_FALSE(found.unexplained);
    EXPECT_EQ(found.explained, 47929u);
    EXPECT_LE(found.replays, 5u);
    InsertedReads records(OpenStream().value(), found.reads);
    StringSink out;
    TraceWriter writer(out);
    Replay replay({}, writer);
    while (const auto op = records.Next().value()) ASSERT_TRUE(replay.Apply(*op));
    ASSERT_TRUE(replay.Finish());
    ASSERT_TRUE(writer.Finish());
    const TraceContent expected = ReadTraceContent(StreamTrace()).value();
    const TraceContent replayed = ReadTraceContent(MakeMemorySource(std::move(out.text))).value();
    ASSERT_EQ(expected.stats.size(), 1u);
    EXPECT_EQ(TraceDifference(expected, replayed), "");
    EXPECT_TRUE(found.different_stats.empty());
  }
};

TEST_F(StreamedCapture, BecomesEqualToItsTrace) {
  const WrittenFile file = ReadWrittenFile(StreamTrace()).value();
  EXPECT_EQ(file.marks.size(), 5u);
  EXPECT_EQ(file.packets.size(), 47929u);
  ExpectEqualToTrace(file);
}

// A file may lack the service's events (disable_service_events, or a filter).
TEST_F(StreamedCapture, BecomesEqualWithoutEvents) {
  WrittenFile file = ReadWrittenFile(StreamTrace()).value();
  file.marks.clear();
  ExpectEqualToTrace(file);
}

}  // namespace
}  // namespace ringscope::testing
