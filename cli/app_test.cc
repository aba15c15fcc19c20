#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/shell/registry.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Ran {
  int status = -1;
  std::string out;
  std::string err;
};

Ran RunTool(std::vector<std::string> args, const std::string& input = "") {
  MemoryRun memory(input);
  const int status = RunApp(args, memory.streams);
  return {status, memory.out.text, memory.err.text};
}

TEST(App, Version) {
  const Ran ran = RunTool({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, StartsWith("ringscope "));
}

TEST(App, Help_IsTheSameEitherWay) {
  EXPECT_EQ(RunTool({"--help"}).out, RunTool({"help"}).out);
  EXPECT_EQ(RunTool({}).out, RunTool({"help"}).out);
  EXPECT_EQ(RunTool({"-h"}).status, 0);
  EXPECT_THAT(RunTool({"gaps", "-h"}).out, HasSubstr("'ringscope gaps --help' explains all."));
  EXPECT_THAT(RunTool({"help", "words"}).out, HasSubstr("  incremental state\n"));
  EXPECT_THAT(RunTool({"help", "replay-options"}).out, HasSubstr("  --reads recorded|end"));
  for (const Command& command : Commands()) {
    const Ran ran = RunTool({command.name, "--help"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out, RunTool({"help", command.name}).out);
    EXPECT_THAT(ran.out, StartsWith(std::string("Usage: ringscope ") + command.name));
  }
}

struct UsageCase {
  const char* name;
  std::vector<std::string> args;
  const char* says;
};

TEST(Usage, IsExplainedInALineWithStatus2) {
  const UsageCase cases[] = {
      {"mistyped_command", {"imprt"}, "did you mean 'import'?"},
      {"unknown_command", {"frobnicate"}, "'ringscope help' lists the commands"},
      {"mistyped_global", {"--colour", "never", "info"}, "did you mean '--color'?"},
      {"mistyped_option", {"replay", "--enigne", "v2", "x"}, "did you mean '--engine'?"},
      {"mistyped_option_and_a_missing_one",
       {"import", "x", "--outptu", "y"},
       "did you mean '--output'?"},
      {"mistyped_with_value", {"info", "--fromat=json", "x"}, "there is no option"},
      {"mistyped_engine", {"replay", "--engine", "v2-58", "x"}, "did you mean 'v2@58'?"},
      {"mistyped_help", {"help", "replai"}, "did you mean 'replay'?"},
      {"missing_argument", {"info"}, "LOG is required (see 'ringscope help info')"},
      {"missing_value", {"import", "x", "-o"}, "--output needs a value: FILE"},
      {"too_many_arguments", {"info", "a", "b"}, "'b' is one argument too many"},
      {"one_input_for_two", {"gaps", "--config", "-", "-"}, "cannot both be standard input"},
      {"bad_size", {"replay", "--size", "1=12q", "x"}, "--size: '12q' is not a size"},
      {"bad_buffer", {"replay", "--size", "70000=1k", "x"}, "0 to 65535"},
      {"bad_reads", {"replay", "--reads", "often", "x"}, "every=5s"},
      {"bad_format", {"info", "--format", "yaml", "x"}, "text, json"},
      {"bad_level",
       {"import", "--level", "77", "x", "-o", "y"},
       "--level: '77' is not a number from"},
      {"bad_session", {"info", "--session", "0", "x"}, "numbered from 1"},
      {"bad_color", {"--color", "green", "help"}, "of colours (choose auto, always or never)\n"},
      {"same_option_twice",
       {"info", "--format", "json", "--format", "json", "x"},
       "--format is given more than once"},
      {"two_that_exclude_each_other",
       {"gaps", "--all", "--packets", "x"},
       "--all and --packets cannot be used together"},
      {"limits_of_a_list_of_packets",
       {"gaps", "--packets", "--max-lost", "1%", "x"},
       "--packets and --max-lost cannot be used together"},
      {"option_and_argument_that_exclude_each_other",
       {"engines", "--explain", "v1", "./x.so"},
       "PLUGIN and --explain cannot be used together"},
      {"top_of_chosen_sequences",
       {"graph", "--top", "1", "--seq", "1:1", "x"},
       "--seq and --top cannot be used together"},
      {"full_and_around",
       {"graph", "--full", "--around", "1:1#5", "x"},
       "--around and --full cannot be used together"},
      {"empty_name", {""}, "a file needs a name, and this one is empty"},
      {"empty_name_of_a_command", {"gaps", ""}, "a file needs a name, and this one is empty"},
      {"engine_that_is_no_plugin", {"engines", "v2@59"}, "there is no engine 'v2@59'"},
      {"repair_to_stdout", {"verify", "x", "--repair", "-"}, "standard output"}};
  for (const UsageCase& usage : cases) {
    SCOPED_TRACE(usage.name);
    const Ran ran = RunTool(usage.args);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, StartsWith("ringscope: error: "));
    EXPECT_THAT(ran.err, HasSubstr(usage.says));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  }
}

TEST(App, Globals_StandInFrontOrBehind) {
  EXPECT_THAT(RunTool({"--color", "always", "engines"}).out, HasSubstr("\x1b[1m"));
  EXPECT_THAT(RunTool({"engines", "--color", "always"}).out, HasSubstr("\x1b[1m"));
  EXPECT_THAT(RunTool({"--color=always", "--quiet", "engines"}).out, HasSubstr("\x1b[1m"));
}

TEST(App, MissingFile_FailsWithItsName) {
  const Ran ran = RunTool({"info", "/no/such/file.tblog"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("/no/such/file.tblog"));
}

TEST(App, FileNamedLikeAnOption_IsNamedAsAFile) {
  const TempFolder folder;
  folder.Write("-a.pftrace", "");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"-a.pftrace"}, {"doctor", "-a.pftrace"}})
    EXPECT_THAT(RunTool(args).err, HasSubstr("(the file of this name is ./-a.pftrace)"));
  std::filesystem::current_path(before);
}

