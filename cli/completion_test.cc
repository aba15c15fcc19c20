// Completion in bash itself: the script that the tool prints, asking the tool.

#include <gtest/gtest.h>

#include <cstdlib>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

/// The words that bash proposes for a line that is typed, in brackets. "v2@5" is a part of a word
/// for bash, which breaks words at '@', '=' and ':'.
std::string BashWords(const std::string& line, const std::string& setup = "") {
  const TempFolder folder;
  const std::string script = folder.Write(
      "script.bash", "eval \"$(" RS_BINARY " completions bash)\"\n" + setup + "\nCOMP_LINE='" +
                         line + "' COMP_POINT=" + std::to_string(line.size()) +
                         "\n_ringscope " RS_BINARY "\nprintf '[%s]' \"${COMPREPLY[@]}\"\n");
  const std::string out = folder.File("out");
  EXPECT_EQ(std::system(("bash " + script + " >" + out + " 2>&1").c_str()), 0);
  return ReadFile(out);
}

TEST(BashCompletion, WordsOfALine) {
  EXPECT_EQ(BashWords("ringscope -q re"), "[report][replay][record]");
  EXPECT_EQ(BashWords("ringscope replay --pr"), "[--protovm]");
  EXPECT_EQ(BashWords("ringscope dump --format j"), "[jsonl][json]");
}

TEST(BashCompletion, WordsThatBashBreaks) {
  EXPECT_EQ(BashWords("ringscope replay --engine v2@5"), "[54][55][56][57][58]");
  EXPECT_EQ(BashWords("ringscope replay --engine v2@58", "COMP_WORDBREAKS=' '"), "[v2@58]");
}

TEST(FishCompletion, WordsOfALine) {
  if (std::system("command -v fish >/dev/null") != 0) GTEST_SKIP() << "fish is missing";
  const TempFolder folder;
  const std::string script = folder.Write(
      "script.fish", RS_BINARY " completions fish | source\nset -x PATH (path dirname " RS_BINARY
                               ") $PATH\ncomplete -C 'ringscope replay --policy d'\n"
                               "complete -C 'ringscope graph --f'\n");
  const std::string out = folder.File("out");
  EXPECT_EQ(std::system(("HOME=" + folder.path() + " fish " + script + " >" + out).c_str()), 0);
  EXPECT_EQ(ReadFile(out), "discard\n--force\n--format\n--full\n");
}

TEST(CompletionScripts, AreValid) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string find = "command -v " + shell + " >/dev/null";
    if (std::system(find.c_str()) != 0) continue;
    const TempFolder folder;
    const std::string script = folder.File("script");
    EXPECT_EQ(std::system((RS_BINARY " completions " + shell + " >" + script + " && " + shell +
                           " -n " + script)
                              .c_str()),
              0)
        << shell;
  }
}

}  // namespace
}  // namespace ringscope
