// What programs save of a session, and would save with other memory: replay, sweep and advise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/vm_log.h"

namespace ringscope {
namespace {

namespace dsl = testing::vm;
using ::testing::AllOf;
using testing::CopyProgram;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using testing::VmLog;

std::string MemoryConfig(uint64_t kb) { return dsl::Sub(12, dsl::Uint(1, kb)); }

/// Five patches, of which the two oldest are overwritten, and what the program does with them.
VmLog FiveOfThree(const std::string& config = MemoryConfig(16)) {
  return VmLog().Source(1, CopyProgram(), config).Patches(1, "12345");
}

nlohmann::json RunJson(const Command& command, const VmLog& log,
                       std::vector<std::string> args = {}) {
  args.insert(args.begin(), {"-", "--format", "json"});
  const Ran ran = RunCommand(command, args, log.text());
  EXPECT_EQ(ran.error, "");
  return nlohmann::json::parse(ran.out).at("sessions").at(0);
}

/// The one buffer's row of each configuration.
std::vector<nlohmann::json> Rows(const VmLog& log, const std::vector<std::string>& args) {
  std::vector<nlohmann::json> rows;
  const nlohmann::json session = RunJson(SweepCommand(), log, args);
  for (const nlohmann::json& configuration : session.at("configurations"))
    rows.push_back(configuration.at("buffers").at(0));
  return rows;
}

TEST(ProgramWhatIf, SweepCountsWhatIsFoldedAsReplayDoes) {
  const std::vector<nlohmann::json> rows = Rows(FiveOfThree(), {"--sizes", "4k,64k"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["folded"]["packets"], 2);
  EXPECT_EQ(rows[0]["lost"], 0);
  EXPECT_EQ(rows[0]["overwritten"]["packets"], 0);
  EXPECT_GT(rows[0]["state_bytes"], 1000);
  EXPECT_FALSE(rows[1].contains("folded")) << "nothing is overwritten";
  EXPECT_EQ(rows[1]["lost"], 0);
}

TEST(ProgramWhatIf, SweepTriesProgramsOffAndOtherLimits) {
  const nlohmann::json session =
      RunJson(SweepCommand(), FiveOfThree(), {"--sizes", "4k", "--protovm", "on,off,1k"});
  std::map<std::string, int> lost;
  for (const nlohmann::json& tried : session.at("configurations"))
    if (tried["size"] == 4096) lost[tried["protovm"]] = tried["buffers"][0]["lost"];
  EXPECT_THAT(lost, ElementsAre(Pair("1k", 2), Pair("off", 2), Pair("on", 0)));
  // A table for each.
  const Ran text = RunCommand(SweepCommand(), {"-", "--sizes", "4k", "--protovm", "off,1k"},
                              FiveOfThree().text());
  EXPECT_THAT(text.out, AllOf(HasSubstr("programs (ProtoVM) off"),
                              HasSubstr("programs (ProtoVM) with 1 KiB")));
}

TEST(ProgramWhatIf, ASizeForNothingLostIsSmallerWithAProgram) {
  const auto found = [&](const char* programs) {
    const nlohmann::json session =
        RunJson(SweepCommand(), FiveOfThree(), {"--target", "loss=0", "--protovm", programs});
    const nlohmann::json& target = session.at("targets").at(0);
    EXPECT_TRUE(target["verified"].get<bool>());
    return target["buffers"][0]["size"].get<uint64_t>();
  };
  EXPECT_LE(found("on"), 4096u);
  EXPECT_GT(found("off"), 4096u);
}

TEST(ProgramWhatIf, ReplayTakesAnotherLimit) {
  const auto folded = [&](const VmLog& log, const std::string& programs) {
    const nlohmann::json session = RunJson(ReplayCommand(), log, {"--protovm", programs});
    return session["buffers"][0]["packets"]["folded"];
  };
  EXPECT_EQ(folded(FiveOfThree(MemoryConfig(1)), "on"), 0);
  EXPECT_EQ(folded(FiveOfThree(MemoryConfig(1)), "64k"), 2);
  // One that the service does not run, as it has no memory.
  EXPECT_EQ(folded(FiveOfThree(""), "on"), 0);
  EXPECT_EQ(folded(FiveOfThree(""), "64k"), 2);
  for (const char* wrong : {"maybe", "0", "100", "4G"}) {
    const Ran ran = RunCommand(ReplayCommand(), {"-", "--protovm", wrong}, FiveOfThree().text());
    EXPECT_THAT(ran.error, HasSubstr(wrong)) << wrong;
  }
}

TEST(ProgramWhatIf, AdviseStatesWhatAProgramSaves) {
  const Ran ran = RunCommand(AdviseCommand(), {"-"}, FiveOfThree().text());
  EXPECT_THAT(WithoutLineBreaks(ran.out),
              AllOf(HasSubstr("The program of 'source' has 2 packets that were overwritten in its "
                              "state"),
                    HasSubstr("no packet of buffer 1 was lost, and 2 would be without programs")));
  EXPECT_THAT(ran.out, Not(HasSubstr("protovm_config")));
}

TEST(ProgramWhatIf, AdviseFindsTheMemoryThatIsEnough) {
  for (const bool has_limit : {true, false}) {
    const VmLog log = FiveOfThree(has_limit ? MemoryConfig(1) : "");
    const Ran ran = RunCommand(AdviseCommand(), {"-"}, log.text());
    EXPECT_THAT(WithoutLineBreaks(ran.out),
                HasSubstr(has_limit ? "At its memory limit of 1 KiB it dropped 2 packets"
                                    : "but its config gives it no memory"));
    EXPECT_THAT(ran.out, HasSubstr(R"(data_sources { config { name: "source" protovm_config {)"
                                   " memory_limit_kb: 16 } } }"));

    const TempFolder folder;
    folder.Write("own.pbtxt",
                 "buffers { size_kb: 4 }\n"
                 "data_sources { config { name: \"other\" } }\n"
                 "data_sources {\n  config {\n    name: \"source\"\n  }\n}\n");
    const Ran own =
        RunCommand(AdviseCommand(), {"-", "--config", folder.File("own.pbtxt")}, log.text());
    EXPECT_EQ(own.error, "");
    EXPECT_THAT(own.out, HasSubstr("memory_limit_kb: 16"));
    EXPECT_THAT(own.out, Not(HasSubstr("name: \"source\"\n    name")));
  }
}

}  // namespace
}  // namespace ringscope
