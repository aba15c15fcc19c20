// What buffers overwrite goes into the states of the sessions' programs, and these into the trace.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/vm_log.h"
#include "core/perfetto/fields.h"
#include "core/protovm/protovm_rules.h"
#include "core/testing/protovm_dsl.h"
#include "formats/io/hex.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

namespace dsl = testing::vm;
using testing::CopyProgram;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kLimitKb;
using testing::VmLog;

struct TracedVm {
  std::string text;  // the character that its state's text repeats; "": an empty state
  uint64_t limit_kb = 0;
  std::vector<uint64_t> producers;

  friend bool operator==(const TracedVm&, const TracedVm&) = default;
};
void PrintTo(const TracedVm& vm, std::ostream* out) {
  *out << "'" << vm.text << "' of " << ::testing::PrintToString(vm.producers);
}

/// What a trace has of programs and patches, in order.
struct Traced {
  std::vector<TracedVm> vms;
  std::string patches;  // a character each
  size_t vm_packets = 0;
  bool vms_precede = true;  // all patches
};

std::string FieldAt(Bytes message, std::initializer_list<uint32_t> path) {
  for (const uint32_t number : path) {
    wire::FieldReader fields(message);
    message = {};
    while (const auto field = fields.Next())
      if (field->number == number) message = field->bytes;
  }
  return std::string(wire::AsText(message));
}

Traced ReadTrace(const std::string& trace) {
  Traced traced;
  wire::FieldReader packets(wire::AsBytes(trace));
  while (const auto packet = packets.Next()) {
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next()) {
      if (field->number == proto::TracePacket::kForTesting)
        traced.patches += FieldAt(field->bytes, {6, 1}).substr(0, 1);
      if (field->number != proto::TracePacket::kProtovms) continue;
      ++traced.vm_packets;
      traced.vms_precede &= traced.patches.empty();
      wire::FieldReader instances(field->bytes);
      while (const auto instance = instances.Next()) {
        TracedVm& vm = traced.vms.emplace_back();
        wire::FieldReader members(instance->bytes);
        while (const auto member = members.Next()) {
          if (member->number == 2) vm.text = FieldAt(member->bytes, {900, 7, 1}).substr(0, 1);
          if (member->number == 3) vm.limit_kb = member->value;
          if (member->number == 4) vm.producers.push_back(member->value);
        }
      }
    }
  }
  EXPECT_TRUE(packets.ok());
  return traced;
}

Ran Replayed(const VmLog& log, std::vector<std::string> more = {}) {
  std::vector<std::string> args = {"-", "-o", "-"};
  args.insert(args.end(), more.begin(), more.end());
  Ran ran = RunCommand(ReplayCommand(), args, log.text());
  EXPECT_EQ(ran.error, "");
  return ran;
}
Traced TraceOf(const VmLog& log, std::vector<std::string> more = {}) {
  return ReadTrace(Replayed(log, std::move(more)).out);
}

TEST(SessionVms, NothingOverwritten_TheStateIsEmpty) {
  const Traced traced = TraceOf(VmLog().Source(1, CopyProgram()).Patches(1, "123"));
  EXPECT_THAT(traced.vms, ElementsAre(TracedVm{"", kLimitKb, {1}}));
  EXPECT_EQ(traced.patches, "123");
  EXPECT_TRUE(traced.vms_precede);
}

TEST(SessionVms, TheStateIsWhatWasOverwrittenLast) {
  for (const protovm::ProtoVmRelease& known : protovm::kProtoVmReleases) {
    const Traced traced = TraceOf(
        VmLog(fmt::format("v2@{}", known.release)).Source(1, CopyProgram()).Patches(1, "12345"));
    EXPECT_THAT(traced.vms, ElementsAre(TracedVm{"2", kLimitKb, {1}})) << known.release;
    EXPECT_EQ(traced.patches, "345");
    EXPECT_TRUE(traced.vms_precede);
  }
}

TEST(SessionVms, ALateProducerGetsItsVmAtItsSetUp) {
  const Traced traced =
      TraceOf(VmLog().Patches(2, "a").Source(1, CopyProgram()).Patches(1, "12345"));
  EXPECT_THAT(traced.vms, ElementsAre(TracedVm{"2", kLimitKb, {1}}));
  EXPECT_EQ(traced.patches, "345");
}

TEST(SessionVms, EqualProgramsOfTwoProducersShareAVm) {
  const VmLog log =
      VmLog().Source(1, CopyProgram()).Source(2, CopyProgram()).Patches(1, "1").Patches(2, "2345");
  EXPECT_THAT(TraceOf(log).vms, ElementsAre(TracedVm{"2", kLimitKb, {1, 2}}));
}

