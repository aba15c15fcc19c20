#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "commands/protovm/found_programs.h"
#include "commands/protovm/program_compiler.h"
#include "commands/protovm/program_names.h"
#include "commands/protovm/program_text.h"
#include "commands/protovm/vm_case.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/view/report.h"
#include "core/protovm/program_check.h"
#include "core/protovm/proto_vm.h"
#include "formats/descriptors/proto_files.h"
#include "formats/io/hex.h"
#include "formats/json/json_writer.h"

namespace ringscope {
namespace {

using protovm::ProtoVm;
using protovm::RunOutcome;
using protovm::RunResult;

constexpr OutputKind kProgramOutput = {"a program", false, nullptr};
constexpr const char* kPacketMessage = "TracePacket";
constexpr uint64_t kDefaultLimit = uint64_t{1} << 20;
constexpr int kOldestRelease = static_cast<int>(protovm::kProtoVmReleases.front().release);
constexpr int kNewestVmRelease = static_cast<int>(protovm::kProtoVmReleases.back().release);

struct ProtovmArgs {
  std::string action;
  std::vector<std::string> files;
  std::string case_file;  // empty: none
  std::string state;      // file with the initial state; empty: none
  std::optional<uint64_t> limit;
  int release = kNewestVmRelease;
  bool steps = false;
  std::string message;              // that packets and states are; empty: not chosen
  std::vector<std::string> protos;  // files
  std::string descriptor;
  std::string output;
  bool force = false;
  std::string format;
};

void SetUpProtovm(CLI::App& app, ProtovmArgs& args) {
  AddChoice(app, "ACTION", args.action, {"show", "run", "check", "compile"}, "What to do",
            Need::kRequired);
  InGroup(app, kInputGroup);
  AddTexts(app, "FILE", args.files, kFileType,
           "For 'show' and 'check': programs (VmProgram messages), logs and traces. For 'run': a "
           "program, and "
           "the packets to run it on. Messages are encoded bytes, with nothing around them. For "
           "'compile': a description of a program (CompileConfig, in protobuf's text format)");
  AddText(app, "--case", args.case_file, kFileType,
          "For 'run': all of it as JSON (program, initial_state, memory_limit_bytes or "
          "memory_limit_kb, packets); the result is a line of JSON per packet");
  Exclude(app, "--case", {"FILE"});
  AddText(app, "--state", args.state, kFileType, "State to begin with (default: an empty one)");
  AddParsed(
      app, "--limit", args.limit, ParseSize, "SIZE",
      "Memory limit of the state, as the service counts it (default: 1MiB; for 'check', that of "
      "the log or trace)");
  InGroup(app, kReplayGroup);
  AddNumber(app, "--release", args.release, {kOldestRelease, kNewestVmRelease}, "RELEASE",
            "Follow the rules of this release of Perfetto, 54 for v54 (default: the newest, 58)");
  AddFlag(app, "--steps", args.steps, "For 'run': show each instruction, and how it ended");
  AddText(app, "--message", args.message, "NAME",
          "Message that packets and states are, whose fields are shown by their names and checked "
          "(default: TracePacket, for programs of logs and traces)");
  AddTexts(app, "--proto", args.protos, kFileType,
           ".proto files that define the message, and all that they import but Perfetto's own");
  AddDescriptor(app, args.descriptor);
  Exclude(app, "--proto", {"--descriptor"});
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "For 'compile': the program to write (a VmProgram message); - for standard output");
  AddForce(app, args.force);
  AddFormat(app, args.format, {"text", "json"});
  Exclude(app, "--case", {"--state", "--limit", "--steps", "--format", "--message"});
}

std::string HexOf(std::string_view bytes) {
  std::string hex;
  AppendHex(hex, wire::AsBytes(bytes));
  return hex;
}

/// The messages that the options name.
class Messages {
 public:
  static Result<Messages> Open(const ProtovmArgs& args, Context& context) {
    Messages messages;
    RS_ASSIGN_OR_RETURN(messages.choice_, DescriptorChoice::Open(context, args.descriptor));
    if (!args.protos.empty()) {
      std::vector<ProtoFile> files;
      for (const std::string& path : args.protos) {
        RS_ASSIGN_OR_RETURN(std::string text, ReadMessageFile(context, path));
        files.push_back({path, std::move(text)});
      }
      RS_ASSIGN_OR_RETURN(const std::string set, ParseProtoFiles(files));
      RS_ASSIGN_OR_RETURN(messages.of_files_,
                          Descriptors::Extended(wire::AsBytes(set), args.protos.front()));
    }
    if (!args.message.empty() && !messages.get().HasMessage(args.message))
      return Fail(ErrorCode::kUsage, fmt::format("there is no message '{}'", args.message), {},
                  "give the .proto file that defines it with --proto, and its package in front");
    return messages;
  }
  const Descriptors& get() const { return of_files_ ? *of_files_ : choice_.get(); }
  /// The names of a program's fields; nullopt: it is not known what its packets are.
  std::optional<ProgramNames> NamesOf(const protovm::Program& program, const ProtovmArgs& args,
                                      bool is_traced) const {
    if (args.message.empty() && !is_traced) return std::nullopt;
    return std::optional<ProgramNames>(std::in_place, program, get(),
                                       args.message.empty() ? kPacketMessage : args.message);
  }

