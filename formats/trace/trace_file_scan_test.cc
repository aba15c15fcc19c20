#include "formats/trace/trace_file_scan.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

constexpr const char* kTraceFile = "captures/two-buffers-v2/trace.pftrace.zst";

std::string CompressedTrace() {
  const auto source = OpenByteSource(testing::TestdataPath(kTraceFile).string()).value();
  return ReadAll(*source, size_t{64} << 20).value();
}

Result<ScannedTrace> Scan(std::string bytes, ReadAhead ahead = ReadAhead::kNo) {
  return ScanTraceFile(
      MakeMemorySource(std::move(bytes)), [](uint64_t, std::optional<uint64_t>) {}, ahead);
}

/// What is compared of a scan: rows, packets and their bytes.
std::string TextOf(const TraceFacts& facts) {
  std::string text = std::to_string(facts.all.packets) + " " + std::to_string(facts.all.bytes);
  for (const StatRow& row : StatRowsOf(facts))
    text += "\n" + row.name + " " + std::to_string(row.value);
  return text;
}

TEST(TraceFileScan, AnotherThreadReads) {
  EXPECT_EQ(TextOf(Scan(CompressedTrace(), ReadAhead::kYes)->facts),
            TextOf(Scan(CompressedTrace())->facts));
}

TEST(TraceFileScan, SinkScansWhatIsWritten) {
  const std::string bytes = testing::ReadTestdata(kTraceFile);  // decompressed
  TraceScanSink sink;
  ASSERT_TRUE(sink.Write(bytes));
  EXPECT_EQ(TextOf(sink.Finish()), TextOf(Scan(bytes)->facts));
}

TEST(TraceFileScan, SinkRefusesAPartOfAPacket) {
  TraceScanSink sink;
  EXPECT_FALSE(sink.Write(std::string("\x0A\x05\x18\x07", 4)));
}

TEST(TraceFileScan, NoPacketIsAnError) {
  EXPECT_FALSE(Scan("hehe"));  // fields that are none of a trace
  EXPECT_FALSE(Scan("text that is none"));
  EXPECT_TRUE(Scan(""));
}

}  // namespace
}  // namespace ringscope
