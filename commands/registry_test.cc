#include "commands/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "commands/completion_scripts.h"
#include "commands/help_text.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string PagePath(const std::string& name) {
  return std::string(RS_SOURCE_DIR) + "/man/" + name;
}

/// A man page's text with its macros' arguments joined as they are shown: ".Fl Fl size" is --size.
std::string PlainPage(const std::string& path) {
  std::string text = ReadFile(path);
  text = std::regex_replace(text, std::regex("Fl Fl "), "--");
  return std::regex_replace(text, std::regex("Fl "), "-");
}

TEST(Registry, Commands_AreNamedOnceAndDescribed) {
  std::set<std::string> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_LE(std::string(command.summary).size(), 65u) << command.name;
    EXPECT_THAT(command.summary, Not(testing::EndsWith("."))) << command.name;
    EXPECT_THAT(command.description, testing::EndsWith(".")) << command.name;
    EXPECT_FALSE(command.examples.empty()) << command.name;
    EXPECT_EQ(FindCommand(command.name), &command);
  }
  EXPECT_EQ(FindCommand("no-such"), nullptr);
}

TEST(Registry, UnknownCommand_SuggestsTheNearest) {
  EXPECT_THAT(UnknownCommand("imprt").ToString(), HasSubstr("did you mean 'import'?"));
  EXPECT_THAT(UnknownCommand("xyzzy").ToString(), HasSubstr("'ringscope help'"));
}

TEST(Registry, Options_AreDescribed) {
  for (const Command& command : Commands()) {
    for (const OptionInfo& option : OptionsOf(command)) {
      EXPECT_FALSE(option.description.empty()) << command.name << " " << option.Synopsis();
      EXPECT_THAT(option.description, Not(testing::EndsWith("."))) << option.Synopsis();
    }
  }
}

TEST(Help, Lines_FitATerminal) {
  MemoryRun run;
  std::string text = OverviewHelp(run.console);
  for (const Command& command : Commands()) text += CommandHelp(command, run.console);
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    EXPECT_LE(end - start, 80u) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(Help, Usage_ShowsWhatIsRequired) {
  EXPECT_EQ(UsageLine(*FindCommand("import")), "usage: ringscope import [OPTIONS] LOG -o FILE");
  EXPECT_EQ(UsageLine(*FindCommand("replay")), "usage: ringscope replay [OPTIONS] LOG...");
  EXPECT_EQ(UsageLine(*FindCommand("help")), "usage: ringscope help [OPTIONS] [COMMAND]");
}

TEST(Help, Choices_AreReadFromTheType) {
  OptionInfo option;
  option.type = "[BUFFER=]ring_buffer|discard";
  EXPECT_THAT(option.Choices(), testing::ElementsAre("ring_buffer", "discard"));
  option.type = "recorded|every=TIME";
  EXPECT_THAT(option.Choices(), testing::ElementsAre("recorded", "every="));
  option.type = "SIZE";
  EXPECT_THAT(option.Choices(), testing::IsEmpty());
}

TEST(ManPages, EachCommandAndOptionIsThere) {
  const std::string overview = PlainPage(PagePath("ringscope.1"));
  for (const Command& command : Commands()) {
    const std::string name = command.name;
    EXPECT_THAT(overview, HasSubstr(".Xr ringscope-" + name + " 1")) << name;
    EXPECT_THAT(overview, HasSubstr(".It Cm " + name + "\n" + command.summary)) << name;
    const std::string page = PlainPage(PagePath("ringscope-" + name + ".1"));
    EXPECT_THAT(page, HasSubstr(".Sh EXAMPLES")) << name;
    EXPECT_THAT(page, HasSubstr(".Sh EXIT STATUS")) << name;
    for (const OptionInfo& option : OptionsOf(command)) {
      if (option.is_positional()) continue;
      EXPECT_TRUE(
          std::regex_search(page, std::regex("\\.It (-[a-z] , )?" + option.long_name + "[ \n]")))
          << "ringscope-" << name << ".1 does not explain " << option.long_name;
      EXPECT_TRUE(option.short_name.empty() ||
                  page.find(".It " + option.short_name + " , ") != std::string::npos)
          << "ringscope-" << name << ".1 does not explain " << option.short_name;
      for (const std::string& choice : CompletionValues(option)) {
        if (option.type.ends_with("ENGINE")) continue;  // the catalogue lists itself
        EXPECT_THAT(page, HasSubstr(choice.substr(0, choice.find('='))))
            << "ringscope-" << name << ".1 " << option.long_name;
      }
    }
  }
}

TEST(ManPages, ExplainNoOptionThatThereIsNot) {
  for (const Command& command : Commands()) {
    const std::string page = PlainPage(PagePath(std::string("ringscope-") + command.name + ".1"));
    std::set<std::string> known;
    for (const OptionInfo& option : OptionsOf(command)) known.insert(option.long_name);
    const std::regex item("\\.It (?:-[a-z] , )?(--[a-z-]+)");
    for (std::sregex_iterator match(page.begin(), page.end(), item), end; match != end; ++match)
      EXPECT_TRUE(known.contains((*match)[1])) << command.name << " " << (*match)[1];
  }
}

/// Whether a shell that may be missing takes a script without complaint.
bool IsValidScript(const std::string& shell, const std::string& script) {
  const TempFolder folder;
  const std::string path = folder.Write("script", script);
  if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) return true;
  return std::system((shell + " -n " + path).c_str()) == 0;
}

TEST(Completions, KnowEachCommandOptionAndValue) {
  const std::string bash = BashCompletions();
  const std::string zsh = ZshCompletions();
  const std::string fish = FishCompletions();
  EXPECT_TRUE(IsValidScript("bash", bash));
  EXPECT_TRUE(IsValidScript("zsh", zsh));
  EXPECT_TRUE(IsValidScript("fish", fish));
  for (const Command& command : Commands()) {
    const std::string name = command.name;
    EXPECT_THAT(bash, HasSubstr("    " + name + ")\n"));
    EXPECT_THAT(zsh, HasSubstr("        " + name + ")\n"));
    EXPECT_THAT(fish, HasSubstr(" -a " + name + " "));
    for (const OptionInfo& option : OptionsOf(command)) {
      if (!option.is_positional()) {
        EXPECT_THAT(bash, HasSubstr(option.long_name));
        EXPECT_THAT(zsh, HasSubstr(option.long_name));
        EXPECT_THAT(
            fish,
            HasSubstr("_from " + name + "' " +
                      (option.short_name.empty() ? "" : "-s " + option.short_name.substr(1) + " ") +
                      "-l " + option.long_name.substr(2)));
      }
      for (const std::string& value : CompletionValues(option)) {
        EXPECT_THAT(bash, HasSubstr(value));
        EXPECT_THAT(zsh, HasSubstr(value));
        EXPECT_THAT(fish, HasSubstr(value));
      }
    }
  }
}

}  // namespace
}  // namespace ringscope
