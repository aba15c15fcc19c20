#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/compare/diff_logs.h"
#include "commands/compare/diff_results.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/values.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {
namespace {

constexpr uint64_t kMostListed = 1'000'000;

void SetUp(CLI::App& app, DiffArgs& args) {
  AddLogList(app, args.logs, "INPUT",
             "; or a log and the trace (.pftrace) that came out of its session; or two result "
             "files, which are compared as they are: .events.jsonl or .pftrace");
  AddSession(app, args.session);
  AddClone(app, args.clone);
  AddReplayOptions(app, args.sides.a,
                   {.engine = "--a", .prefix = "--a-", .group = "Side A", .config = false});
  AddReplayOptions(app, args.sides.b,
                   {.engine = "--b", .prefix = "--b-", .group = "Side B", .config = false});
  AddConfig(app, args.sides.a.config, args.sides.a.descriptor, kConfigOfUnrecorded);
  Require(app, "--descriptor", "--config");
  InGroup(app, kInputGroup);
  InGroup(app, kOutputGroup);
  AddParsed(
      app, "--limit", args.limit,
      [](std::string_view text) { return ParseNumber(text, kMostListed); }, "N",
      "Packets to list for each kind of difference (default: 20)");
  AddFlag(app, "--all", args.all, "Also list the counters that are equal");
  AddParsed(
      app, "--ignore", args.ignore_identity,
      [](std::string_view text) -> Result<bool> {
        if (text == "identity") return true;
        return Fail(ErrorCode::kUsage, fmt::format("cannot ignore '{}'", text), {},
                    "write identity");
      },
      "identity",
      "For two result files: ignore uid and pid (in a recorded session the service sees the "
      "recorder's, not the producers')");
  AddText(app, "--minimize", args.minimize, kFileType,
          "Write the fewest and smallest operations that still show the first difference "
          "(.ops.jsonl), and a test case of them beside FILE (.cc); - for standard output, and no "
          "test case");
  AddParsed(app, "--as", args.style, ParseCaseStyle, kCaseStyleType,
            "The style of the test case: that of Perfetto's unit tests of this "
            "buffer, or of ringscope's own; ops: none is written (default: Perfetto's for "
            "side A's engine). It passes with side A, not with side B");
  Require(app, "--as", "--minimize");
  AddForce(app, args.force);
  AddFormat(app, args.format, {"text", "json", "markdown"});
}

const char* NameOf(InputKind kind) {
  switch (kind) {
    case InputKind::kLog:
      return "a log";
    case InputKind::kEvents:
      return "a file of events";
    case InputKind::kTrace:
      return "a trace";
    case InputKind::kOther:
      break;
  }
  return "neither a log nor a result file";
}

Result<InputKind> KindOf(const std::string& input, Context& context) {
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  if (input == "-" || input.starts_with('@') || std::filesystem::is_directory(input, ignored))
    return InputKind::kLog;
  RS_ASSIGN_OR_RETURN(const KnownInput known, OpenKnownInput(context, input));
  if (known.kind == InputKind::kOther)
    return tl::unexpected<Error>(
        WrongContent(known.start, input, "a log or a result file",
                     "expected .tblog, .ops.jsonl, .events.jsonl or .pftrace, plain or compressed "
                     "by zstd or gzip"));
  return known.kind;
}

bool IsResult(InputKind kind) { return kind == InputKind::kEvents || kind == InputKind::kTrace; }

bool ChoosesAnything(const ReplayChoices& choices) {
  const BufferChoice& all = choices.session.all;
  return all.engine || all.size || all.policy || !choices.session.buffers.empty() ||
         choices.reads.mode != ReadsMode::kAuto || choices.pass_bytes ||
         choices.session.programs != protovm::ProgramChoice{};
}

Status FailToCompare(const std::string& input, std::string what, std::string hint) {
  return Fail(ErrorCode::kUsage, std::move(what), {input, {}, {}}, std::move(hint));
}

/// Logs: there must be something to compare.
Status CheckReplayed(const DiffArgs& args) {
  const std::string& input = args.logs.logs.front();
  const auto& a = args.sides.a;
  const auto& b = args.sides.b;
  if (!ChoosesAnything(a) && !ChoosesAnything(b)) {
    return FailToCompare(input,
                         args.logs.logs.size() > 1
                             ? "nothing to compare: of each log both sides would be the same, and "
                               "logs are not compared with each other"
                             : "nothing to compare: both sides would be the same",
                         "choose engines, sizes, policies or reads, as in --a v2@55 --b v2@58");
  }
  for (const Side side : kSides) {
    if (args.sides[side].reads.like.empty()) continue;
    return FailToCompare(input, "a diff cannot look for the reads of a trace",
                         "store them in a log with 'ringscope import --reads-from', and compare "
                         "that");
  }
  if (args.style && args.style != CaseStyle::kOps && args.minimize == "-") {
    return Fail(ErrorCode::kUsage, "--as writes a file beside that of --minimize", {},
                "name one, as in --minimize bug.ops.jsonl");
  }
  if (args.minimize == "-" && args.format != "text")
    return Fail(ErrorCode::kUsage,
                fmt::format("--minimize - cannot be combined with --format {}", args.format));
  if (!args.minimize.empty() && input == "-")
    return Fail(ErrorCode::kUsage, "--minimize reads the log twice, so it cannot be standard input",
                {}, "name a file");
  return {};
}

/// Two inputs: they must be results of the same kind.
Status CheckResults(const DiffArgs& args, const Both<InputKind>& kinds) {
  for (const Side side : kSides) {
    const std::string& input = args.logs.logs[side == Side::kA ? 0 : 1];
    if (kinds[side] == InputKind::kLog) {
      return FailToCompare(
          input, "expected two result files, found a log",
          kinds[Other(side)] == InputKind::kTrace
              ? "name the log first, then the trace"
              : "replay it first: ringscope replay LOG --events FILE.events.jsonl; to compare two "
                "engines, give one log and --a and --b");
    }
  }
  if (kinds.a != kinds.b) {
    return FailToCompare(
        args.logs.logs[1],
        fmt::format("{} cannot be compared with {}", NameOf(kinds.b), NameOf(kinds.a)),
        "give two of the same kind");
  }
  if (ChoosesAnything(args.sides.a) || ChoosesAnything(args.sides.b) || !args.minimize.empty() ||
      args.session || args.logs.each || args.logs.shard) {
    return Fail(ErrorCode::kUsage,
                "engines, sizes, policies, reads, --session, --each, --shard and --minimize are "
                "for logs; two result files are compared as they are");
  }
  return {};
}

/// Logs, and the trace of their session: one side is replayed.
Status CheckLogWithTrace(const DiffArgs& args) {
  if (!ChoosesAnything(args.sides.b) && args.minimize.empty() && !args.logs.each &&
      !args.logs.shard)
    return {};
  return Fail(ErrorCode::kUsage,
              "side B is a trace, which is compared as it is: --b, --minimize, --each and --shard "
              "are for logs");
}

Result<ExitCode> RunDiff(const DiffArgs& args, Context& context) {
  const std::vector<std::string>& inputs = args.logs.logs;
  std::vector<InputKind> kinds;
  for (const std::string& input : inputs) {
    RS_ASSIGN_OR_RETURN(const InputKind kind, KindOf(input, context));
    kinds.push_back(kind);
  }
  const auto result = std::find_if(kinds.begin(), kinds.end(), IsResult);
  if (result == kinds.end()) {
    RS_RETURN_IF_ERROR(CheckReplayed(args));
    return DiffLogs(args, context);
  }
  if (std::count(kinds.begin(), kinds.end(), InputKind::kLog) + 1 ==
          static_cast<ptrdiff_t>(kinds.size()) &&
      kinds.size() > 1 && kinds.back() == InputKind::kTrace) {
    RS_RETURN_IF_ERROR(CheckLogWithTrace(args));
    return DiffLogWithTrace(args, {inputs.begin(), inputs.end() - 1}, inputs.back(), context);
  }
  if (inputs.size() != 2) {
    return Fail(ErrorCode::kUsage,
                fmt::format("{} can be compared only with one other", NameOf(*result)),
                {inputs[static_cast<size_t>(result - kinds.begin())], {}, {}},
                "give two result files, or logs and --a and --b");
  }
  RS_RETURN_IF_ERROR(CheckResults(args, {kinds[0], kinds[1]}));
  return DiffResults(args, kinds[0], context);
}

}  // namespace

