#include "commands/compare/diff_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/compare/diff_minimize.h"
#include "commands/compare/diff_report.h"
#include "commands/compare/diff_words.h"
#include "commands/many_logs/each_log.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reader.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Options for a buffer that the session does not have are a mistake.
Status CheckBuffers(const SessionDiff& diff, const DiffArgs& args) {
  const std::vector<BufferDiff>& buffers = diff.result.buffers;
  const auto fail = [&](std::string what, std::string hint) {
    return Fail(ErrorCode::kUsage, fmt::format("session {}: {}", diff.session, what),
                {diff.path, {}, {}}, std::move(hint));
  };
  if (buffers.empty())
    return fail("it has no buffer, so there is nothing to compare", "see 'ringscope info'");
  for (const Side side : kSides) {
    for (const auto& [id, choice] : args.sides[side].session.buffers) {
      if (std::ranges::find(buffers, id, &BufferDiff::id) != buffers.end()) continue;
      return fail(fmt::format("the options of side {} name buffer {}, which is not in the log",
                              Letter(side), Raw(id)),
                  fmt::format("buffers: {}", IdsText(buffers)));
    }
  }
  return {};
}

/// Compares the reader's current session.
Result<SessionDiff> DiffSession(const DiffArgs& args, SessionReader& sessions, Context& context) {
  const std::optional<CloneView> clone = CloneOf(sessions, {});
  DiffOptions options = ToDiffOptions(args, clone);
  options.describe = OperationText;
  for (const Side side : kSides)
    options.sides[side].ahead = LookAheadIn(context, sessions.SessionAlone());
  std::vector<std::string> warnings;  // a warning of both sides is printed once
  options.warn = [&](Side, const std::string& text) {
    if (std::find(warnings.begin(), warnings.end(), text) != warnings.end()) return;
    warnings.push_back(text);
    context.console.Warn(fmt::format("{}: {}", sessions.path(), Printable(text)));
  };
  LogDiffer diff(std::move(options));
  SessionDiff outcome{
      .path = sessions.path(), .session = sessions.session(), .clone = clone, .result = {}};
  uint64_t gaps = 0;
  RS_ASSIGN_OR_RETURN(UnrecordedBuffers unrecorded, UnrecordedOf(context, args));
  AddedBuffers records(sessions, std::move(unrecorded));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records.Next());
    if (!op) break;
    if (std::holds_alternative<RecorderGap>(op->body) && !IsDamage(op->body)) ++gaps;
    RS_RETURN_IF_ERROR(InFile(outcome.path, diff.Apply(*op, sessions.record_number())));
  }
  RS_ASSIGN_OR_RETURN(outcome.result, diff.Finish());
  if (gaps > 0)
    context.console.Warn(fmt::format("{}: the recording is not complete: it has {}", outcome.path,
                                     Count(gaps, "gap")));
  RS_RETURN_IF_ERROR(CheckBuffers(outcome, args));
  return outcome;
}

/// Adds the comparisons of all sessions of a log, or of its parts, to `diffs`.
Result<ExitCode> DiffSessions(const DiffArgs& args, const std::vector<std::string>& paths,
                              Context& context, std::vector<SessionDiff>& diffs) {
  SessionReader sessions(context, {paths, args.session, args.clone}, "comparing");
  return ForEachSession(sessions, [&]() -> Result<ExitCode> {
    RS_ASSIGN_OR_RETURN(diffs.emplace_back(), DiffSession(args, sessions, context));
    return diffs.back().result.Same() ? ExitCode::kClean : ExitCode::kNotice;
  });
}

}  // namespace

Result<UnrecordedBuffers> UnrecordedOf(Context& context, const DiffArgs& args) {
  RS_ASSIGN_OR_RETURN(UnrecordedBuffers buffers, UnrecordedOf(context, args.sides.a));
  // Set up with one size; each side has its own by its options.
  for (const auto& [id, choice] : args.sides.b.session.buffers)
    if (choice.size) buffers.sizes.emplace(id, *choice.size);
  return buffers;
}

DiffOptions ToDiffOptions(const DiffArgs& args, const std::optional<CloneView>& clone) {
  DiffOptions options;
  for (const Side side : kSides) {
    options.sides[side] = args.sides[side];
    options.sides[side].session.clone = clone;
  }
  options.listed = args.limit;
  return options;
}

namespace {

/// Each log for itself, on all cores.
Result<ExitCode> DiffEach(const DiffArgs& args, const LogList& list, Context& context) {
  if (!args.minimize.empty()) {
    return Fail(ErrorCode::kUsage, "--minimize takes one log, not many", {},
                "name one log, without --each and --shard");
  }
  const auto task = [&](const std::string& log, Context& own, std::vector<SessionDiff>& diffs) {
    return DiffSessions(args, {log}, own, diffs);
  };
  return ReportDiffs(args, CollectEachLog<SessionDiff>(context, list.paths, "comparing", task),
                     list.shards, context.console);
}

}  // namespace

Result<ExitCode> DiffLogs(const DiffArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const LogList logs, ExpandLogs(context, args.logs));
  if (logs.each) return DiffEach(args, logs, context);
  std::vector<SessionDiff> diffs;
  RS_ASSIGN_OR_RETURN(const ExitCode code, DiffSessions(args, logs.paths, context, diffs));
  RS_RETURN_IF_ERROR(ReportDiffs(args, diffs, context.console));
  if (!args.minimize.empty()) RS_RETURN_IF_ERROR(MinimizeLog(args, diffs, context));
  return code;
}

}  // namespace ringscope
