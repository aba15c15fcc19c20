#include "formats/trace/trace_file_scan.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "formats/io/zstd_source.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

std::string CompressedTrace() {
  return testing::ReadTestdata("captures/two-buffers-v2/trace.pftrace.zst");
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
  const auto plain = ZstdSource::Make(MakeMemorySource(CompressedTrace()));
  const std::string bytes = ReadAll(*plain, size_t{64} << 20).value();
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
