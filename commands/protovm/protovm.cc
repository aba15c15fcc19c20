#include <fmt/ranges.h>

#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/view/report.h"
#include "core/protovm/proto_vm.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/open_log.h"
#include "formats/io/hex.h"
#include "formats/json/key_reader.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

using protovm::Instruction;
using protovm::OpCode;
using protovm::PathPart;
using protovm::Program;
using protovm::ProtoVm;
using protovm::RunOutcome;
using protovm::RunResult;

constexpr size_t kMaxIndent = 24;

/// The messages that the cursors of a run are at. Empty: not known.
struct Cursors {
  std::string src, dst;
};

std::string CursorText(uint32_t cursor) {
  if (cursor == protovm::kCursorSrc) return "SRC";
  if (cursor == protovm::kCursorDst) return "DST";
  return cursor == 3 ? "BOTH" : fmt::format("cursor {}", cursor);
}

/// Returns a path as text, and moves `message` to the message at its end.
std::string PathText(std::span<const PathPart> path, std::string& message) {
  std::string text;
  const auto name_of = [&](uint32_t number) {
    const std::string name = descriptors::FieldName(message, number);
    return name.empty() ? std::to_string(number) : name;
  };
  for (const PathPart& part : path) {
    if (part.field_id) {
      text += fmt::format("{}{}{}", text.empty() ? " " : ".", name_of(*part.field_id),
                          part.is_repeated ? "[*]" : "");
      const auto field = descriptors::FieldOf(message, *part.field_id);
      message = field ? field->message : std::string();
    } else if (part.array_index) {
      text += fmt::format("[{}]", *part.array_index);
    } else if (part.map_key_field_id) {
      text +=
          fmt::format("[{}={}]", name_of(*part.map_key_field_id),
                      part.register_to_match ? fmt::format("r{}", *part.register_to_match) : "?");
    } else {
      text += "[?]";
    }
  }
  return text;
}

std::string LevelText(uint32_t abort_level) {
  if (abort_level == protovm::kBreakOuter) return "";
  return abort_level == protovm::kAbortRun ? "  (on error: abort)" : "  (on error: continue)";
}

/// Returns an instruction as text, and moves the cursors as it does.
std::string InstructionText(const Program& program, const Instruction& instruction,
                            Cursors& cursors) {
  const std::string cursor = CursorText(instruction.cursor);
  switch (instruction.op) {
    case OpCode::kSelect: {
      std::string& at = instruction.cursor == protovm::kCursorSrc ? cursors.src : cursors.dst;
      return fmt::format("select {}{}{}", cursor, PathText(program.PathOf(instruction), at),
                         instruction.create ? " create" : "");
    }
    case OpCode::kRegLoad:
      return fmt::format("reg_load r{} = {}", instruction.reg, cursor);
    case OpCode::kDel:
      return "del";
    case OpCode::kMerge:
      return fmt::format("merge{}{}", instruction.skip_submessages ? " skip_submessages" : "",
                         instruction.del_if_src_empty ? " del_if_src_empty" : "");
    case OpCode::kSet:
      return "set";
    case OpCode::kNone:
      break;
  }
  return "(no instruction)";
}

/// Returns a listing of a program with one instruction per line. The instruction's place is first
/// ("2.0.1": the second of those nested in the first of those nested in the third), nested
/// instructions are indented.
/// @param message type of the packets, whose fields are named; empty: fields have their numbers
std::string ProgramText(const Program& program, const std::string& message) {
  // Depth first, without recursion: a program may be as deep as it is large.
  struct Open {
    uint32_t index;
    size_t indent;
    Cursors cursors;
  };
  std::vector<std::pair<std::string, std::string>> lines;  // place and text
  std::vector<Open> open;
  const auto push = [&](uint32_t begin, size_t count, size_t indent, const Cursors& cursors) {
    for (size_t i = count; i-- > 0;)
      open.push_back({begin + static_cast<uint32_t>(i), indent, cursors});
  };
  push(0, program.top().size(), 0, {message, message});
  size_t width = 0;
  while (!open.empty()) {
    Open next = std::move(open.back());
    open.pop_back();
    const Instruction& instruction = program.all()[next.index];
    const auto& [place, text] = lines.emplace_back(
        next.indent > kMaxIndent ? "..."
                                 : fmt::format("{}", fmt::join(program.PlacesOf(next.index), ".")),
        std::string(std::min(next.indent, kMaxIndent), ' ') +
            InstructionText(program, instruction, next.cursors) +
            LevelText(instruction.abort_level));
    width = std::max(width, place.size());
    push(instruction.nested, instruction.nested_size, next.indent + 2, next.cursors);
  }
  std::string listing;
  for (const auto& [place, text] : lines)
    listing += fmt::format("  {:<{}}  {}\n", place, width, text);
  return listing;
}