 private:
  DescriptorChoice choice_;
  std::unique_ptr<Descriptors> of_files_;
};

const ProgramNames* OrNull(const std::optional<ProgramNames>& names) {
  return names ? &*names : nullptr;
}

/// "abort at instructions[0]: the packet has no such field", or "ok".
std::string OutcomeText(const protovm::Program& program, const RunOutcome& outcome) {
  if (outcome.result == RunResult::kOk) return "ok";
  const std::string where = program.PlaceOf(outcome.instruction);
  switch (outcome.result) {
    case RunResult::kCrash:
      return fmt::format("the service would crash here, at {}: {}", where,
                         Describe(outcome.reason));
    case RunResult::kTooLong:
      return fmt::format("stopped at {}: {}", where, Describe(outcome.reason));
    default:
      return fmt::format("{} at {}: {}", Name(outcome.result), where, Describe(outcome.reason));
  }
}

Status RunCase(const ProtovmArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const std::string text, ReadMessageFile(context, args.case_file));
  RS_ASSIGN_OR_RETURN(const VmCase parsed, ParseVmCase(text, args.case_file));
  ProtoVm vm(*protovm::FindProtoVmRules(static_cast<uint32_t>(args.release)),
             wire::AsBytes(parsed.program), parsed.limit, wire::AsBytes(parsed.initial_state));
  for (const std::string& packet : parsed.packets) {
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
  return {};
}

/// Prints the instructions of a run, those that are nested indented.
class StepPrinter : public protovm::RunWatcher {
 public:
  StepPrinter(const protovm::Program& program, const ProgramNames* names, Report& report)
      : program_(program), names_(names), report_(report) {}

  void OnBegin(uint32_t index) override {
    is_passed_on_ = false;
    report_.Print(
        fmt::format("    {:{}}{}\n", "", Indent(), InstructionText(program_, index, names_)));
    ++depth_;
  }
  void OnEnd(uint32_t, RunResult result, protovm::Reason reason) override {
    if (depth_ > 0) --depth_;
    if (result == RunResult::kOk) return;
    // The reason is where it began.
    report_.Print(fmt::format("    {:{}}-> {}{}{}\n", "", Indent() + 2, Name(result),
                              is_passed_on_ ? "" : ": ", is_passed_on_ ? "" : Describe(reason)));
    is_passed_on_ = true;
  }
  void Reset() { depth_ = 0, is_passed_on_ = false; }

 private:
  size_t Indent() const { return std::min<size_t>(2 * depth_, 24); }

