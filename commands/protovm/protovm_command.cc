#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "commands/protovm/found_programs.h"
#include "commands/protovm/program_text.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/view/report.h"
#include "core/protovm/proto_vm.h"
#include "formats/io/hex.h"
#include "formats/json/json_keys.h"
#include "formats/json/json_writer.h"

namespace ringscope {
namespace {

using protovm::ProtoVm;
using protovm::RunOutcome;
using protovm::RunResult;

constexpr size_t kMaxCaseBytes = size_t{64} << 20;
constexpr uint64_t kDefaultLimit = uint64_t{1} << 20;
constexpr int kOldestRelease = static_cast<int>(protovm::kProtoVmReleases.front().release);
constexpr int kNewestVmRelease = static_cast<int>(protovm::kProtoVmReleases.back().release);

struct ProtovmArgs {
  std::string action;
  std::vector<std::string> files;
  std::string case_file;  // empty: none
  std::optional<uint64_t> limit;
  int release = kNewestVmRelease;
  std::string descriptor;
  std::string format;
};

void SetUpProtovm(CLI::App& app, ProtovmArgs& args) {
  AddChoice(app, "ACTION", args.action, {"show", "run"}, "What to do", Need::kRequired);
  InGroup(app, kInputGroup);
  AddTexts(app, "FILE", args.files, kFileType,
           "For 'show': programs (VmProgram messages), logs and traces. For 'run': a program, and "
           "the packets to run it on. Messages are encoded bytes, with nothing around them");
  AddText(app, "--case", args.case_file, kFileType,
          "For 'run': all of it as JSON (program, initial_state, memory_limit_bytes or "
          "memory_limit_kb, packets); the result is a line of JSON per packet");
  Exclude(app, "--case", {"FILE"});
  AddParsed(app, "--limit", args.limit, ParseSize, "SIZE",
            "For 'run': memory limit of the state, as the service counts it (default: 1MiB)");
  InGroup(app, kReplayGroup);
  AddNumber(app, "--release", args.release, {kOldestRelease, kNewestVmRelease}, "RELEASE",
            "Follow the rules of this release of Perfetto, 54 for v54 (default: the newest, 58)");
  AddDescriptor(app, args.descriptor);
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {"text", "json"});
  Exclude(app, "--case", {"--limit", "--format"});
}

std::string HexOf(std::string_view bytes) {
  std::string hex;
  AppendHex(hex, wire::AsBytes(bytes));
  return hex;
}

/// A program, the state it begins with, and the packets to run it on.
struct VmCase {
  std::string program, initial_state;
  uint64_t limit = kDefaultLimit;
  std::vector<std::string> packets;
};

Result<VmCase> ParseVmCase(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  if (!json.is_object())
    return Fail(ErrorCode::kCorrupt, "a case is a JSON object", {},
                "with program, packets, and memory_limit_bytes or memory_limit_kb");
  VmCase parsed;
  KeyReader keys(json);
  keys.Hex("program", kMaxCaseBytes, parsed.program);
  if (keys.Has("initial_state")) keys.Hex("initial_state", kMaxCaseBytes, parsed.initial_state);
  parsed.limit = keys.Has("memory_limit_kb")
                     ? protovm::LimitBytes(keys.Uint<uint64_t>("memory_limit_kb"))
                     : keys.Uint<uint64_t>("memory_limit_bytes");
  const Json* const packets = FindKey(json, "packets");
  const Json none;
  if (packets == nullptr || !packets->is_array())
    keys.FailExpected("packets", "an array of hex digits");
  for (const Json& packet : packets == nullptr ? none : *packets) {
    if (!packet.is_string() || !DecodeHex(packet.get<std::string>(), parsed.packets.emplace_back()))
      keys.FailExpected("packets", "an array of hex digits");
  }
  RS_RETURN_IF_ERROR(keys.status());
  return parsed;
}

ProtoVm MakeVm(const ProtovmArgs& args, const VmCase& one) {
  return {*protovm::FindProtoVmRules(static_cast<uint32_t>(args.release)),
          wire::AsBytes(one.program), one.limit, wire::AsBytes(one.initial_state)};
}

/// Prints a line of JSON for each packet.
Result<ExitCode> RunCase(const ProtovmArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const std::string text, ReadMessageFile(context, args.case_file));
  Result<VmCase> parsed = ParseVmCase(text);
  if (!parsed) {
    parsed.error().where.path = args.case_file;
    return tl::unexpected<Error>(std::move(parsed.error()));
  }
  ProtoVm vm = MakeVm(args, *parsed);
  for (const std::string& packet : parsed->packets) {
    const RunOutcome outcome = vm.Run(wire::AsBytes(packet));
    std::string line;
    JsonObjectWriter object(line);
    object.Text("result", Name(outcome.result));
    object.Text("state", HexOf(vm.SerializeState()));
    object.Uint("memory", vm.state().counted());
    if (outcome.result != RunResult::kOk) {
      object.Text("reason", Name(outcome.reason));
      object.Text("instruction", vm.program().PlaceOf(outcome.instruction));
    }
    object.Close();
    context.console.Print(line + "\n");
  }
  return ExitCode::kClean;
}

/// Returns "abort at instructions[0]: the packet has no such field", or "ok".
std::string OutcomeText(const protovm::Program& program, const RunOutcome& outcome) {
  if (outcome.result == RunResult::kOk) return "ok";
  const std::string what =
      outcome.result == RunResult::kCrash ? "the service would crash here," : Name(outcome.result);
  return fmt::format("{} at {}: {}", what, program.PlaceOf(outcome.instruction),
                     Describe(outcome.reason));
}

