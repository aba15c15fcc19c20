#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using testing::Sub;
using testing::Uint;

Ran ImportTrace(const std::string& from, const std::string& to, const std::string& input = "") {
  return RunCommand(ImportCommand(), {from, "-o", to}, input);
}

/// A packet of sequence 2 with a track event at this time.
std::string PacketAt(uint64_t time) {
  std::string packet = Uint(8, time) + Sub(11, "event");
  AppendTrustedFields(packet, {.uid = 1000, .pid = 42}, 2, 0);
  return Sub(1, packet);
}

std::string SmallTrace() { return PacketAt(10) + PacketAt(20) + PacketAt(30); }

size_t Records(const std::string& path) {
  auto log = OpenLog(path).value();
  size_t records = 0;
  while (log->Next().value()) ++records;
  return records;
}

TEST(ImportTrace, WholeTrace_IsClean) {
  const TempFolder folder;
  const Ran ran = ImportTrace(folder.Write("a.pftrace", SmallTrace()), folder.File("a.tblog"));
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_EQ(Records(folder.File("a.tblog")), 4u) << "header, buffer, producer, commit";
  EXPECT_THAT(ran.err, HasSubstr("3 packets (27 B) of 1 sequence by 1 producer, in 1 chunk"));
  EXPECT_THAT(ran.err, HasSubstr("lost before the trace was written are unknown"));
  EXPECT_EQ(ran.out, "");
}

TEST(ImportTrace, TornTrace_IsUsedAsFarAsItGoes) {
  const TempFolder folder;
  const std::string torn = SmallTrace().substr(0, SmallTrace().size() - 3);
  const Ran ran = ImportTrace(folder.Write("a.pftrace", torn), folder.File("a.tblog"));
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.error;
  EXPECT_THAT(ran.err, HasSubstr("a.pftrace: damaged at byte"));
  EXPECT_EQ(Records(folder.File("a.tblog")), 4u);
}

TEST(ImportTrace, NothingReadable_LeavesNoFileBehind) {
  const TempFolder folder;
  // A packet of the service, so that it looks like a trace, and nothing of use after it.
  const std::string start("\x0A\x07\x92\x04\x00\x18\x00\x50\x01", 9);
  const Ran ran =
      ImportTrace(folder.Write("a.pftrace", start + "\x07garbage"), folder.File("a.tblog"));
  EXPECT_THAT(ran.error, HasSubstr("a.pftrace: at byte 9: "));
  EXPECT_EQ(folder.FileCount(), 1u);
}

TEST(ImportTrace, FromStandardInputToStandardOutput_WritesNothingElse) {
  const TempFolder folder;
  const Ran ran = ImportTrace("-", "-", SmallTrace());
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_EQ(Records(folder.Write("a.tblog", ran.out)), 4u);
  EXPECT_EQ(ran.err, "");
}

TEST(ImportTrace, SameTrace_GivesTheSameLog) {
  const TempFolder folder;
  const std::string trace = std::string(RS_TESTDATA) + "/captures/two-buffers-v2/trace.pftrace.zst";
  for (const char* log : {"a.tblog", "b.tblog"})
    ASSERT_EQ(ImportTrace(trace, folder.File(log)).code, ExitCode::kClean);
  EXPECT_TRUE(ReadFile(folder.File("a.tblog")) == ReadFile(folder.File("b.tblog")));
}

}  // namespace
}  // namespace ringscope
