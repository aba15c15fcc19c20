#include "commands/shell/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <vector>

#include "commands/shell/option_table.h"
#include "commands/shell/registry.h"
#include "commands/testing/memory_run.h"
#include "core/gaps/gap_report.h"
#include "core/ledger/ledger.h"
#include "core/log/op.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMan = std::string(RS_SOURCE_DIR) + "/man/";

Command SmallCommand() {
  Command command = *FindCommand("completions");
  command.description = "Prints it. With --all: all.";
  command.examples = {{"ringscope completions zsh", "How?"}};
  return command;
}

TEST(ManPage, Table_GivesOptionsExitStatusAndExamples) {
  const auto page =
      ManPage(SmallCommand(), ".Dd November 22, 2026\n.Sh SEE ALSO\n.Xr ringscope 1\n");
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, ::testing::StartsWith(".Dd November 22, 2026\n.Dt RINGSCOPE-COMPLETIONS 1\n"));
  EXPECT_THAT(*page, HasSubstr(".Nd print a completion script for a shell\n"));
  EXPECT_THAT(*page, HasSubstr("\n.Op Fl q\n.No \\fBbash\\fR|\\:\\fBzsh\\fR|\\:\\fBfish\\fR\n"));
  EXPECT_THAT(*page, HasSubstr("Prints it.\nWith \\-\\-all: all.\n"));
  EXPECT_THAT(*page, HasSubstr(".Ss Global options\n.Bl -tag -width Ds\n.It Fl h , Fl Fl help\n"));
  EXPECT_THAT(*page, HasSubstr(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nDone.\n.It 1\n"));
  EXPECT_THAT(*page, Not(HasSubstr(".It 3\n")));
  EXPECT_THAT(*page, HasSubstr("How?\n.Pp\n.Dl $ ringscope completions zsh\n.Sh SEE ALSO\n"));
}

TEST(ManPage, Body_AddsToTheTable) {
  const auto page = ManPage(SmallCommand(),
                            ".Dd today\n.Sh DESCRIPTION\nMore.\n.Sh OPTIONS\n.It --color\nMuch.\n"
                            ".Sh FILES\nNone.\n.Sh EXAMPLES\nAnd so on.\n");
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr(": all.\n.Pp\nMore.\n.Sh OPTIONS"));
  EXPECT_THAT(*page, HasSubstr("is set).\nMuch.\n.It Fl q"));
  EXPECT_THAT(*page, HasSubstr(".El\n.Sh FILES\nNone.\n.Sh EXIT STATUS\n"));
  EXPECT_THAT(*page, HasSubstr("completions zsh\nAnd so on.\n"));
}

TEST(ManPage, NoteOnAnUnknownOption_IsAnError) {
  const auto page = ManPage(SmallCommand(), ".Dd today\n.Sh OPTIONS\n.It --colour\nMuch.\n");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().ToString(), HasSubstr("explains '--colour'"));
}

/// What a formatter that may be missing complains about.
std::string Complaints(const std::string& command, const TempFolder& folder) {
  const std::string errors = folder.File("errors");
  EXPECT_EQ(std::system((command + " >/dev/null 2>" + errors + " </dev/null").c_str()), 0);
  return ReadFile(errors);
}

TEST(ManPages, EachCommandHasOneThatFormats) {
  const TempFolder folder;
  const bool has_groff = std::system("command -v groff >/dev/null") == 0;
  std::set<std::string> bodies;
  for (const auto& file : std::filesystem::directory_iterator(kMan))
    if (file.path().extension() == ".in") bodies.insert(file.path().filename());
  std::map<std::string, std::string> pages;
  for (const Command& command : Commands()) {
    const std::string body = std::string("ringscope-") + command.name + ".1.in";
    ASSERT_EQ(bodies.erase(body), 1u) << body;
    const auto page = ManPage(command, ReadFile(kMan + body));
    ASSERT_TRUE(page) << page.error().ToString();
    EXPECT_THAT(*page, HasSubstr(".Sh SEE ALSO\n.Xr ringscope 1")) << body;
    pages[body] = folder.Write(body, *page);
  }
  const auto overview = OverviewPage(ReadFile(kMan + "ringscope.1.in"));
  ASSERT_TRUE(overview);
  bodies.erase("ringscope.1.in");
  EXPECT_THAT(bodies, ::testing::IsEmpty()) << "pages without a command";
  pages["ringscope.1.in"] = folder.Write("ringscope.1.in", *overview);
  for (const char* name : {"ringscope-commit-log.5", "ringscope-plugin.3"})
    pages[name] = kMan + name;
  for (const auto& [name, path] : pages) {
    if (has_groff) {
      EXPECT_EQ(Complaints("groff -ww -mdoc -Tutf8 " + path, folder), "") << name;
    }
  }
}

/// The page has each name, as a word of its own.
void ExpectNames(const std::string& page, std::span<const char* const> names) {
  std::set<std::string> words;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) words.insert(word);
  for (const char* name : names) EXPECT_TRUE(words.contains(name)) << name;
}

TEST(ManPages, GapsExplainsEveryCauseOfALossAndEachFalseFlag) {
  std::vector<const char*> causes(kEnumNames<Cause>.begin(), kEnumNames<Cause>.end());
  // Of packets that are not lost.
  const std::set<std::string> others = {"none",
                                        "waits_for_patch",
                                        "waits_for_chunk",
                                        "waits_for_completion",
                                        "after_abandoned",
                                        "unfinished",
                                        "taken_by_session",
                                        "transferred"};
  std::erase_if(causes, [&](const char* name) { return others.contains(name); });
  const std::string page = ReadFile(kMan + "ringscope-gaps.1.in");
  ExpectNames(page, causes);
  ExpectNames(page, kEnumNames<FlagRule>);
}

TEST(ManPages, CommitLogNamesEveryKindOfRecord) {
  std::vector<const char*> kinds;
  for (size_t kind = 0; kind < kOpKinds; ++kind) kinds.push_back(OpKindName(kind));
  ExpectNames(ReadFile(kMan + "ringscope-commit-log.5"), kinds);
}

}  // namespace
}  // namespace ringscope
