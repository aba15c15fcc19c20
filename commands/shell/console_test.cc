#include "commands/shell/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/options.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Console, ResultsAndMessages_GoApart) {
  MemoryRun run;
  run.console.Print("result\n");
  run.console.Say("wrote x");
  run.console.Warn("careful");
  run.console.PrintError("no");
  EXPECT_EQ(run.Output(), "result\n");
  EXPECT_EQ(run.err.text,
            "ringscope: wrote x\nringscope: warning: careful\nringscope: error: no\n");
}

TEST(Console, Messages_AreBrokenOnATerminalOnly) {
  for (const bool terminal : {false, true}) {
    MemoryRun run;
    run.streams.no_color = true;
    run.err.terminal = terminal;
    run.err.width = terminal ? 40 : 0;
    run.console.Warn("a.tblog: the recording is not complete");
    EXPECT_EQ(run.err.text, terminal
                                ? "ringscope: warning: a.tblog: the\n  recording is not complete\n"
                                : "ringscope: warning: a.tblog: the recording is not complete\n");
  }
}

TEST(Console, Quiet_KeepsWarnings) {
  MemoryRun run;
  run.console.Configure({ColorMode::kAuto, /*quiet=*/true});
  run.console.Say("wrote x");
  run.console.Warn("careful");
  EXPECT_EQ(run.err.text, "ringscope: warning: careful\n");
}

TEST(Console, Colors_OnlyOnATerminalWithoutNoColor) {
  const auto bold = [](bool terminal, bool no_color, ColorMode mode) {
    MemoryRun run;
    run.out.terminal = terminal;
    run.streams.no_color = no_color;
    run.console.Configure({mode, false});
    return run.console.Bold("x") != "x";
  };
  EXPECT_TRUE(bold(true, false, ColorMode::kAuto));
  EXPECT_FALSE(bold(false, false, ColorMode::kAuto));
  EXPECT_FALSE(bold(true, true, ColorMode::kAuto));
  EXPECT_FALSE(bold(true, false, ColorMode::kNever));
  EXPECT_TRUE(bold(false, true, ColorMode::kAlways));
}

TEST(Console, LinesOfAListing_AreBrokenOnATerminalOnly) {
  for (const bool terminal : {false, true}) {
    MemoryRun run;
    run.out.terminal = terminal;
    run.out.width = terminal ? 60 : 0;
    run.console.PrintLine("   1  commit of a chunk that a writer of the producer wrote to its end",
                          6);
    run.console.PrintLine("   2  read", 6);
    EXPECT_EQ(run.Output(), terminal
                                ? "   1  commit of a chunk that a writer of the producer wrote\n"
                                  "      to its end\n   2  read\n"
                                : "   1  commit of a chunk that a writer of the producer "
                                  "wrote to its end\n   2  read\n");
  }
}

TEST(Console, Output_IsWrittenInOrderAndErrorsStay) {
  MemoryRun run;
  run.console.Print("a");
  ASSERT_TRUE(run.console.Write(std::string_view("b")));
  run.console.Print("c");
  ASSERT_TRUE(run.console.Flush());
  EXPECT_EQ(run.out.text, "abc");
  run.out.closed = true;
  run.console.Print("d");
  EXPECT_FALSE(run.console.Flush());
  run.out.closed = false;
  EXPECT_FALSE(run.console.Flush());
  EXPECT_TRUE(run.out.reader_gone());
}

TEST(Console, ProgressLine_GivesWayToMessages) {
  MemoryRun run;
  run.err.terminal = true;
  run.console.ShowProgressLine("reading 10%");
  run.console.Warn("careful");
  EXPECT_THAT(run.err.text, HasSubstr("reading 10%\r\x1b[K"));
  EXPECT_THAT(run.err.text, HasSubstr("careful\n"));
}

TEST(Console, ProgressLine_FitsTheTerminal) {
  MemoryRun run;
  run.err.terminal = true;
  run.err.width = 8;
  run.console.ShowProgressLine("1234567890");
  EXPECT_EQ(run.err.text, "\r\x1b[K123456…");
  run.err.text.clear();
  run.console.ShowProgressLine("\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5");
  EXPECT_EQ(run.err.text, "\r\x1b[K\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5…");
}

TEST(Progress, WithoutATerminal_ShowsNothing) {
  MemoryRun run;
  {
    Progress progress(run.console, "reading x");
    for (uint64_t i = 0; i < 10; ++i) progress.Update(i, 10);
  }
  EXPECT_EQ(run.err.text, "");
}

TEST(Progress, Format) {
  EXPECT_EQ(FormatProgress("reading x", 512 << 20, 1 << 30, 2.0),
            "reading x   50%  256 MiB/s  0:02 left");
  EXPECT_EQ(FormatProgress("examining 1,000 files", 250, 1000, 2.0, "file"),
            "examining 1,000 files   25%  125 files/s  0:06 left");
  EXPECT_EQ(FormatProgress("reading -", 1 << 20, 0, 1.0), "reading -  1 MiB/s");
  EXPECT_THAT(FormatProgress("x", 0, 100, 0), Not(HasSubstr("left")));
}

TEST(Output, BinaryData_IsNotWrittenToATerminal) {
  MemoryRun run;
  run.out.terminal = true;
  const auto file = CreateOutput(run.context, "-", OutputKind{"a log"}, /*force=*/false);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(CreateOutput(run.context, "-", OutputKind{"a text", true}, /*force=*/false));
}

}  // namespace
}  // namespace ringscope