/// A program (ProtoVM) in a file, with what the file has of it.
struct FoundProgram {
  std::string program;                      // a VmProgram message
  std::string data_source;                  // empty: not known
  std::vector<uint64_t> producers;          // in order of appearance
  std::optional<uint64_t> memory_limit_kb;  // absent: not known
  std::optional<std::string> state;         // absent: the file has none
  std::string message = "TracePacket";      // type of the packets; empty: not known
};

constexpr size_t kMaxMessageBytes = size_t{64} << 20;

/// The programs of a file, each once: those that data sources of a log have, those of a trace with
/// their states, or the one that the file is.
Result<std::vector<FoundProgram>> FindPrograms(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenKnownInput(context, path));
  std::vector<FoundProgram> programs;
  const auto add = [&programs](FoundProgram added) {
    if (added.program.empty()) return;
    const auto known = std::ranges::find_if(programs, [&](const FoundProgram& one) {
      return one.program == added.program && one.data_source == added.data_source &&
             one.memory_limit_kb == added.memory_limit_kb;
    });
    if (known == programs.end()) return programs.push_back(std::move(added));
    if (!Contains(known->producers, added.producers[0]))
      known->producers.push_back(added.producers[0]);
  };
  if (input.kind == InputKind::kLog) {
    RS_ASSIGN_OR_RETURN(const auto log, OpenLog(std::move(input.source)));
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
      if (!op) return programs;
      if (const auto* registered = std::get_if<DataSourceRegistered>(&op->body))
        add({registered->protovm_program, registered->name, {Raw(registered->producer)}});
      else if (const auto* setup = std::get_if<ProtoVmSetUp>(&op->body))
        add({setup->program, setup->data_source, {Raw(setup->producer)}, setup->memory_limit_kb});
    }
  }
  if (input.kind == InputKind::kTrace) {
    RS_ASSIGN_OR_RETURN(const auto trace,
                        TraceReader::Open(std::move(input.source), TraceReader::OnDamage::kSkip));
    for (RawPacket packet;;) {
      RS_ASSIGN_OR_RETURN(const bool more, trace->Next(packet));
      if (!more) return programs;
      using proto::TracePacket;
      wire::ForEachMessage(packet.bytes, TracePacket::kProtovms, [&](Bytes protovms) {
        wire::ForEachMessage(protovms, TracePacket::ProtoVms::kInstance, [&](Bytes instance) {
          using Field = TracePacket::ProtoVms::Instance;
          FoundProgram& found = programs.emplace_back();
          found.program = wire::AsText(wire::BytesIn(instance, Field::kProgram));
          found.state = wire::AsText(wire::BytesIn(instance, Field::kState));
          found.memory_limit_kb = wire::NumberIn(instance, Field::kMemoryLimitKb);
          wire::ForEachNumber(instance, Field::kProducerId,
                              [&](uint64_t producer) { found.producers.push_back(producer); });
        });
      });
    }
  }
  RS_ASSIGN_OR_RETURN(std::string program, ReadAll(*input.source, kMaxMessageBytes));
  if (Program(wire::AsBytes(program)).all().empty())
    return Fail(ErrorCode::kCorrupt, "this is not a program: it has no instructions (VmProgram)",
                {path, {}, {}}, "name a VmProgram message, a log or a trace");
  return std::vector<FoundProgram>{{.program = std::move(program), .message = ""}};
}

constexpr int kOldestRelease = static_cast<int>(protovm::kProtoVmReleases.front().release);
constexpr int kNewestVmRelease = static_cast<int>(protovm::kProtoVmReleases.back().release);

struct ProtovmArgs {
  std::string action;
  std::vector<std::string> files;
  std::string case_file;  // empty: none
  int release = kNewestVmRelease;
  Format format = Format::kText;
};

void SetUpProtovm(CLI::App& app, ProtovmArgs& args) {
  AddChoice(app, "ACTION", args.action, {"show", "run"}, "What to do", Need::kRequired);
  InGroup(app, kInputGroup);
  AddTexts(app, "FILE", args.files, kFileType,
           "For 'show': logs, traces, and programs (encoded VmProgram messages, with nothing "
           "around them)");
  AddText(app, "--case", args.case_file, kFileType,
          "For 'run': program, initial_state, memory_limit_bytes or memory_limit_kb, and packets, "
          "as JSON; the result is a line of JSON per packet");
  InGroup(app, "Program");
  AddNumber(app, "--release", args.release, {kOldestRelease, kNewestVmRelease}, "RELEASE",
            "Follow the rules of this release of Perfetto, 54 for v54 (default: the newest, 58)");
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
  Exclude(app, "--case", {"FILE", "--format"});
}