TEST(SessionVms, DifferentVersionsHaveVmsOfTheirOwn) {
  const VmLog log = VmLog()
                        .Source(1, CopyProgram(1))
                        .Source(2, CopyProgram(2))
                        .Patches(1, "1")
                        .Patches(2, "2345");
  EXPECT_THAT(TraceOf(log).vms,
              ElementsAre(TracedVm{"1", kLimitKb, {1}}, TracedVm{"2", kLimitKb, {2}}));
}

TEST(SessionVms, WithoutProgramConfigOrLimitThereIsNone) {
  const std::string config = dsl::Sub(12, dsl::Uint(1, kLimitKb));
  const struct {
    std::string program, config;
    const char* warning;  // nullptr if none
  } cases[] = {{"", "", nullptr},
               {"", config, "has no program"},
               {CopyProgram(), "", "has no protovm_config"},
               {CopyProgram(), dsl::Sub(12, ""), "without memory_limit_kb"}};
  for (const auto& one : cases) {
    const Ran ran = Replayed(VmLog().Source(1, one.program, one.config).Patches(1, "12345"));
    const Traced traced = ReadTrace(ran.out);
    EXPECT_EQ(traced.vm_packets, 0u);
    EXPECT_EQ(traced.patches, "345");
    if (one.warning == nullptr)
      EXPECT_THAT(ran.err, ::testing::Not(HasSubstr("warning")));
    else
      EXPECT_THAT(WithoutLineBreaks(ran.err), HasSubstr(one.warning));
  }
  // A limit of 0 is one.
  const Traced none =
      TraceOf(VmLog().Source(1, CopyProgram(), dsl::Sub(12, dsl::Uint(1, 0))).Patches(1, "12345"));
  EXPECT_THAT(none.vms, ElementsAre(TracedVm{"", 0, {1}}));
}

TEST(SessionVms, ABufferOfV1KeepsNoStates) {
  const VmLog log = VmLog().Source(1, CopyProgram()).Patches(1, "12345");
  const Ran ran = Replayed(log, {"--engine", "v1"});
  EXPECT_EQ(ReadTrace(ran.out).vm_packets, 0u);
  EXPECT_THAT(WithoutLineBreaks(ran.err), HasSubstr("keeps no states"));
}

TEST(SessionVms, APluginRunsProgramsItself) {
  const VmLog log = VmLog().Source(1, CopyProgram()).Patches(1, "12");
  const std::string plugin = RS_PLUGINS "/test_plugin_PROGRAMS.so";
  const Ran ran = Replayed(log, {"--engine", plugin});
  const Traced traced = ReadTrace(ran.out);
  EXPECT_EQ(traced.vm_packets, 1u);
  ASSERT_EQ(traced.vms.size(), 1u);
  EXPECT_EQ(traced.vms[0].limit_kb, kLimitKb);
  EXPECT_THAT(traced.vms[0].producers, ElementsAre(1u));
  EXPECT_THAT(WithoutLineBreaks(
                  RunCommand(GapsCommand(), {"-", "--all", "--engine", plugin}, log.text()).out),
              HasSubstr("source: buffer 1 runs it itself"));
}

TEST(SessionVms, ImpossibleProgramsOfAPluginAreItsFault) {
  const VmLog log = VmLog().Source(1, CopyProgram()).Patches(1, "12");
  const Ran ran = RunCommand(
      ReplayCommand(), {"-", "--engine", RS_PLUGINS "/test_plugin_BAD_PROGRAM.so"}, log.text());
  EXPECT_THAT(ran.error, HasSubstr("visit_vms has data at a null pointer"));
}

TEST(SessionVms, OnlyTheFirstPassWritesTheStates) {
  const std::string read = R"("op":"read","buffer":"all","reason":"consumer","session":1)";
  const Traced traced = TraceOf(
      VmLog().Source(1, CopyProgram()).Patches(1, "1234").Line(read).Patches(1, "5678").Line(read));
  EXPECT_THAT(traced.vms, ElementsAre(TracedVm{"1", kLimitKb, {1}}));
  EXPECT_EQ(traced.vm_packets, 1u);
  // A pass without programs is a first one, too.
  const Traced late = TraceOf(
      VmLog().Patches(1, "1").Line(read).Source(1, CopyProgram()).Patches(1, "2345678").Line(read));
  EXPECT_EQ(late.vm_packets, 0u);
}

