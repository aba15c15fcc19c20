#include "commands/diff.h"

#include <fmt/format.h>

#include <filesystem>

#include "commands/diff_logs.h"
#include "commands/diff_results.h"
#include "commands/options.h"
#include "commands/values.h"
#include "formats/input_kind.h"

namespace ringscope {
namespace {

constexpr uint64_t kMostListed = 1'000'000;

void SetUp(CLI::App& app, DiffArgs& args) {
  AddTexts(app, "INPUT", args.inputs, kLogType,
           "A log (.tblog or .ops.jsonl, - reads standard input) or a folder of logs, which "
           "both sides replay; or two result files: .events.jsonl or .pftrace",
           Need::kRequired, 2);
  AddReplayOptions(app, args.sides.a, {.engine = "--a", .prefix = "--a-", .whose = "A: "});
  AddReplayOptions(app, args.sides.b, {.engine = "--b", .prefix = "--b-", .whose = "B: "});
  AddParsed(
      app, "--limit", args.limit,
      [](std::string_view text) { return ParseNumber(text, kMostListed); }, "N",
      "Packets to list of each kind of difference (default: 20)");
  AddFlag(app, "--all", args.all, "List the counters that agree, too");
  AddText(app, "--minimize", args.minimize, kFileType,
          "Write the fewest operations that still show the first divergence (.ops.jsonl); - "
          "for standard output");
  AddFormat(app, args.format, {"table", "json"});
  AddSession(app, args.session);
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

Result<InputKind> KindOf(const std::string& input) {
  if (input == "-" || std::filesystem::is_directory(input)) return InputKind::kLog;
  return FindInputKind(input);
}

bool ChoosesAnything(const ReplayChoices& choices) {
  const BufferChoice& all = choices.session.all;
  return all.engine || all.size || all.policy || !choices.session.buffers.empty() ||
         choices.reads.mode != ReadsMode::kAuto || choices.pass_bytes;
}

Status FailToCompare(const std::string& input, std::string what, std::string hint) {
  return Fail(ErrorCode::kUsage, std::move(what), {input, {}, {}}, std::move(hint));
}

/// One input: it must be something to replay.
Status CheckReplayed(const DiffArgs& args, InputKind kind) {
  const std::string& input = args.inputs.front();
  if (kind == InputKind::kEvents || kind == InputKind::kTrace) {
    return FailToCompare(input, fmt::format("{} is a result, and one alone", NameOf(kind)),
                         "give two result files, or a log and --a and --b");
  }
  const auto& a = args.sides.a;
  const auto& b = args.sides.b;
  if (!ChoosesAnything(a) && !ChoosesAnything(b)) {
    return FailToCompare(input, "both sides are the same: nothing says what to compare",
                         "choose engines, sizes, policies or reads, as in --a v2@55 --b v2@58");
  }
  if (args.minimize == "-" && args.format == "json")
    return Fail(ErrorCode::kUsage, "--minimize - has no place beside --format json");
  if (!args.minimize.empty() && input == "-")
    return Fail(ErrorCode::kUsage, "--minimize reads the log twice, so it cannot be standard input",
                {}, "name a file");
  return {};
}

/// Two inputs: they must be results of the same kind.
Status CheckResults(const DiffArgs& args, const Both<InputKind>& kinds) {
  for (const Side side : kSides) {
    const std::string& input = args.inputs[side == Side::kA ? 0 : 1];
    if (kinds[side] == InputKind::kLog) {
      return FailToCompare(
          input, "a log is no result: two inputs are two results",
          kinds[Other(side)] == InputKind::kTrace
              ? "replay it to a trace first: ringscope replay LOG -o FILE.pftrace"
              : "replay it first: ringscope replay LOG --events FILE.events.jsonl; to compare two "
                "engines, give one log and --a and --b");
    }
    if (kinds[side] == InputKind::kOther)
      return FailToCompare(input, "neither a log nor a result file",
                           "expected .events.jsonl or .pftrace, plain or zstd-compressed");
  }
  if (kinds.a != kinds.b) {
    return FailToCompare(
        args.inputs[1],
        fmt::format("{} cannot be compared with {}", NameOf(kinds.b), NameOf(kinds.a)),
        "give two of the same kind");
  }
  if (ChoosesAnything(args.sides.a) || ChoosesAnything(args.sides.b) || !args.minimize.empty() ||
      args.session) {
    return Fail(ErrorCode::kUsage,
                "engines, sizes, policies, reads, --session and --minimize are for logs; two "
                "result files are compared as they are");
  }
  return {};
}

}  // namespace

Result<ExitCode> RunDiff(const DiffArgs& args, Context& context) {
  Both<InputKind> kinds;
  RS_ASSIGN_OR_RETURN(kinds.a, KindOf(args.inputs[0]));
  if (args.inputs.size() == 1) {
    RS_RETURN_IF_ERROR(CheckReplayed(args, kinds.a));
    return DiffLogs(args, context);
  }
  RS_ASSIGN_OR_RETURN(kinds.b, KindOf(args.inputs[1]));
  RS_RETURN_IF_ERROR(CheckResults(args, kinds));
  return DiffResults(args, kinds.a, context);
}

Command DiffCommand() {
  return {
      "diff",
      "Replay",
      "Compare two replays of a log, or two results",
      "Replays a log, or each log of a folder, through two sides, each with its own engine, size, "
      "policy and reads, and says whether the same comes out. Packets are matched by their place "
      "in the log, so that one lost packet is one difference. The report names the first record "
      "after which the sides differ, with both buffers around it, the packets that only one side "
      "returned and why, loss bits, order, and every counter. Two result files, events or traces, "
      "are compared by content, sequence by sequence. Exit status 0: the same; 3: different.",
      {{"ringscope diff session.tblog --a v2@55 --b v2@58",
        "Did this upgrade change what the trace contains?"},
       {"ringscope diff session.tblog --a v2 --b v2 --b-size 1MiB",
        "What would a larger buffer have kept?"},
       {"ringscope diff logs/ --a v1 --b v2 --format json", "Compare over all logs of a folder"},
       {"ringscope diff old.pftrace new.pftrace", "Compare what two services wrote"},
       {"ringscope diff session.tblog --a v2@57 --b v2@58 --minimize bug.ops.jsonl",
        "Make a small log that shows the difference"}},
      Bind(SetUp, RunDiff)};
}

}  // namespace ringscope
