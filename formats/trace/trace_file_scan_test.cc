#include "formats/trace/trace_file_scan.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"
#include "core/trace/stat_rows.h"
#include "formats/io/made_ahead.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using testing::Sub;
using testing::Uint;

constexpr const char* kTraceFile = "captures/two-buffers-v2/trace.pftrace.zst";

std::string CompressedTrace() {
  const auto source = OpenByteSource(testing::TestdataPath(kTraceFile).string()).value();
  return ReadAll(*source, size_t{64} << 20).value();
}

Result<ScannedTrace> Scan(std::string bytes) {
  return ScanTraceFile(MakeMemorySource(std::move(bytes)));
}

/// What is compared of a scan: rows, packets and their bytes.
std::string TextOf(const TraceFacts& facts) {
  std::string text = std::to_string(facts.all.packets) + " " + std::to_string(facts.all.bytes);
  for (const StatRow& row : StatRowsOf(facts))
    text += "\n" + row.name + " " + std::to_string(row.value);
  return text;
}

/// Of a file with one session.
TraceFacts FactsOf(Result<ScannedTrace> scanned) {
  EXPECT_EQ(scanned->sessions.size(), 1u);
  return std::move(scanned->sessions.front());
}

TEST(TraceFileScan, AnotherThreadReads) {
  auto ahead = MakeReadAheadSource(MakeMemorySource(CompressedTrace()));
  EXPECT_EQ(TextOf(FactsOf(ScanTraceFile(std::move(ahead)))),
            TextOf(FactsOf(Scan(CompressedTrace()))));
}

TEST(TraceFileScan, SinkScansWhatIsWritten) {
  const std::string bytes = testing::ReadTestdata(kTraceFile);  // decompressed
  TraceScanSink sink;
  ASSERT_TRUE(sink.Write(bytes));
  EXPECT_EQ(TextOf(sink.Finish()), TextOf(FactsOf(Scan(bytes))));
}

TEST(TraceFileScan, JoinedFilesAreScannedSessionBySession) {
  const std::string first = testing::ReadTestdata(kTraceFile);
  const std::string second = testing::ReadTestdata("captures/stream-v2/trace.pftrace.zst");
  const ScannedTrace joined = Scan(first + second).value();
  ASSERT_EQ(joined.sessions.size(), 2u);
  EXPECT_EQ(TextOf(joined.sessions[0]), TextOf(FactsOf(Scan(first))));
  EXPECT_EQ(TextOf(joined.sessions[1]), TextOf(FactsOf(Scan(second))));
  EXPECT_EQ(joined.sessions[1].session, 2u);
  EXPECT_EQ(joined.sessions[0].sessions, 2u);
}

TEST(TraceFileScan, DamageIsOfTheSessionThatHasIt) {
  const std::string trace = testing::ReadTestdata(kTraceFile);
  const auto scanned = Scan(trace + trace.substr(0, trace.size() - 2));
  ASSERT_EQ(scanned->sessions.size(), 2u);
  EXPECT_FALSE(scanned->sessions[0].is_cut_off);
  EXPECT_TRUE(scanned->sessions[1].is_cut_off);
  // What follows the session's end and its statistics cuts nothing off.
  const auto longer = Scan(trace + "\n1 file pulled\n");
  EXPECT_FALSE(longer->sessions.back().is_cut_off);
  EXPECT_TRUE(longer->sessions.back().has_more_bytes);
  // Bytes that are no packet, between the packets of the first one.
  const auto damaged = Scan(trace.substr(0, 5) + std::string(40, '\xFF') + trace + trace);
  EXPECT_EQ(damaged->sessions.front().error_count, 1u);  // with the packet that they cut
  EXPECT_EQ(damaged->sessions.back().error_count, 0u);
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

/// A packet with what the service appends.
std::string Appended(const std::string& content, uint32_t sequence = 7) {
  std::string trusted;
  AppendTrustedFields(trusted, {.uid = 1000, .pid = 42}, sequence, 0);
  return content + trusted;
}
/// Clock 6 of machine 3 is 4,000 ns ahead of the service's.
std::string Sync() {
  const auto at = [](uint64_t ns) { return Sub(1, Uint(1, 6) + Uint(2, ns)); };
  return Sub(1, Sub(107, Sub(1, Sub(2, at(5000)) + Sub(3, at(1000)))) + Uint(98, 3));
}

TEST(TraceFileScan, TimesOfARemoteMachineAreThoseOfTheService) {
  const std::string event = Sub(1, Appended(Uint(8, 6000) + Sub(11, "")) + Uint(98, 3));
  const TraceFacts facts = FactsOf(Scan(Sync() + event));
  ASSERT_TRUE(facts.all.span);
  EXPECT_EQ(facts.all.span->first_ns, 2000);
}

TEST(TraceFileScan, ARemoteMachineHasClocksOfItsOwn) {
  const auto snapshot = [](uint64_t monotonic, uint64_t boot) {
    return Sub(6, Sub(1, Uint(1, 3) + Uint(2, monotonic)) + Sub(1, Uint(1, 6) + Uint(2, boot)));
  };
  const std::string host = Sub(1, Appended(snapshot(10, 50), kServiceSequenceId));
  const std::string remote = Sub(1, Appended(snapshot(100, 7000), 8) + Uint(98, 3));
  const std::string event =
      Sub(1, Appended(Uint(8, 300) + Uint(58, 3) + Sub(11, "")) + Uint(98, 3));
  const TraceFacts facts = FactsOf(Scan(host + Sync() + remote + event));
  ASSERT_TRUE(facts.all.span);
  EXPECT_EQ(facts.all.span->first_ns, 3200);  // 300 - 100 + 7000, less 4000
  EXPECT_EQ(facts.snapshots, 1u);
}

}  // namespace
}  // namespace ringscope
