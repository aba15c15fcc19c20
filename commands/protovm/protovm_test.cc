// The released service's answers to programs and packets, in testdata/protovm/cases.jsonl: a case
// per line, with the answers of each release.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/protovm/protovm_rules.h"
#include "core/testing/protovm_dsl.h"
#include "formats/io/hex.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

namespace dsl = testing::vm;

std::string HexText(const std::string& bytes) {
  std::string hex;
  AppendHex(hex, wire::AsBytes(bytes));
  return hex;
}

bool IsAmong(const Json& releases, const std::string& release) {
  return std::any_of(releases.begin(), releases.end(),
                     [&](const Json& one) { return one.get<std::string>() == release; });
}

void CheckAnswers(const std::string& line, const Json& document) {
  for (const Json& block : document.at("answers")) {
    for (const protovm::ProtoVmRelease& known : protovm::kProtoVmReleases) {
      const std::string release = "v" + std::to_string(known.release);
      if (!IsAmong(block.at("releases"), release)) continue;
      SCOPED_TRACE(document.at("name").get<std::string>() + " of " + release);
      const Ran ran = RunCommand(ProtovmCommand(),
                                 {"run", "--case", "-", "--release", release.substr(1)}, line);
      EXPECT_EQ(ran.error, "");
      std::istringstream results(ran.out);
      const Json& lines = block.at("lines");
      for (size_t i = 0; i < lines.size(); ++i) {
        std::string result;
        ASSERT_TRUE(std::getline(results, result));
        const Json found = testing::ParsedJson(result);
        EXPECT_EQ(found.at("result"), lines[i].at("result")) << i;
        EXPECT_EQ(found.at("state"), lines[i].at("state")) << i;
        for (const Json& memory : block.at("memory")) {
          if (IsAmong(memory.at("releases"), release)) {
            EXPECT_EQ(found.at("memory"), memory.at("bytes")[i]) << i;
          }
        }
      }
      EXPECT_EQ(CountOf(ran.out, "\n"), lines.size());
    }
  }
}

TEST(VmCase, AnswersAreTheReleasedServices) {
  std::ifstream file(testing::TestdataPath("protovm/cases.jsonl"));
  size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases)
    CheckAnswers(line, testing::ParsedJson(line));
  EXPECT_GT(cases, 200u);
}

TEST(VmCase, TheCommandPrintsALinePerPacket) {
  // select SRC 1 [select DST 2 create]
  const std::string program =
      dsl::ProgramOf({dsl::SelectSrc({dsl::Field(1)}, {dsl::SelectDst({dsl::Field(2)}, {})})});
  const Ran ran = RunCommand(ProtovmCommand(), {"run", "--case", "-", "--release", "57"},
                             R"({"name":"mine","program":")" + HexText(program) +
                                 R"(","memory_limit_kb":1,"packets":["0805",""]})");
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(CountOf(ran.out, "\n"), 2u);
  EXPECT_EQ(CountOf(ran.out, R"("result":"ok","state":"","memory":96)"), 1u) << ran.out;
  EXPECT_EQ(CountOf(ran.out, R"("result":"error")"), 1u) << ran.out;
  EXPECT_EQ(CountOf(ran.out, R"("instruction":"instructions[0]")"), 1u) << ran.out;
}

TEST(VmCase, DamagedCasesAreErrors) {
  for (const char* text :
       {"", "[]", "{}", R"({"program":"0","memory_limit_kb":1,"packets":[]})",
        R"({"program":"","packets":[]})", R"({"program":"","memory_limit_kb":1})",
        R"({"program":"","memory_limit_kb":1,"packets":["x"]})",
        R"({"program":"","memory_limit_kb":-1,"packets":[]})"}) {
    const Ran ran = RunCommand(ProtovmCommand(), {"run", "--case", "-"}, text);
    EXPECT_EQ(ran.code, ExitCode::kFailed) << text;
    EXPECT_NE(ran.error, "") << text;
  }
}

}  // namespace
}  // namespace ringscope