  const protovm::Program& program_;
  const ProgramNames* const names_;
  Report& report_;
  size_t depth_ = 0;
  bool is_passed_on_ = false;  // an instruction nested in the one that ends now failed
};

Result<ExitCode> RunProgram(const ProtovmArgs& args, const Messages& messages, Context& context) {
  RS_ASSIGN_OR_RETURN(const std::string program, ReadMessageFile(context, args.files[0]));
  std::string initial;
  if (!args.state.empty()) {
    RS_ASSIGN_OR_RETURN(initial, ReadMessageFile(context, args.state));
  }
  const uint64_t limit = args.limit.value_or(kDefaultLimit);
  ProtoVm vm(*protovm::FindProtoVmRules(static_cast<uint32_t>(args.release)),
             wire::AsBytes(program), limit, wire::AsBytes(initial));
  Report report(context.console, args.format, "protovm_run");
  report.Data({{"release", args.release}, {"memory_limit_bytes", limit}});
  const auto names = messages.NamesOf(vm.program(), args, /*is_traced=*/false);
  StepPrinter steps(vm.program(), OrNull(names), report);
  if (args.steps && report.is_text()) vm.set_watcher(&steps);
  for (size_t i = 1; i < args.files.size(); ++i) {
    const std::string& path = args.files[i];
    RS_ASSIGN_OR_RETURN(const std::string packet, ReadMessageFile(context, path));
    if (args.steps) report.Print(fmt::format("{}:\n", Printable(path)));
    steps.Reset();
    const RunOutcome outcome = vm.Run(wire::AsBytes(packet));
    const std::string state = vm.SerializeState();
    report.Paragraph(fmt::format("{}: {}", Printable(path), OutcomeText(vm.program(), outcome)));
    report.Print(fmt::format("  state of {} bytes, {} of {} bytes counted\n",
                             WithCommas(state.size()), WithCommas(vm.state().counted()),
                             WithCommas(limit)));
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
  const std::string last = vm.SerializeState();
  const std::string state = HexOf(last);
  report.Print(fmt::format("final state: {}\n", state.empty() ? "empty" : state));
  if (names) report.Print(messages.get().Text(args.message, wire::AsBytes(last)));
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
}

/// What a file has of a program, in words: "data source 'x', producers 1 and 2".
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

Result<ExitCode> ShowPrograms(const ProtovmArgs& args, const Messages& messages, Context& context) {
  Report report(context.console, args.format, "protovm_show");
  for (const std::string& path : args.files) {
    RS_ASSIGN_OR_RETURN(const std::vector<FoundProgram> programs, FindPrograms(context, path));
    if (programs.empty()) report.Print(fmt::format("{}: no programs\n", Printable(path)));
    for (const FoundProgram& found : programs) {
      const protovm::Program program(wire::AsBytes(found.program));
      const auto names = messages.NamesOf(program, args, found.is_traced);
      const std::string listing = ProgramText(program, OrNull(names));
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

std::string FindingText(const protovm::ProgramFinding& found) {
  using protovm::Flaw;
  switch (found.finding) {
    case Flaw::kAborts:
      return fmt::format("aborts: {}", Describe(found.reason));
    case Flaw::kAbortsOrCrashes:
      return fmt::format("aborts, and crashes the service in v54 and v55: {}",
                         Describe(found.reason));
    case Flaw::kNeverReached:
      return "is never reached: what is in front of it aborts";
    case Flaw::kMayCrash:
      return "crashes the service if the packet has a scalar there: the state would become one";
    case Flaw::kIgnoredFlag:
      return fmt::format("{} has no effect before v{}", found.flag, found.since);
    case Flaw::kOtherOrder:
      return fmt::format("an empty field deletes a message since v{}, and is skipped before",
                         found.since);
    case Flaw::kOverLimit:
      return "aborts: what it creates does not fit into the memory limit";
  }
  return "";
}

Result<ExitCode> CheckPrograms(const ProtovmArgs& args, const Messages& messages,
                               Context& context) {
  Report report(context.console, args.format, "protovm_check");
  bool is_clean = true;
  for (const std::string& path : args.files) {
    RS_ASSIGN_OR_RETURN(const std::vector<FoundProgram> programs, FindPrograms(context, path));
    if (programs.empty()) report.Print(fmt::format("{}: no programs\n", Printable(path)));
    for (const FoundProgram& one : programs) {
      const protovm::Program program(wire::AsBytes(one.program));
      std::optional<uint64_t> limit = args.limit;
      if (!limit && one.memory_limit_kb) limit = protovm::LimitBytes(*one.memory_limit_kb);
      const auto findings = CheckProgram(program, limit);
      const auto names = messages.NamesOf(program, args, one.is_traced);
      const size_t count = findings.size() + (names ? names->misfits().size() : 0);
      is_clean &= count == 0;
      report.Title(Printable(path),
                   count == 0 ? std::string("nothing is found") : Count(count, "finding"));
      if (const std::string origin = OriginText(one); !origin.empty()) report.Paragraph(origin, 2);
      report.AddItem("programs", [&] {
        report.Data({{"from", path}, {"data_source", one.data_source}});
        for (const protovm::ProgramFinding& found : findings) {
          const std::string place = program.PlaceOf(found.instruction);
          const std::string line = InstructionText(program, found.instruction, OrNull(names));
          report.Paragraph(fmt::format("{} ({}): {}", place, line, FindingText(found)), 2);
          report.AddItem("findings", [&] {
            report.Data({{"finding", Name(found.finding)},
                         {"instruction", place},
                         {"reason", Name(found.reason)},
                         {"text", FindingText(found)}});
          });
        }
        if (!names) return;
        for (const MisfitFinding& found : names->misfits()) {
          const std::string place = program.PlaceOf(found.instruction);
          report.Paragraph(
              fmt::format("{} ({}): {}", place,
                          InstructionText(program, found.instruction, OrNull(names)), found.text),
              2);
          report.AddItem("findings", [&] {
            report.Data({{"finding", Name(found.misfit)},
                         {"instruction", place},
                         {"reason", Name(protovm::Reason::kNone)},
                         {"text", found.text}});
          });
        }
      });
    }
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return is_clean ? ExitCode::kClean : ExitCode::kNotice;
}

Result<ExitCode> CompilePrograms(const ProtovmArgs& args, const Messages& messages,
                                 Context& context) {
  if (args.files.size() != 1 || args.output.empty())
    return Fail(ErrorCode::kUsage, "'compile' takes one description, and needs --output", {},
                "for example 'ringscope protovm compile program.txtpb --proto state.proto -o "
                "program.pb'");
  RS_ASSIGN_OR_RETURN(const std::string description, ReadMessageFile(context, args.files[0]));
  RS_ASSIGN_OR_RETURN(const CompiledProgram compiled,
                      CompileProgram(description, args.files[0], messages.get()));
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kProgramOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(compiled.program));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.output == "-") return ExitCode::kClean;
  const protovm::Program program(wire::AsBytes(compiled.program));
  const ProgramNames names(program, messages.get(), compiled.root_message);
  const std::string listing = ProgramText(program, &names);
  Report report(context.console, args.format, "protovm_compile");
  report.Title(Printable(args.output),
               fmt::format("{}, {} bytes", Count(program.all().size(), "instruction"),
                           WithCommas(compiled.program.size())));
  report.Print(listing);
  report.Data({{"output", args.output},
               {"message", compiled.root_message},
               {"instructions", program.all().size()},
               {"listing", listing},
               {"program", HexOf(compiled.program)}});
  RS_RETURN_IF_ERROR(report.Finish());
  return ExitCode::kClean;
}

Result<ExitCode> RunProtovm(const ProtovmArgs& args, Context& context) {
  const bool is_run = args.action == "run";
  const bool is_check = args.action == "check";
  if (!is_run &&
      (!args.case_file.empty() || !args.state.empty() || args.steps || (args.limit && !is_check)))
    return Fail(ErrorCode::kUsage,
                fmt::format("'{}' takes no --case, --state or --steps{}", args.action,
                            is_check ? "" : ", and no --limit"),
                {}, "for example 'ringscope protovm run program.pb packet.pb --steps'");
  const bool is_compile = args.action == "compile";
  if (!is_compile && !args.output.empty())
    return Fail(ErrorCode::kUsage, fmt::format("'{}' takes no --output", args.action));
  if (!args.case_file.empty()) {
    RS_RETURN_IF_ERROR(RunCase(args, context));
    return ExitCode::kClean;
  }
  if (args.files.empty())
    return Fail(ErrorCode::kUsage, fmt::format("'{}' needs a program", args.action), {},
                "name a file with a VmProgram message");
  RS_ASSIGN_OR_RETURN(const Messages messages, Messages::Open(args, context));
  if (is_compile) return CompilePrograms(args, messages, context);
  if (is_check) return CheckPrograms(args, messages, context);
  return is_run ? RunProgram(args, messages, context) : ShowPrograms(args, messages, context);
}

}  // namespace

Command ProtovmCommand() {
  return {
      "protovm",
      "Explain",
      "Show, check and run programs that fold packets into a state",
      "A data source may come with a program (ProtoVM): packets that a V2 buffer overwrites "
      "unread are folded into a state by it, which the trace has in their place. 'show' "
      "lists a program, an instruction per line; 'run' runs one on packets, by the rules of "
      "any release; 'check' finds what cannot do what it seems to; 'compile' makes a program of "
      "a description that names fields.",
      {{"ringscope protovm show session.tblog", "What do this session's programs do?"},
       {"ringscope protovm run program.pb first.pb second.pb --steps",
        "What state do these packets lead to, instruction by instruction?"},
       {"ringscope protovm check program.pb", "Which instructions abort, or do nothing?"},
       {"ringscope protovm compile program.txtpb --proto state.proto -o program.pb",
        "Make a program from commands such as merge { src: \"patch\" dst: \"state\" }"},
       {"ringscope protovm run --case case.json --release 56",
        "The same from one JSON file, by the rules of v56"}},
      Bind(SetUpProtovm, RunProtovm),
      {.notice = "A program that was checked has findings."}};
}

}  // namespace ringscope
