#include "commands/compare/diff.h"

#include "commands/session/session_view.h"
#include "commands/shell/commands.h"

namespace ringscope {
namespace {

constexpr uint64_t kMostListed = 1'000'000;

void SetUp(CLI::App& app, DiffArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(
      app, "INPUT", args.input.paths, kLogOrTraceType,
      "Commit logs (.tblog or .ops.jsonl, plain or compressed), taken one after the other; or "
      "a log and the trace (.pftrace) that came out of its session; or two traces, which "
      "are compared as they are; with --quality two traces, logs or trace configs, the old and "
      "the new",
      Need::kRequired);
  AddSession(app, args.input.only);
  AddClone(app, args.input.clone);
  AddReplayOptions(
      app, args.sides.a,
      {.engine = "--a", .prefix = "--a-", .group = "Replay of side A", .config = false});
  AddReplayOptions(
      app, args.sides.b,
      {.engine = "--b", .prefix = "--b-", .group = "Replay of side B", .config = false});
  InGroup(app, kInputGroup);
  AddText(app, "--config", args.sides.a.config, kFileType, kConfigToReplay);
  InGroup(app, kOutputGroup);
  AddParsed(app, "--limit", args.limit, NumberUpTo(kMostListed), "N",
            "Packets to list for each kind of difference (default: 20)");
  AddFlag(app, "--all", args.all, "Also list the packets and counters that differ, as text");
  AddFlag(app, "--quality", args.quality,
          "Compare the quality of an old and a new trace, log or trace config: packets lost and "
          "usable, reach, holes by their cause, and findings");
  AddText(app, "--minimize", args.minimize, kFileType,
          "Write the fewest and smallest operations that still show the first difference "
          "(.ops.jsonl), and beside FILE a test in the style of Perfetto's own (.cc) that passes "
          "with side A, not with side B; - for standard output, and no test");
  Exclude(app, "--quality", {"--all", "--limit", "--minimize"});
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kMarkdown, Format::kJson, Format::kJsonl});
}

/// Returns true for a trace, false for a log.
Result<bool> IsTrace(const std::string& input, Context& context) {
  if (input == "-") RS_RETURN_IF_ERROR(KeepStandardInput(context));
  RS_ASSIGN_OR_RETURN(const KnownInput known, OpenOneInput(context, input));
  if (known.kind == InputKind::kTrace || known.kind == InputKind::kLog)
    return known.kind == InputKind::kTrace;
  return tl::unexpected<Error>(
      WrongContent(known.start, input, "a log or a trace",
                   "expected .tblog, .ops.jsonl or .pftrace, plain or compressed by zstd or gzip"));
}

/// Checks that the sides of logs differ in anything.
Status CheckReplayed(const DiffArgs& args) {
  const std::string& input = args.input.paths.front();
  const auto& a = args.sides.a;
  const auto& b = args.sides.b;
  if (!ChoosesAnything(a) && !ChoosesAnything(b))
    return Fail(ErrorCode::kUsage,
                "nothing to compare: both sides would be the same, and logs are not "
                "compared with each other",
                {input, {}, {}},
                "choose engines, sizes, policies or reads, as in --a v2@55 --b v2@58");
  if (!a.reads.like.empty() || !b.reads.like.empty())
    return Fail(ErrorCode::kUsage, "a diff cannot look for the reads of a trace", {input, {}, {}},
                "store them in a log with 'ringscope import --reads-from', and compare that");
  if (args.minimize == "-" && args.format != Format::kText)
    return Fail(ErrorCode::kUsage,
                fmt::format("--minimize - cannot be combined with --format {}", Name(args.format)));
  return {};
}

/// Options for a buffer that the session does not have are a mistake.
Status CheckBuffers(const SessionDiff& diff, const DiffArgs& args) {
  const std::vector<BufferDiff>& buffers = diff.result.buffers;
  const auto fail = [&](std::string what, std::string hint) {
    return Fail(ErrorCode::kUsage, fmt::format("session {}: {}", diff.session, what),
                {diff.path, {}, {}}, std::move(hint));
  };
  if (buffers.empty())
    return fail("it has no buffer, so there is nothing to compare", "see 'ringscope info'");
  for (const Side side : kSides)
    for (const auto& [key, choice] : args.sides[side].session.buffers)
      if (std::ranges::none_of(buffers, [&key = key](const BufferDiff& buffer) {
            return key.Names(buffer.id, buffer.sides.a.index);
          }))
        return fail(fmt::format("the options of side {} name buffer '{}', which is not in the log",
                                Letter(side), ToString(key)),
                    "'ringscope info' lists its buffers");
  return {};
}

