// Real sessions: imported to a commit log and replayed, they give the very trace that the service
// wrote, packet for packet and counter for counter.

#include <gtest/gtest.h>

#include <string>

#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/compare_traces.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using testing::ComparedTrace;
using testing::ExpectSamePackets;
using testing::ReadCompared;
using testing::ReplayToTrace;

std::string CaptureFile(const std::string& capture, const std::string& file) {
  return std::string(RS_TESTDATA) + "/captures/" + capture + "/" + file;
}

/// The capture's operations as a commit log, in memory.
std::string Import(const std::string& capture) {
  StringSink sink;
  auto log = OpenLog(CaptureFile(capture, "session.ops.jsonl.zst")).value();
  auto writer = CommitLogWriter::Create(sink).value();
  EXPECT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  while (true) {
    const std::optional<Op> op = log->Next().value();
    if (!op) break;
    EXPECT_TRUE(writer->Append(*op));
  }
  EXPECT_TRUE(writer->Close());
  return std::move(sink.text);
}

class CaptureTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(V2, CaptureTest,
                         ::testing::Values("discard-v2", "lossless-v2", "ring-v2", "short-v2",
                                           "two-buffers-v2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(CaptureTest, ReplayEqualsTheServicesTrace) {
  const ComparedTrace expected =
      ReadCompared(OpenByteSource(CaptureFile(GetParam(), "trace.pftrace.zst")).value());
  const ComparedTrace found = ReadCompared(MakeMemorySource(ReplayToTrace(Import(GetParam()))));
  ASSERT_GT(expected.packets.size(), 1000u);
  ExpectSamePackets(expected, found);
  EXPECT_EQ(found.stats, expected.stats);
}

// The session on the buffer of old. One counter depends on where the service's read passes began.
TEST(V1CaptureTest, ReplayEqualsTheServicesTrace) {
  ComparedTrace expected =
      ReadCompared(OpenByteSource(CaptureFile("ring-v1", "trace.pftrace.zst")).value());
  ComparedTrace found = ReadCompared(MakeMemorySource(ReplayToTrace(Import("ring-v1"))));
  ExpectSamePackets(expected, found);
  ASSERT_EQ(expected.stats.size(), 1u);
  ASSERT_EQ(found.stats.size(), 1u);
  expected.stats[0].readaheads_failed = found.stats[0].readaheads_failed = 0;
  EXPECT_EQ(found.stats, expected.stats);
}

// As the service read it: in passes of 32 KiB.
TEST_P(CaptureTest, PassesOf32KiBGiveTheSamePackets) {
  ReplayOptions options;
  options.pass_bytes = 32768;
  const ComparedTrace expected =
      ReadCompared(OpenByteSource(CaptureFile(GetParam(), "trace.pftrace.zst")).value());
  ExpectSamePackets(expected,
                    ReadCompared(MakeMemorySource(ReplayToTrace(Import(GetParam()), options))));
}

TEST(CommitLogSize, LosslessCaptureIsSmallerThanItsTextUnderZstd3) {
  EXPECT_LT(Import("lossless-v2").size(), 1'126'730u);
}

}  // namespace
}  // namespace ringscope