Command DiffCommand() {
  return {
      "diff",
      "Replay",
      "Compare two replays of a log, a log with its trace, or results",
      "Replays a log, or each of many logs, on two sides, each with its own engine, sizes, "
      "policies and reads, and compares the results. Packets are matched by their position in the "
      "log, so that one lost packet is one difference. The report names the first record after "
      "which the sides differ, with both buffers around it, the packets that only one side "
      "returned and why, loss flags, order, and all counters. A log and a trace: the log is "
      "replayed, as the service would have read it, and the result compared with the trace that "
      "the service gave its consumer; this shows whether the recording is exact. Two result "
      "files, events or traces, are compared by content, sequence by sequence.",
      {{"ringscope diff session.tblog --a v2@55 --b v2@58",
        "Did this upgrade change what the trace contains?"},
       {"ringscope diff session.tblog --a v2 --b v2 --b-size 1MiB",
        "What would a larger buffer have kept?"},
       {"ringscope diff logs/ --a v1 --b v2 --format json", "Compare all logs of a folder"},
       {"ringscope diff session.tblog trace.pftrace", "Does the replay equal the real trace?"},
       {"ringscope diff old.pftrace new.pftrace", "Compare what two services wrote"},
       {"ringscope diff session.tblog --a v2@57 --b v2@58 --minimize bug.ops.jsonl",
        "Make a small log that shows the difference"}},
      Bind(SetUp, RunDiff),
      {.clean = "Both sides are the same.",
       .notice = "The sides differ; or the input was damaged and what could be read was used."}};
}

}  // namespace ringscope