/// Compares the reader's current session.
Result<SessionDiff> DiffSession(const DiffArgs& args, SessionReader& sessions, Context& context) {
  ReplayInput input{args.sides.a};
  RS_RETURN_IF_ERROR(InFile(sessions.path(), input.Find(context, sessions)));
  // A buffer that the log lacks is set up with one size; each side has its own by its options.
  for (const auto& [key, choice] : args.sides.b.session.buffers)
    if (choice.size) input.config.sizes.emplace(key, *choice.size);
  DiffOptions options = ToDiffOptions(args, input.clone);
  options.describe = OperationText;
  for (const Side side : kSides) {
    options.sides[side].is_reconfigured = input.is_reconfigured;
    if (options.sides[side].reads.mode == ReadsMode::kAuto) options.sides[side].reads = input.reads;
    options.sides[side].has_reads = HasReadsIn(sessions);
    if (ChoosesBuffers(args.sides[side])) RS_RETURN_IF_ERROR(input.ChangeBuffers(sessions));
  }
  std::set<std::string> warnings;  // a warning of both sides is printed once
  options.warn = [&](const std::string& text) {
    if (warnings.insert(text).second)
      context.console.Warn(fmt::format("{}: {}", sessions.path(), Printable(text)));
  };
  LogDiffer diff(std::move(options));
  SessionDiff outcome{.path = sessions.path(), .session = sessions.session(), .clone = input.clone};
  uint64_t gaps = 0;
  const auto records = input.Records(static_cast<OpSource&>(sessions));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records->Next());
    if (!op) break;
    if (std::holds_alternative<RecorderGap>(op->body) && !IsDamage(op->body)) ++gaps;
    RS_RETURN_IF_ERROR(InFile(outcome.path, diff.Apply(*op, sessions.record_number())));
    if (!args.minimize.empty()) outcome.ops.emplace_back(*op);
  }
  RS_ASSIGN_OR_RETURN(outcome.result, diff.Finish());
  outcome.is_only_session = sessions.is_only_session();
  if (gaps > 0)
    context.console.Warn(fmt::format("{}: the recording is not complete: it has {}", outcome.path,
                                     Count(gaps, "gap")));
  RS_RETURN_IF_ERROR(CheckBuffers(outcome, args));
  return outcome;
}

Result<ExitCode> DiffLogs(const DiffArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckReplayed(args));
  SessionReader sessions(context, args.input, "comparing");
  std::vector<SessionDiff> diffs;
  RS_ASSIGN_OR_RETURN(const ExitCode code, ForEachSession(sessions, [&]() -> Result<ExitCode> {
                        RS_ASSIGN_OR_RETURN(diffs.emplace_back(),
                                            DiffSession(args, sessions, context));
                        return diffs.back().result.Same() ? ExitCode::kClean : ExitCode::kNotice;
                      }));
  RS_RETURN_IF_ERROR(ReportDiffs(args, diffs, context.console));
  if (!args.minimize.empty()) RS_RETURN_IF_ERROR(MinimizeLog(args, std::move(diffs), context));
  return code;
}

Result<ExitCode> RunDiff(const DiffArgs& args, Context& context) {
  if (args.quality) return DiffQuality(args, context);
  if (args.format == Format::kMarkdown)
    return Fail(ErrorCode::kUsage, "--format md is for --quality", {}, "choose text or json");
  const size_t inputs = args.input.paths.size();
  size_t traces = 0;
  bool is_last_trace = false;
  for (const std::string& input : args.input.paths) {
    RS_ASSIGN_OR_RETURN(is_last_trace, IsTrace(input, context));
    traces += is_last_trace ? 1 : 0;
  }
  if (traces == 0) return DiffLogs(args, context);
  const bool are_two_traces = traces == 2 && inputs == 2;
  if (!are_two_traces && (traces > 1 || !is_last_trace || inputs < 2))
    return Fail(ErrorCode::kUsage, "a trace can be compared only with one other",
                {args.input.paths.front(), {}, {}},
                "name a log first, then its trace; or two traces; or logs and --a and --b");
  const bool chooses_a = ChoosesAnything(args.sides.a) || args.input.only;
  if (ChoosesAnything(args.sides.b) || !args.minimize.empty() || (are_two_traces && chooses_a))
    return Fail(ErrorCode::kUsage,
                "engines, sizes, policies, reads, --session and --minimize are for logs; a trace "
                "is compared as it is");
  return are_two_traces ? DiffTraces(args, context) : DiffLogWithTrace(args, context);
}

}  // namespace

DiffOptions ToDiffOptions(const DiffArgs& args, const std::optional<CloneFacts>& clone) {
  DiffOptions options;
  for (const Side side : kSides) {
    options.sides[side] = args.sides[side];
    options.sides[side].session.clone = clone;
  }
  options.listed = args.limit;
  return options;
}

Command DiffCommand() {
  return {
      "diff",
      "Compare two replays of a log, a log with its trace, or two traces",
      "Replays logs on two sides, each with its own engine, sizes, "
      "policies and reads, and compares the results. Packets are matched by their position in the "
      "log, so that one lost packet is one difference. The report names the first record after "
      "which the sides differ, the packets that only one side returned and why, loss flags, order, "
      "and all counters. A log and a trace: the log is "
      "replayed, as the service would have read it, and the result compared with the trace that "
      "the service gave its consumer; this shows whether the recording is exact. Two traces are "
      "compared by content, sequence by sequence.",
      {{"ringscope diff session.tblog --a v2@55 --b v2@58",
        "Did this upgrade change what the trace contains?"},
       {"ringscope diff session.tblog --a v2 --b v2 --b-size 1MiB",
        "What would a larger buffer have kept?"},
       {"ringscope diff *.tblog --a v1 --b v2 --format jsonl", "Compare many logs, a line each"},
       {"ringscope diff session.tblog trace.pftrace", "Does the replay equal the real trace?"},
       {"ringscope diff old.pftrace new.pftrace", "Compare what two services wrote"},
       {"ringscope diff --quality old.pftrace new.pftrace",
        "Did the new config lose less, and reach back further?"},
       {"ringscope diff session.tblog --a v2@57 --b v2@58 --minimize bug.ops.jsonl",
        "Make a small log that shows the difference"}},
      Bind(SetUp, RunDiff),
      {.clean = "Both sides are the same.",
       .notice = "The sides differ; or the input was damaged and what could be read was used."}};
}

}  // namespace ringscope