TEST(SessionVms, AReplaySaysWhatIsFoldedAndWhatOfItIsInTheTrace) {
  const std::string read = R"("op":"read","buffer":"all","reason":"consumer","session":1)";
  const VmLog log =
      VmLog().Source(1, CopyProgram()).Patches(1, "1234").Line(read).Patches(1, "5678").Line(read);
  const Ran ran = RunCommand(ReplayCommand(), {"-", "--format", "json"}, log.text());
  const Json document = testing::ParsedJson(ran.out);
  const Json& buffer = document["sessions"][0]["buffers"][0];
  EXPECT_EQ(buffer["packets"]["folded"], Json(1));
  EXPECT_EQ(buffer["packets"]["lost"], Json(1));
  EXPECT_EQ(buffer["programs"]["folded"], Json(2));
  EXPECT_EQ(buffer["programs"]["in_trace"], Json(1)) << "the second was overwritten after the read";
  const Ran gaps = RunCommand(GapsCommand(), {"-"}, log.text());
  const std::string text = WithoutLineBreaks(gaps.out);
  EXPECT_THAT(text,
              HasSubstr("1 packet (1.08 KiB) was overwritten, but its content is in a state"));
  EXPECT_THAT(text, HasSubstr("1 packet was folded after the only read that writes the state"));
}

/// What gaps tells of the log, as JSON.
Json GapsOf(const VmLog& log, std::vector<std::string> more = {}) {
  std::vector<std::string> args = {"-", "--format", "json"};
  args.insert(args.end(), more.begin(), more.end());
  const Ran ran = RunCommand(GapsCommand(), args, log.text());
  EXPECT_EQ(ran.error, "");
  return *testing::ParsedJson(ran.out)["sessions"].begin();
}

TEST(SessionVms, WhatIsFoldedIsNotLost) {
  const VmLog log = VmLog().Source(1, CopyProgram()).Patches(1, "12345");
  const Json session = GapsOf(log);
  EXPECT_EQ(session["nothing_lost"], Json(true));
  const Json& buffer = *session.at("buffers").begin();
  EXPECT_EQ(buffer["fates"]["folded"]["packets"], Json(2));
  EXPECT_EQ(buffer["fates"]["overwritten"]["packets"], Json(0));
  const Json& flag = *session.at("false_flags").begin();
  EXPECT_EQ(flag["rule"], Json("folded"));
  const Ran listed = RunCommand(GapsCommand(), {"-", "--packets", "--format", "csv"}, log.text());
  EXPECT_EQ(listed.code, ExitCode::kClean);
  EXPECT_EQ(std::ranges::count(listed.out, '\n'), 1) << listed.out;
  // Without the programs, the same packets are lost.
  EXPECT_EQ(GapsOf(log, {"--protovm", "off"})["nothing_lost"], Json(false));
}

TEST(SessionVms, APacketInFragmentsIsFoldedOnce) {
  const std::string path = testing::TestdataPath("protovm/buffer/fragments").string();
  const Ran ran = RunCommand(GapsCommand(), {path + ".ops.jsonl", "--format", "json"});
  ASSERT_EQ(ran.error, "") << "the fates of the packets add up";
  const Json session = *testing::ParsedJson(ran.out)["sessions"].begin();
  const Json& buffer = *session.at("buffers").begin();
  const Json& program = *session.at("programs").begin();
  EXPECT_EQ(buffer["fates"]["folded"]["packets"], program["folded"]["packets"]);
  EXPECT_FALSE(program["folded"]["packets"] == Json(0));
}

TEST(SessionVms, TellsWhatTheLimitDroppedAndWhere) {
  // The second patch does not fit beside the state of the first.
  const VmLog log =
      VmLog().Source(1, CopyProgram(), dsl::Sub(12, dsl::Uint(1, 2))).Patches(1, "1234567");
  const Json program = *GapsOf(log).at("programs").begin();
  EXPECT_EQ(program["memory_limit"], Json(2048));
  EXPECT_EQ(program["folded"]["packets"], Json(1));
  EXPECT_EQ(program["aborted"], Json(3));
  EXPECT_EQ(program["at_limit"]["packets"], Json(3));
  const Json& failure = *program.at("failures").begin();
  EXPECT_EQ(failure["result"], Json("abort"));
  EXPECT_EQ(failure["reason"], Json("memory_limit"));
  EXPECT_EQ(failure["instruction"],
            Json("instructions[0].nested_instructions[0].nested_instructions[0]"));
  EXPECT_EQ(failure["first"]["record"], program["at_limit"]["first"]["record"]);
  const Ran text = RunCommand(GapsCommand(), {"-"}, log.text());
  EXPECT_THAT(WithoutLineBreaks(text.out),
              HasSubstr("source: at its memory limit of 2 KiB since record"));
}