std::string HexOf(std::string_view bytes) {
  std::string hex;
  AppendHex(hex, wire::AsBytes(bytes));
  return hex;
}

/// Runs a program on the packets of a case, and prints a line of JSON for each.
Result<ExitCode> RunCase(const ProtovmArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const auto source, OpenInput(context, args.case_file));
  RS_ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxMessageBytes));
  RS_ASSIGN_OR_RETURN(const ScannedJson json, ScanJson(text));
  if (!json.values.front().is_object())
    return Fail(ErrorCode::kCorrupt, "a case is a JSON object", {},
                "with program, packets, and memory_limit_bytes or memory_limit_kb");
  std::string program, initial_state;
  KeyReader keys(json);
  keys.Hex("program", kMaxMessageBytes, program);
  if (keys.Has("initial_state")) keys.Hex("initial_state", kMaxMessageBytes, initial_state);
  const uint64_t limit = keys.Has("memory_limit_kb")
                             ? protovm::LimitBytes(keys.Required<uint64_t>("memory_limit_kb"))
                             : keys.Required<uint64_t>("memory_limit_bytes");
  const std::vector<std::string> packets = keys.Hexes("packets");
  RS_RETURN_IF_ERROR(keys.status());
  ProtoVm vm(*protovm::FindProtoVmRules(static_cast<uint32_t>(args.release)),
             wire::AsBytes(program), limit, wire::AsBytes(initial_state));
  for (const std::string& packet : packets) {
    const RunOutcome outcome = vm.Run(wire::AsBytes(packet));
    Json line = JsonOf("result", outcome.result, "state", HexOf(vm.SerializeState()), "memory",
                       vm.state().counted());
    if (outcome.result != RunResult::kOk) {  // where and why it failed
      line["reason"] = Name(outcome.reason);
      line["instruction"] = vm.program().PlaceOf(outcome.instruction);
    }
    context.console.Print(JsonText(line) + "\n");
  }
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
  return Joined(parts);
}

Result<ExitCode> ShowPrograms(const ProtovmArgs& args, Context& context) {
  Report report(context.console, args.format, "protovm_show");
  for (const std::string& path : args.files) {
    RS_ASSIGN_OR_RETURN(const std::vector<FoundProgram> programs, FindPrograms(context, path));
    if (programs.empty()) report.Print(fmt::format("{}: no programs\n", Printable(path)));
    for (const FoundProgram& found : programs) {
      const Program program(wire::AsBytes(found.program));
      const std::string listing = ProgramText(program, found.message);
      report.Title(Printable(path), fmt::format("version {}, {}, {} bytes", program.version(),
                                                Count(program.all().size(), "instruction"),
                                                WithCommas(found.program.size())));
      if (const std::string origin = OriginText(found); !origin.empty())
        report.Paragraph(origin, "  ");
      report.Print(listing);
      report.AddItem("programs", [&] {
        report.Data(JsonOf("from", path, "data_source", found.data_source, "producers",
                           found.producers, "memory_limit_kb", found.memory_limit_kb, "version",
                           program.version(), "instructions", program.all().size(), "listing",
                           listing, "program", HexOf(found.program)));
        if (found.state) report.Data("state", HexOf(*found.state));
      });
    }
  }
  return report.Finish(ExitCode::kClean);
}

Result<ExitCode> RunProtovm(const ProtovmArgs& args, Context& context) {
  if (args.action == "run") {
    if (!args.case_file.empty())
      return RunCase(args, context).map_error([&](Error error) {
        error.where.path = args.case_file;
        return error;
      });
    return Fail(
        ErrorCode::kUsage, "'run' needs a program with its packets", {},
        "write both into a JSON file for --case; 'protovm show --format json' has programs");
  }
  if (args.files.empty())
    return Fail(ErrorCode::kUsage, "'show' needs a program", {},
                "name a log, a trace or a VmProgram message, as in 'ringscope protovm show "
                "session.tblog'");
  return ShowPrograms(args, context);
}

}  // namespace

Command ProtovmCommand() {
  return {"protovm",
          "Show and run programs that fold packets into a state",
          "A data source may come with a program (ProtoVM): packets that a V2 buffer overwrites "
          "unread are folded into a state by it, which the trace has in their place. 'show' "
          "lists a program, an instruction per line; 'run' runs one on packets, by the rules of "
          "any release.",
          {{"ringscope protovm show session.tblog", "What do this session's programs do?"},
           {"ringscope protovm run --case case.json --release 56",
            "What state do these packets lead to, by the rules of v56?"}},
          Bind(SetUpProtovm, RunProtovm)};
}

}  // namespace ringscope
