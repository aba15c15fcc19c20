#include "commands/shell/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "commands/shell/help.h"
#include "commands/testing/memory_run.h"
#include "core/base/text.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Registry, Commands_AreNamedOnceAndDescribed) {
  std::set<std::string> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_LE(std::string(command.summary).size(), 65u) << command.name;
    EXPECT_THAT(command.summary, Not(::testing::EndsWith("."))) << command.name;
    EXPECT_THAT(command.description, ::testing::EndsWith(".")) << command.name;
    EXPECT_FALSE(command.examples.empty()) << command.name;
    EXPECT_EQ(FindCommand(command.name), &command);
  }
  EXPECT_EQ(FindCommand("no-such"), nullptr);
  EXPECT_NE(FindCommand("__complete"), nullptr);
  EXPECT_FALSE(names.contains("__complete")) << "hidden";
}

TEST(Registry, Groups_AreTogether) {
  std::set<std::string> left;
  std::string group;
  for (const Command& command : Commands()) {
    if (command.group != group) {
      EXPECT_TRUE(left.insert(command.group).second) << command.name;
    }
    group = command.group;
  }
}

TEST(Registry, UnknownCommand_SuggestsTheNearest) {
  EXPECT_THAT(UnknownCommand("imprt").ToString(), HasSubstr("did you mean 'import'?"));
  EXPECT_THAT(UnknownCommand("xyzzy").ToString(), HasSubstr("'ringscope help'"));
}

TEST(Registry, Options_AreDescribed) {
  for (const Command& command : Commands()) {
    for (const OptionInfo& option : OptionsOf(command)) {
      EXPECT_FALSE(option.description.empty()) << command.name << " " << option.Synopsis();
      EXPECT_THAT(option.description, Not(::testing::EndsWith("."))) << option.Synopsis();
    }
  }
}

TEST(Help, Lines_FitATerminal) {
  MemoryRun run;
  std::string text = OverviewHelp(run.console);
  for (const Command& command : Commands()) {
    const std::string screen = CommandHelp(command, run.console, HelpSize::kScreen);
    EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 40) << screen;
    text += screen + CommandHelp(command, run.console);
  }
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    EXPECT_LE(DisplayWidth(text.substr(start, end - start)), 80u)
        << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(Help, Usage_ShowsWhatIsRequired) {
  EXPECT_EQ(UsageLine(*FindCommand("import")), "ringscope import [OPTIONS] -o FILE LOG");
  EXPECT_EQ(UsageLine(*FindCommand("replay")), "ringscope replay [OPTIONS] LOG...");
  EXPECT_EQ(UsageLine(*FindCommand("help")), "ringscope help [OPTIONS] [TOPIC]");
}

TEST(Help, Options_AreInGroups) {
  MemoryRun run;
  const std::string text = CommandHelp(*FindCommand("diff"), run.console);
  const std::vector<std::string> in_order = {
      "\nExamples:\n",  "\nInput:\n",          "  LOG|TRACE...", "  --session N",
      "\nOutput:\n",    "\nGlobal options:\n", "  -h, --help",   "\nReplay options:\n",
      "  --a --a-size", "\nExit status:\n"};
  size_t at = 0;
  for (const std::string& part : in_order) {
    at = text.find(part, at);
    EXPECT_NE(at, std::string::npos) << part;
  }
}

TEST(Help, Options_SayWhatTheyGoWith) {
  MemoryRun run;
  const std::string text = CommandHelp(*FindCommand("graph"), run.console);
  EXPECT_THAT(text, HasSubstr("others; not with --full or --seq or --top\n"));
}

TEST(Help, ExitStatus_IsThatOfTheCommand) {
  MemoryRun run;
  EXPECT_THAT(CommandHelp(*FindCommand("verify"), run.console),
              HasSubstr("  3  There is damage, a log was not closed, parts are missing"));
  EXPECT_THAT(CommandHelp(*FindCommand("engines"), run.console), Not(HasSubstr("\n  3  ")));
}

}  // namespace
}  // namespace ringscope
