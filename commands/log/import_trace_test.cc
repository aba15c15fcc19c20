#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/log/import.h"
#include "commands/testing/memory_run.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

/// A packet of sequence 2 with a track event at this time.
std::string Packet(uint64_t time) {
  std::string packet;
  wire::AppendUint(packet, 8, time);
  wire::AppendBytes(packet, 11, wire::AsBytes("event"));
  AppendTrustedFields(packet, {.uid = 1000, .pid = 42}, 2, 0);
  std::string out;
  wire::AppendBytes(out, 1, wire::AsBytes(packet));
  return out;
}

std::string Trace() { return Packet(10) + Packet(20) + Packet(30); }

size_t Records(const std::string& path) {
  auto log = OpenLog(path).value();
  size_t records = 0;
  while (log->Next().value()) ++records;
  return records;
}

TEST(ImportTrace, WholeTrace_IsClean) {
  const TempFolder folder;
  MemoryRun run;
  const auto done =
      RunImport({folder.Write("a.pftrace", Trace()), folder.File("a.tblog"), 3}, run.context);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(*done, ExitCode::kClean);
  EXPECT_EQ(Records(folder.File("a.tblog")), 4u) << "header, buffer, producer, commit";
  EXPECT_THAT(run.err.text, HasSubstr("3 packets (27 B) of 1 sequence by 1 producer, in 1 chunk"));
  EXPECT_THAT(run.err.text, HasSubstr("lost before the trace was written cannot be known"));
  EXPECT_EQ(run.Output(), "");
}

TEST(ImportTrace, TornTrace_IsUsedAsFarAsItGoes) {
  const TempFolder folder;
  MemoryRun run;
  const std::string torn = Trace().substr(0, Trace().size() - 3);
  const auto done =
      RunImport({folder.Write("a.pftrace", torn), folder.File("a.tblog"), 3}, run.context);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(*done, ExitCode::kNotice);
  EXPECT_THAT(run.err.text, HasSubstr("a.pftrace: damaged at byte"));
  EXPECT_EQ(Records(folder.File("a.tblog")), 4u);
}

TEST(ImportTrace, NothingReadable_LeavesNoFileBehind) {
  const TempFolder folder;
  MemoryRun run;
  // A packet of the service, so that it looks like a trace, and nothing of use behind it.
  const std::string start("\x0A\x07\x92\x04\x00\x18\x00\x50\x01", 9);
  const auto done = RunImport(
      {folder.Write("a.pftrace", start + "\x07garbage"), folder.File("a.tblog"), 3}, run.context);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().ToString(), HasSubstr("a.pftrace: at byte 9: "));
  EXPECT_EQ(folder.FileCount(), 1u);
}

TEST(ImportTrace, FromStandardInputToStandardOutput_WritesNothingElse) {
  const TempFolder folder;
  MemoryRun run(Trace());
  const auto done = RunImport({"-", "-", 3}, run.context);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(Records(folder.Write("a.tblog", run.Output())), 4u);
  EXPECT_EQ(run.err.text, "");
}

TEST(ImportTrace, SameTrace_GivesTheSameLog) {
  const TempFolder folder;
  MemoryRun run;
  const std::string trace = std::string(RS_TESTDATA) + "/captures/two-buffers-v2/trace.pftrace.zst";
  ASSERT_TRUE(RunImport({trace, folder.File("a.tblog"), 3}, run.context));
  ASSERT_TRUE(RunImport({trace, folder.File("b.tblog"), 3}, run.context));
  EXPECT_TRUE(ReadFile(folder.File("a.tblog")) == ReadFile(folder.File("b.tblog")));
}

}  // namespace
}  // namespace ringscope
