#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/help.h"
#include "commands/shell/registry.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Words(std::vector<std::string> line) {
  std::vector<std::string> words;
  for (const std::string& each : Complete(line))
    if (each != ":files") words.push_back(each.substr(0, each.find('\t')));
  return words;
}

bool Files(std::vector<std::string> line) {
  return ::testing::Value(Complete(line), Contains(":files"));
}

TEST(Completion, Commands_WithTheirSummary) {
  EXPECT_EQ(Words({""}), CommandNames());
  const std::vector<std::string> line = {"-q", "--color", "never", "en"};
  EXPECT_THAT(Complete(line),
              ElementsAre(std::string("engines\t") + FindCommand("engines")->summary, ":files"));
  EXPECT_THAT(Words({"__"}), IsEmpty()) << "hidden";
}

TEST(Completion, EachOption) {
  for (const Command& command : Commands())
    for (const OptionInfo& option : OptionsOf(command))
      if (!option.is_positional()) {
        EXPECT_THAT(Words({command.name, "x", option.long_name}), Contains(option.long_name));
        if (!option.choices.empty()) {
          EXPECT_EQ(Words({command.name, option.long_name, ""}), option.choices) << command.name;
        }
      }
}

TEST(Completion, OptionsBeforeTheCommand) {
  EXPECT_THAT(Words({"-"}),
              ElementsAre("--help", "-h", "--version", "-V", "--color", "--quiet", "-q"));
  EXPECT_THAT(Words({"--color", ""}), ElementsAre("auto", "always", "never"));
}

TEST(Completion, Values) {
  EXPECT_THAT(Words({"info", "--format", "j"}), ElementsAre("json"));
  for (const char* command : {"replay", "try"})
    EXPECT_THAT(Words({command, "--policy", ""}),
                ElementsAre("ring_buffer", "discard", "RING_BUFFER", "DISCARD"));
  EXPECT_THAT(Words({"sweep", "--policies", "D"}), ElementsAre("DISCARD"));
  EXPECT_THAT(Words({"replay", "--reads", "e"}), ElementsAre("end", "every="));
  EXPECT_THAT(Words({"replay", "--engine", "v2@5"}),
              ElementsAre("v2@54", "v2@55", "v2@56", "v2@57", "v2@58"));
  EXPECT_THAT(Words({"help", "re"}),
              ElementsAre("report", "replay", "record", "replay-options", "reach", "read pass"));
  EXPECT_THAT(Words({"completions", "z"}), ElementsAre("zsh"));
}

TEST(Completion, Files) {
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{{"replay", ""},
                                             {"replay", "-o", ""},
                                             {"diff", "a.tblog", "b"},
                                             {"te"},
                                             {"replay", "--engine", "./lib"},
                                             {"record", "--", "./my"}})
    EXPECT_TRUE(Files(line)) << line.back();
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"replay", "--engine", "v"}, {"replay", "--"}, {"help", ""}})
    EXPECT_FALSE(Files(line)) << line.back();
}

}  // namespace
}  // namespace ringscope
