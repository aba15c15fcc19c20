#include "commands/shell/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/registry.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> Words(std::vector<std::string> line) {
  std::vector<std::string> words;
  for (const Candidate& candidate : Complete(line).candidates) words.push_back(candidate.word);
  return words;
}

bool Files(std::vector<std::string> line) { return Complete(line).files; }

TEST(Completion, Commands_WithTheirSummary) {
  EXPECT_EQ(Words({""}), CommandNames());
  const std::vector<std::string> line = {"-q", "--color", "never", "en"};
  const Completion completion = Complete(line);
  ASSERT_EQ(completion.candidates.size(), 1u);
  EXPECT_EQ(completion.candidates[0].word, "engines");
  EXPECT_EQ(completion.candidates[0].description, FindCommand("engines")->summary);
  EXPECT_THAT(Words({"__"}), IsEmpty()) << "hidden";
  EXPECT_THAT(Words({"no-such", ""}), IsEmpty());
}

TEST(Completion, EachOptionAndFixedValue) {
  for (const Command& command : Commands()) {
    std::vector<std::string> arguments;  // in front of the next one
    for (const OptionInfo& option : OptionsOf(command)) {
      std::vector<std::string> line = {command.name};
      if (option.is_positional()) {
        line.insert(line.end(), arguments.begin(), arguments.end());
        const std::vector<std::string> values = FixedValues(option);
        arguments.push_back(values.empty() ? "x" : values.front());
      } else {
        EXPECT_THAT(Words({command.name, option.long_name}), Contains(option.long_name));
        line.push_back(option.long_name);
      }
      line.emplace_back();
      if (option.has_value()) {
        EXPECT_EQ(Words(line), FixedValues(option)) << command.name << " " << option.Synopsis();
      }
    }
  }
}

TEST(Completion, OptionsBeforeTheCommand) {
  EXPECT_THAT(Words({"-"}),
              ElementsAre("--help", "-h", "--version", "-V", "--color", "--quiet", "-q"));
  EXPECT_THAT(Words({"--color", ""}), ElementsAre("auto", "always", "never"));
  EXPECT_THAT(Words({"--color=a"}), ElementsAre("--color=auto", "--color=always"));
}

TEST(Completion, Values_AfterTheirOption) {
  EXPECT_THAT(Words({"info", "--format", "j"}), ElementsAre("json"));
  EXPECT_THAT(Words({"info", "--format=j"}), ElementsAre("--format=json"));
  EXPECT_THAT(Words({"replay", "--reads", "e"}), ElementsAre("end", "every="));
  EXPECT_THAT(Words({"replay", "--engine", "v2@5"}),
              ElementsAre("v2@54", "v2@55", "v2@56", "v2@57", "v2@58"));
  EXPECT_THAT(Words({"replay", "--size", ""}), IsEmpty());
  EXPECT_FALSE(Files({"replay", "--size", ""}));
}

TEST(Completion, Values_ForABufferAndInLists) {
  EXPECT_THAT(Words({"replay", "--policy", "2=d"}), ElementsAre("2=discard"));
  EXPECT_THAT(Words({"replay", "--policy=2=d"}), ElementsAre("--policy=2=discard"));
  EXPECT_THAT(Words({"sweep", "--policies", "discard,r"}), ElementsAre("discard,ring_buffer"));
  EXPECT_THAT(Words({"sweep", "--engines", "v1,v2@58"}), ElementsAre("v1,v2@58"));
}

TEST(Completion, Files) {
  EXPECT_TRUE(Files({"replay", ""}));
  EXPECT_TRUE(Files({"replay", "-o", ""}));
  EXPECT_TRUE(Files({"replay", "--output=x"}));
  EXPECT_TRUE(Files({"diff", "a.tblog", "b"}));
  EXPECT_TRUE(Files({"replay", "--engine", "./lib"})) << "a plug-in";
  EXPECT_FALSE(Files({"replay", "--engine", "v"}));
  EXPECT_FALSE(Files({"replay", "--"}));
  EXPECT_TRUE(Files({"record", "--", "./my"}));
  EXPECT_FALSE(Files({"help", ""}));
  EXPECT_TRUE(Files({"te"})) << "a file in place of a command";
}

TEST(Completion, AfterTwoDashes_OnlyArguments) {
  EXPECT_THAT(Words({"record", "--", "-"}), IsEmpty());
  EXPECT_THAT(Words({"help", "re"}), ElementsAre("report", "replay", "record"));
  EXPECT_THAT(Words({"completions", "z"}), ElementsAre("zsh"));
}

}  // namespace
}  // namespace ringscope