TEST(SessionVms, WhatACloneHasFoldedIsItsOwn) {
  // The session itself read, and so wrote its state, before the clone was made.
  const VmLog log = VmLog()
                        .Source(1, CopyProgram())
                        .Patches(1, "1234")
                        .Line(R"("op":"read","buffer":"all","reason":"consumer","session":1)")
                        .Patches(1, "56789")
                        .Line(R"("op":"clone","clone":1,"session":1)")
                        .Line(R"("op":"buffer_clone","clone":1,"buffer":1,"transfer":false)")
                        .Line(R"("op":"clone_done","clone":1,"success":true,"session":2)");
  const auto folded = [&](std::vector<std::string> more) {
    return (*GapsOf(log, std::move(more)).at("buffers").begin())["fates"]["folded"]["packets"];
  };
  EXPECT_EQ(folded({}), Json(1));
  EXPECT_EQ(folded({"--clone", "1"}), Json(3)) << "2, 3 and 4 were read by the session";
}

TEST(SessionVms, ATransferredBufferTakesItsStateAlong) {
  const VmLog log = VmLog()
                        .Source(1, CopyProgram())
                        .Patches(1, "12345")
                        .Line(R"("op":"clone","clone":1,"session":1)")
                        .Line(R"("op":"buffer_clone","clone":1,"buffer":1,"transfer":true)")
                        .Line(R"("op":"clone_done","clone":1,"success":true,"session":2)");
  const Json program = *GapsOf(log).at("programs").begin();
  EXPECT_EQ(program["left_with_buffer"], Json(true));
  EXPECT_EQ(program["folded"]["packets"], Json(2));
}

/// The packets of a trace with this content, as a trace.
std::string PacketsWith(uint32_t content, const std::string& trace) {
  std::string with;
  wire::FieldReader packets(wire::AsBytes(trace));
  while (const auto packet = packets.Next()) {
    bool has_it = false;
    wire::FieldReader members(packet->bytes);
    while (const auto member = members.Next()) has_it |= member->number == content;
    if (has_it) with += wire::AsText(packet->whole);
  }
  return with;
}

/// trace_provenance of a sequence in the first buffer.
std::string Listing(uint32_t sequence, uint32_t producer) {
  return dsl::Sub(proto::TracePacket::kTraceProvenance,
                  dsl::Sub(2, dsl::Sub(1, dsl::Uint(1, sequence) + dsl::Uint(2, producer))));
}

TEST(SessionVms, ATraceWithProgramsListsItsSequences) {
  // The listing is made before the patches are read: in order of the sequences' first commits.
  const VmLog log = VmLog().Source(3, CopyProgram()).Patches(3, "12345");
  const auto listed = [](const VmLog& of, std::vector<std::string> more = {}) {
    return PacketsWith(proto::TracePacket::kTraceProvenance, Replayed(of, std::move(more)).out);
  };
  EXPECT_THAT(listed(log), HasSubstr(Listing(2, 3)));
  // Nothing needs it without programs.
  EXPECT_EQ(listed(log, {"--protovm", "off"}), "");
  EXPECT_EQ(listed(VmLog().Patches(3, "12345")), "");
  // The copy of a V2 buffer has not counted any writer, and lists none.
  const VmLog cloned = VmLog()
                           .Source(3, CopyProgram())
                           .Patches(3, "12345")
                           .Line(R"("op":"clone","clone":1,"session":1)")
                           .Line(R"("op":"buffer_clone","clone":1,"buffer":1,"transfer":false)")
                           .Line(R"("op":"clone_done","clone":1,"success":true,"session":2)");
  EXPECT_THAT(listed(cloned, {"--clone", "1"}),
              HasSubstr(dsl::Sub(proto::TracePacket::kTraceProvenance, dsl::Sub(2, ""))));
}

TEST(SessionVms, ProgramsCanBeLeftOut) {
  const Traced traced =
      TraceOf(VmLog().Source(1, CopyProgram()).Patches(1, "12345"), {"--protovm", "off"});
  EXPECT_EQ(traced.vm_packets, 0u);
  EXPECT_EQ(traced.patches, "345");
}

