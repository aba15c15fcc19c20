// Real sessions: imported to a commit log and replayed, they give the very trace that the service
// wrote, packet for packet and counter for counter.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/replay_to_trace.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"

namespace ringscope {
namespace {

using testing::ReplayToTrace;

/// What the service wrote.
TraceContent TraceOf(const std::string& capture) {
  const auto path = testing::TestdataPath("captures") / capture / "trace.pftrace.zst";
  return ReadTraceContent(OpenByteSource(path).value()).value();
}

/// The capture's operations as a commit log, in memory.
/// @param passes of a last read, while the buffers are there
std::string Import(const std::string& capture, std::optional<ReadPass> passes = {}) {
  StringSink sink;
  auto log = OpenLog(testing::CaptureOps(capture)).value();
  auto writer = CommitLogWriter::Create(sink).value();
  EXPECT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  const auto read = [&] {
    if (!passes) return;
    EXPECT_TRUE(writer->Append({.time_ns = {}, .body = *std::exchange(passes, {})}));
  };
  while (const std::optional<Op> op = log->Next().value()) {
    if (std::holds_alternative<BufferFreed>(op->body)) read();
    EXPECT_TRUE(writer->Append(*op));
  }
  read();
  EXPECT_TRUE(writer->Close());
  return std::move(sink.text);
}

class CaptureTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(V2, CaptureTest,
                         ::testing::Values("discard-v2", "lossless-v2", "ring-v2", "short-v2",
                                           "two-buffers-v2"),
                         testing::NameOfParam<const char*>);

TEST_P(CaptureTest, ReplayEqualsTheServicesTrace) {
  const TraceContent expected = TraceOf(GetParam());
  const TraceContent found =
      ReadTraceContent(MakeMemorySource(ReplayToTrace(Import(GetParam())))).value();
  ASSERT_GT(expected.packets.size(), 1000u);
  EXPECT_EQ(TraceDifference(expected, found), "");
}

// The session on the buffer of old. One counter depends on where the service's read passes began.
TEST(V1CaptureTest, ReplayEqualsTheServicesTrace) {
  TraceContent expected = TraceOf("ring-v1");
  TraceContent found = ReadTraceContent(MakeMemorySource(ReplayToTrace(Import("ring-v1")))).value();
  ASSERT_EQ(expected.stats.size(), 1u);
  ASSERT_EQ(found.stats.size(), 1u);
  expected.stats[0].readaheads_failed = found.stats[0].readaheads_failed = 0;
  EXPECT_EQ(TraceDifference(expected, found), "");
}

// As the service read it: in passes of 32 KiB.
TEST_P(CaptureTest, PassesOf32KiBGiveTheSamePackets) {
  const ReadPass passes{.buffer = {},
                        .max_packets = {},
                        .max_bytes = 32768,
                        .reason = ReadReason::kFile};  // which continues until nothing is left
  const TraceContent expected = TraceOf(GetParam());
  const TraceContent found =
      ReadTraceContent(MakeMemorySource(ReplayToTrace(Import(GetParam(), passes)))).value();
  EXPECT_EQ(PacketsDifference(expected, found), "");
}

TEST(CommitLogSize, LosslessCaptureIsSmallerThanItsTextUnderZstd3) {
  EXPECT_LT(Import("lossless-v2").size(), 1'126'730u);
}

}  // namespace
}  // namespace ringscope