TEST(App, LogNamedLikeACommand_IsALog) {
  const Ran ran = RunTool({"replay", "/no/such/folder/help", "info"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("/no/such/folder/help"));
}

TEST(App, FileInPlaceOfACommand_IsToldWhatIsWrongWithIt) {
  const std::string trace = std::string(RS_TESTDATA) + "/captures/discard-v2/trace.pftrace.zst";
  const Ran ran = RunTool({trace});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("trace.pftrace.zst: data loss: "));
  EXPECT_LT(std::count(ran.out.begin(), ran.out.end(), '\n'), 30);
  EXPECT_EQ(ran.out, RunTool({"doctor", "--brief", trace}).out);
  EXPECT_EQ(RunTool({"--all", trace}).out, RunTool({"doctor", "--all", trace}).out);
  const std::string log = std::string(RS_TESTDATA) + "/captures/discard-v2/session.ops.jsonl.zst";
  EXPECT_THAT(WithoutLineBreaks(RunTool({log}).out), HasSubstr(" were lost"));
  // All that examine a log replay it as they are asked to.
  for (const std::vector<std::string>& args : {std::vector<std::string>{log, "--engine", "v1"},
                                               {"gaps", log, "--engine", "v1"},
                                               {"report", "--quick", log, "--engine", "v1"}})
    EXPECT_THAT(RunTool(args).out, HasSubstr("v1")) << args.front();
  EXPECT_THAT(RunTool({"advise", log}).out, HasSubstr("TRACE_BUFFER_V2"));
  EXPECT_THAT(RunTool({"advise", log, "--engine", "v1"}).out, Not(HasSubstr("TRACE_BUFFER_V2")));
  EXPECT_THAT(RunTool({"no-such-file"}).err,
              HasSubstr("there is no command and no file 'no-such-file'"));
  for (const char* name : {"no-such.tblog", "./no-such", "no/such"}) {
    const Ran missing = RunTool({name});
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.err, HasSubstr(name));
    EXPECT_THAT(missing.err, Not(HasSubstr("command")));
  }
}

TEST(App, BrokenPipe_EndsQuietly) {
  MemoryRun memory(R"({"op":"note","text":"a"})");
  memory.out.closed = true;
  EXPECT_EQ(RunApp(std::vector<std::string>{"dump", "-"}, memory.streams), 0);
  EXPECT_EQ(memory.err.text, "");
}

TEST(App, DamagedInput_IsUsedWithStatus3) {
  const TempFolder folder;
  const std::string whole = folder.File("whole.tblog");
  ASSERT_EQ(RunTool({"-q", "import", "-", "-o", whole}, R"({"op":"note","text":"a"})").status, 0);
  const std::string bytes = ReadFile(whole);
  const std::string torn = folder.Write("torn.tblog", bytes + bytes.substr(0, bytes.size() / 2));
  for (const char* command : {"info", "dump", "replay", "stats", "verify"}) {
    const Ran ran = RunTool({command, torn});
    EXPECT_EQ(ran.status, 3) << command << "\n" << ran.out << ran.err;
  }
  EXPECT_EQ(RunTool({"verify", torn, "--repair", folder.File("clean.tblog")}).status, 3);
  EXPECT_EQ(RunTool({"verify", folder.File("clean.tblog")}).status, 0);
  EXPECT_EQ(RunTool({"verify", torn, "--repair", torn}).status, 2);
}

}  // namespace
}  // namespace ringscope