TEST(SessionVms, ACloneHasTheStateOfItsInstant) {
  const auto clone = [](bool transfer) {
    return VmLog()
        .Source(1, CopyProgram())
        .Patches(1, "1234")
        .Line(R"("op":"clone","clone":1,"session":1)")
        .Line(fmt::format(R"("op":"buffer_clone","clone":1,"buffer":1,"transfer":{})", transfer))
        .Line(R"("op":"clone_done","clone":1,"success":true,"session":2)")
        .Patches(1, "5678");
  };
  const Traced of_clone = TraceOf(clone(false), {"--clone", "1"});
  EXPECT_THAT(of_clone.vms, ElementsAre(TracedVm{"1", kLimitKb, {1}}));
  EXPECT_EQ(of_clone.patches, "234");
  const Traced own = TraceOf(clone(false));
  EXPECT_THAT(own.vms, ElementsAre(TracedVm{"5", kLimitKb, {1}}));
  EXPECT_EQ(own.patches, "678");
  // With the buffer, the clone takes its programs.
  const Traced taken = TraceOf(clone(true), {"--clone", "1"});
  EXPECT_THAT(taken.vms, ElementsAre(TracedVm{"1", kLimitKb, {1}}));
  EXPECT_THAT(TraceOf(clone(true)).vms, IsEmpty());
}

TEST(SessionVms, ABufferHasOnlySoManyPrograms) {
  VmLog log;
  for (uint32_t version = 1; version <= 4096; ++version) log.Source(1, CopyProgram(version));
  EXPECT_EQ(RunCommand(ReplayCommand(), {"-"}, log.text()).error, "");
  log.Source(1, CopyProgram(4097));
  const Ran ran = RunCommand(ReplayCommand(), {"-"}, log.text());
  EXPECT_THAT(WithoutLineBreaks(ran.error), HasSubstr("more than 4096 programs (ProtoVM)"));
  EXPECT_EQ(RunCommand(ReplayCommand(), {"-", "--protovm", "off"}, log.text()).error, "");
}

TEST(SessionVms, ABufferThatIsClearedLosesItsPrograms) {
  const auto cleared = [](const std::string& before) {
    return VmLog()
        .Source(1, CopyProgram())
        .Patches(1, before)
        .Line(R"("op":"buffer_clear","buffer":1)")
        .Patches(1, "5678");
  };
  EXPECT_THAT(TraceOf(cleared("1")).vms, IsEmpty());
  EXPECT_THAT(TraceOf(cleared("")).vms, ElementsAre(TracedVm{"5", kLimitKb, {1}}));
}

TEST(SessionVms, AnObservedReplayFeedsTheSame) {
  const VmLog log = VmLog().Source(1, CopyProgram()).Patches(1, "123456789");
  const std::string plain = RunCommand(ReplayCommand(), {"-", "--events", "-"}, log.text()).out;
  EXPECT_THAT(plain, HasSubstr(R"("event":"vm")"));
  const TempFolder folder;
  // With the accounts of a summary.
  const std::string events = folder.File("events.jsonl");
  EXPECT_EQ(RunCommand(ReplayCommand(), {"-", "--events", events}, log.text()).error, "");
  EXPECT_EQ(ReadFile(events), plain);
}

// The released service's answers: buffers with programs, by release.

/// The keys of `want` are in `got`, with these values.
void ExpectEvent(const Json& want, const Json& got) {
  for (const char* key : {"event", "buffer", "data_source", "memory_limit_kb", "producers", "state",
                          "memory", "packets", "size", "fnv1a64", "dropped", "stats", "writer"}) {
    if (const auto value = want.find(key); value != want.end()) {
      ASSERT_TRUE(got.contains(key)) << got.dump();
      EXPECT_TRUE(*value == got[key]) << key << ": " << value->dump() << " and " << got.dump();
    }
  }
}

class BufferVmCases : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, BufferVmCases,
                         ::testing::Values("discard", "error-abort-ok", "fragments", "mixed",
                                           "patches", "read-before"),
                         testing::NameOfParam<const char*>);

TEST_P(BufferVmCases, EventsAreTheReleasedServices) {
  const std::string path = testing::TestdataPath("protovm/buffer") / GetParam();
  const Json answers = testing::ParsedJson(ReadFile(path + ".answer.json"));
  for (const Json& block : answers["answers"]) {
    for (const Json& release : block["releases"]) {
      const std::string engine = "v2@" + release.get<std::string>().substr(1);
      SCOPED_TRACE(engine);
      const Ran ran =
          RunCommand(ReplayCommand(), {path + ".ops.jsonl", "--events", "-", "--engine", engine});
      ASSERT_EQ(ran.error, "");
      std::istringstream lines(ran.out);
      for (const Json& want : block["lines"]) {
        std::string line;
        ASSERT_TRUE(std::getline(lines, line));
        ExpectEvent(want, testing::ParsedJson(line));
      }
      std::string rest;
      EXPECT_FALSE(std::getline(lines, rest)) << rest;
    }
  }
}

}  // namespace
}  // namespace ringscope
