// The released service's answers to programs and packets, in testdata/protovm/cases.jsonl: a case
// per line, with the answers of each release.

#include "commands/protovm/vm_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/testing/protovm_dsl.h"
#include "formats/io/hex.h"
#include "formats/json/json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using protovm::ProtoVm;
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

void CheckAnswers(const std::string& line, const Json& json) {
  const VmCase parsed = ParseVmCase(line, "cases").value();
  for (const Json& block : json["answers"]) {
    for (const protovm::ProtoVmRelease& known : protovm::kProtoVmReleases) {
      const std::string release = "v" + std::to_string(known.release);
      if (!IsAmong(block["releases"], release)) continue;
      SCOPED_TRACE(json["name"].get<std::string>() + " of " + release);
      ProtoVm vm(known.rules, wire::AsBytes(parsed.program), parsed.limit,
                 wire::AsBytes(parsed.initial_state));
      const Json& lines = block["lines"];
      ASSERT_EQ(lines.size(), parsed.packets.size());
      for (size_t i = 0; i < parsed.packets.size(); ++i) {
        const protovm::RunOutcome outcome = vm.Run(wire::AsBytes(parsed.packets[i]));
        EXPECT_EQ(Name(outcome.result), lines[i]["result"].get<std::string>()) << i;
        EXPECT_EQ(HexText(vm.SerializeState()), lines[i]["state"].get<std::string>()) << i;
        for (const Json& memory : block["memory"]) {
          if (IsAmong(memory["releases"], release)) {
            EXPECT_EQ(vm.state().counted(), memory["bytes"][i].get<uint64_t>()) << i;
          }
        }
      }
    }
  }
}

TEST(VmCase, AnswersAreTheReleasedServices) {
  std::ifstream file(testing::TestdataPath("protovm/cases.jsonl"));
  size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases)
    CheckAnswers(line, ParseJson(line).value());
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
    const auto parsed = ParseVmCase(text, "case.json");
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().ToString().find("case.json"), std::string::npos)
        << parsed.error().ToString();
  }
}

}  // namespace
}  // namespace ringscope