Result<ExitCode> RunProgram(const ProtovmArgs& args, Context& context) {
  VmCase one{.limit = args.limit.value_or(kDefaultLimit)};
  RS_ASSIGN_OR_RETURN(one.program, ReadMessageFile(context, args.files[0]));
  ProtoVm vm = MakeVm(args, one);
  Report report(context.console, args.format, "protovm_run");
  report.Data({{"release", args.release}, {"memory_limit_bytes", one.limit}});
  for (size_t i = 1; i < args.files.size(); ++i) {
    const std::string& path = args.files[i];
    RS_ASSIGN_OR_RETURN(const std::string packet, ReadMessageFile(context, path));
    const RunOutcome outcome = vm.Run(wire::AsBytes(packet));
    const std::string state = vm.SerializeState();
    report.Paragraph(fmt::format("{}: {}", Printable(path), OutcomeText(vm.program(), outcome)));
    report.Print(fmt::format("  state of {} bytes, {} of {} bytes counted\n",
                             WithCommas(state.size()), WithCommas(vm.state().counted()),
                             WithCommas(one.limit)));
    report.AddItem("packets", [&] {
      report.Data({{"packet", path},
                   {"result", Name(outcome.result)},
                   {"state", HexOf(state)},
                   {"memory_bytes", vm.state().counted()}});
      if (outcome.result != RunResult::kOk)
        report.Data({{"reason", Name(outcome.reason)},
                     {"instruction", vm.program().PlaceOf(outcome.instruction)}});
    });
  }
  const std::string state = HexOf(vm.SerializeState());
  report.Print(fmt::format("final state: {}\n", state.empty() ? "empty" : state));
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
}

/// Returns the facts that a file has of a program: "data source 'x', producers 1, 2".
std::string OriginText(const FoundProgram& found) {
  std::vector<std::string> parts;
  if (!found.data_source.empty())
    parts.push_back(fmt::format("data source '{}'", Printable(found.data_source)));
  if (!found.producers.empty())
    parts.push_back(fmt::format("{} {}", found.producers.size() == 1 ? "producer" : "producers",
                                fmt::join(found.producers, ", ")));
  if (found.memory_limit_kb)
    parts.push_back(fmt::format("limit {} KiB", WithCommas(*found.memory_limit_kb)));
  if (found.state)
    parts.push_back(fmt::format("state of {} bytes", WithCommas(found.state->size())));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<ExitCode> ShowPrograms(const ProtovmArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const DescriptorChoice descriptors,
                      DescriptorChoice::Open(context, args.descriptor));
  Report report(context.console, args.format, "protovm_show");
  for (const std::string& path : args.files) {
    RS_ASSIGN_OR_RETURN(const std::vector<FoundProgram> programs, FindPrograms(context, path));
    if (programs.empty()) report.Print(fmt::format("{}: no programs\n", Printable(path)));
    for (const FoundProgram& found : programs) {
      const protovm::Program program(wire::AsBytes(found.program));
      const std::string listing = ProgramText(program, descriptors.get(), found.message);
      const std::string origin = OriginText(found);
      report.Title(Printable(path), fmt::format("version {}, {}, {} bytes", program.version(),
                                                Count(program.all().size(), "instruction"),
                                                WithCommas(found.program.size())));
      if (!origin.empty()) report.Paragraph(origin, 2);
      report.Print(listing);
      report.AddItem("programs", [&] {
        report.Data({{"from", path},
                     {"data_source", found.data_source},
                     {"producers", found.producers},
                     {"memory_limit_kb", found.memory_limit_kb},
                     {"version", program.version()},
                     {"instructions", program.all().size()},
                     {"listing", listing},
                     {"program", HexOf(found.program)}});
        if (found.state) report.Data("state", HexOf(*found.state));
      });
    }
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
}

Result<ExitCode> RunProtovm(const ProtovmArgs& args, Context& context) {
  const bool is_run = args.action == "run";
  if (!is_run && (!args.case_file.empty() || args.limit))
    return Fail(ErrorCode::kUsage, "'show' takes no --case and no --limit", {},
                "for example 'ringscope protovm show session.tblog'");
  if (!args.case_file.empty()) return RunCase(args, context);
  if (args.files.empty())
    return Fail(ErrorCode::kUsage, fmt::format("'{}' needs a program", args.action), {},
                "name a file with a VmProgram message");
  return is_run ? RunProgram(args, context) : ShowPrograms(args, context);
}

}  // namespace

Command ProtovmCommand() {
  return {"protovm",
          "Explain",
          "Show and run programs that fold packets into a state",
          "A data source may come with a program (ProtoVM): packets that a V2 buffer overwrites "
          "unread are folded into a state by it, which the trace has in their place. 'show' "
          "lists a program, an instruction per line; 'run' runs one on packets, by the rules of "
          "any release.",
          {{"ringscope protovm show session.tblog", "What do this session's programs do?"},
           {"ringscope protovm run program.pb first.pb second.pb",
            "What state do these packets lead to?"},
           {"ringscope protovm run --case case.json --release 56",
            "The same from one JSON file, by the rules of v56"}},
          Bind(SetUpProtovm, RunProtovm)};
}

}  // namespace ringscope
