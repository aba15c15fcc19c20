#include "commands/protovm/program_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commands/protovm/program_text.h"
#include "core/protovm/proto_vm.h"
#include "core/testing/protovm_dsl.h"
#include "formats/descriptors/proto_files.h"

namespace ringscope {
namespace {

namespace dsl = testing::vm;
using protovm::ProtoVm;
using protovm::RunResult;
using ::testing::HasSubstr;

constexpr const char* kProto = R"(
  syntax = "proto2";
  package test;
  message Element { optional int32 id = 1; optional int32 value = 2; }
  message Inner { optional int32 a = 1; optional Element leaf = 2; repeated Element list = 3;
                  optional Inner again = 4; optional Element old = 5 [deprecated = true]; }
  message Root {
    repeated Element elements = 1;
    optional Inner inner = 2;
    repeated int32 remove = 3;
    repeated Element change = 4;
    optional Inner patch = 5;
    optional string name = 6;
  }
)";

std::unique_ptr<Descriptors> Messages() {
  const auto set = ParseProtoFiles({{"test.proto", kProto}});
  EXPECT_TRUE(set) << set.error().ToString();
  return Descriptors::Extended(wire::AsBytes(*set), "test.proto").value();
}

Result<CompiledProgram> Compile(const std::string& commands) {
  return CompileProgram("root_message: 'test.Root' " + commands, "program.txtpb", *Messages());
}

/// The listing of what the commands become, with the fields' names.
std::string Listed(const std::string& commands) {
  const auto compiled = Compile(commands);
  if (!compiled) return compiled.error().ToString();
  const protovm::Program program(wire::AsBytes(compiled->program));
  const ProgramNames names(program, *Messages(), compiled->root_message);
  EXPECT_TRUE(names.misfits().empty());
  return ProgramText(program, &names);
}

TEST(ProgramCompiler, SetsWithAnAbortLevelForTheOutermostSelect) {
  EXPECT_EQ(Listed("commands { set { src: 'patch.a' dst: 'inner.a' } abort_level: ABORT }"),
            "  0      select SRC patch.a  (on error: abort)\n"
            "  0.0      select DST inner.a create\n"
            "  0.0.0      set\n");
}

TEST(ProgramCompiler, DeletesByKeyOrIfPresent) {
  EXPECT_EQ(Listed("commands { del { src: 'remove' dst: 'elements' dst_key_field: 'id' } }"),
            "  0      select SRC remove[*]\n"
            "  0.0      reg_load r0 = SRC\n"
            "  0.1      select DST elements[id=r0]\n"
            "  0.1.0      del\n");
  EXPECT_EQ(Listed("commands { del { src: 'name' dst: 'inner' if_src_present: true } }"),
            "  0      select SRC name\n"
            "  0.0      select DST inner\n"
            "  0.0.0      del\n");
}

TEST(ProgramCompiler, MergesByKey) {
  EXPECT_EQ(Listed("commands { merge { src: 'change' dst: 'elements' key_field: 'id' } }"),
            "  0      select SRC change[*]\n"
            "  0.0      select SRC id  (on error: abort)\n"
            "  0.0.0      reg_load r0 = SRC\n"
            "  0.1      select DST elements[id=r0] create\n"
            "  0.1.0      merge\n");
}

TEST(ProgramCompiler, MergesRecursivelyButNotForEver) {
  EXPECT_EQ(Listed("commands { merge { src: 'patch' dst: 'inner' recursive: true } }"),
            "  0          select SRC patch\n"
            "  0.0          select DST inner create\n"
            "  0.0.0          select SRC leaf  (on error: continue)\n"
            "  0.0.0.0          select DST leaf create\n"
            "  0.0.0.0.0          merge skip_submessages del_if_src_empty\n"
            "  0.0.1          merge skip_submessages del_if_src_empty\n");
}

TEST(ProgramCompiler, ScopesNest) {
  EXPECT_EQ(Listed("commands { enter_scope { src: 'patch' dst: 'inner' "
                   "commands { set { src: 'a' dst: 'a' } } "
                   "commands { merge { src: 'leaf' dst: 'leaf' } } } }"),
            "  0          select SRC patch\n"
            "  0.0          select DST inner create\n"
            "  0.0.0          select SRC a\n"
            "  0.0.0.0          select DST a create\n"
            "  0.0.0.0.0          set\n"
            "  0.0.1          select SRC leaf\n"
            "  0.0.1.0          select DST leaf create\n"
            "  0.0.1.0.0          merge del_if_src_empty\n");
}

TEST(ProgramCompiler, WhatIsCompiledFolds) {
  const auto compiled = Compile(
      "commands { del { src: 'remove' dst: 'elements' dst_key_field: 'id' } }"
      "commands { merge { src: 'change' dst: 'elements' key_field: 'id' } }");
  ASSERT_TRUE(compiled);
  ProtoVm vm(protovm::kProtoVm57, wire::AsBytes(compiled->program), 1 << 20);
  const auto run = [&](const std::string& packet) { return vm.Run(wire::AsBytes(packet)).result; };
  EXPECT_EQ(run(dsl::Sub(4, dsl::Element(7, 70)) + dsl::Sub(4, dsl::Element(8, 80))),
            RunResult::kOk);
  EXPECT_EQ(run(dsl::Sub(4, dsl::Element(8, 81))), RunResult::kOk);
  EXPECT_EQ(run(dsl::Uint(3, 7)), RunResult::kOk);
  EXPECT_EQ(vm.SerializeState(), dsl::Sub(1, dsl::Element(8, 81)));
  EXPECT_EQ(run(dsl::Sub(4, dsl::Uint(2, 1))), RunResult::kAbort) << "an element without its key";
}

TEST(ProgramCompiler, SaysWhatIsWrongWhere) {
  const auto error = [](const std::string& commands) {
    const auto compiled = Compile(commands);
    EXPECT_FALSE(compiled);
    return compiled ? std::string() : compiled.error().ToString();
  };
  EXPECT_THAT(error("commands { set { src: 'pach' dst: 'inner' } }"),
              HasSubstr("commands[0].set.src: test.Root has no field 'pach'"));
  EXPECT_THAT(error("commands { set { src: 'pach' dst: 'inner' } }"),
              HasSubstr("did you mean 'patch'?"));
  EXPECT_THAT(error("commands { set { src: 'name.x' dst: 'inner' } }"),
              HasSubstr("'x' is in no message"));
  EXPECT_THAT(error("commands { del { src: 'remove' dst: 'elements' } }"),
              HasSubstr("exactly one of"));
  EXPECT_THAT(error("commands { merge { src: 'name' dst: 'name' } }"), HasSubstr("only messages"));
  EXPECT_THAT(error("commands { merge { src: 'patch' dst: 'inner' key_field: 'a' } }"),
              HasSubstr("repeated message only"));
  EXPECT_THAT(error("commands { }"), HasSubstr("commands[0]: it has neither"));
  EXPECT_THAT(error("commands { erase { } }"), HasSubstr("column"));
  EXPECT_THAT(CompileProgram("commands { }", "x", Descriptors::BuiltIn()).error().ToString(),
              HasSubstr("root_message is missing"));
  EXPECT_THAT(
      CompileProgram("root_message: 'Nothing'", "x", Descriptors::BuiltIn()).error().ToString(),
      HasSubstr("there is no message 'Nothing'"));
  EXPECT_TRUE(
      CompileProgram("root_message: '.perfetto.protos.TracePacket'", "x", Descriptors::BuiltIn()));
}

/// What does not fit the messages, a line each.
std::string Misfits(const std::string& program) {
  const protovm::Program decoded(wire::AsBytes(program));
  const ProgramNames names(decoded, *Messages(), "test.Root");
  std::string text;
  for (const MisfitFinding& found : names.misfits())
    text += decoded.PlaceOf(found.instruction) + ": " + Name(found.misfit) + "\n";
  return text;
}

TEST(ProgramNames, FindPathsThatCannotMatch) {
  using namespace dsl;  // NOLINT: programs
  EXPECT_EQ(Misfits(ProgramOf({SelectSrc({Field(9)}, {SelectSrc({Field(1)}, {})})})),
            "instructions[0]: no_such_field\n");
  EXPECT_EQ(Misfits(ProgramOf({SelectSrc({Field(6), Field(1)}, {})})),
            "instructions[0]: not_a_message\n");
  EXPECT_EQ(Misfits(ProgramOf({SelectSrc({Field(2), Index(1)}, {})})),
            "instructions[0]: no_such_element\n");
  EXPECT_EQ(Misfits(ProgramOf({SelectDst({Field(1), Key(3, 0)}, {})})),
            "instructions[0]: bad_key\n");
  EXPECT_EQ(Misfits(ProgramOf({SelectSrc({Field(6)}, {Load(0)}), Load(1)})),
            "instructions[1]: not_a_number\n"
            "instructions[0].nested_instructions[0]: not_a_number\n");
  EXPECT_EQ(Misfits(ProgramOf({SelectSrc({Field(6)}, {SelectDst({Field(2)}, {Set()})})})),
            "instructions[0].nested_instructions[0].nested_instructions[0]: other_type\n");
  EXPECT_EQ(Misfits(ProgramOf({SelectSrc({Each(3)}, {Merge()})})),
            "instructions[0].nested_instructions[0]: not_a_message\n");
}

TEST(ProtoFiles, ImportsAreFoundAmongTheFiles) {
  const ProtoFile one{"a/one.proto",
                      "syntax = 'proto2'; package x; import 'two.proto';"
                      "message One { optional Two two = 1; }"};
  const ProtoFile two{"b/two.proto",
                      "syntax = 'proto2'; package x; message Two { optional int32 n = 1; }"};
  const auto set = ParseProtoFiles({one, two});
  ASSERT_TRUE(set);
  const auto messages = Descriptors::Extended(wire::AsBytes(*set), "one");
  ASSERT_TRUE(messages) << messages.error().ToString();
  EXPECT_EQ((*messages)->FieldOf("x.One", 1)->message, "x.Two");
  EXPECT_TRUE((*messages)->FieldOf("x.Two", 1)->is_scalar);
  EXPECT_THAT(ParseProtoFiles({one}).error().ToString(),
              HasSubstr("'two.proto' is imported, but not given"));
  // Those of Perfetto are built in.
  const ProtoFile of_packets{"p.proto",
                             "syntax = 'proto2'; package x; import "
                             "'protos/perfetto/trace/trace_packet.proto';"
                             "message P { optional perfetto.protos.TracePacket packet = 1; }"};
  const auto packets = ParseProtoFiles({of_packets});
  ASSERT_TRUE(packets);
  const auto known = Descriptors::Extended(wire::AsBytes(*packets), "p");
  ASSERT_TRUE(known) << known.error().ToString();
  EXPECT_EQ((*known)->FieldOf("x.P", 1)->message, "TracePacket");
  const auto broken = ParseProtoFiles({{"c.proto", "syntax = 'proto2';\nmessage {"}});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.line, 2u);
}

}  // namespace
}  // namespace ringscope
