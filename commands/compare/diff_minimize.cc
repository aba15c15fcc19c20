#include "commands/compare/diff_minimize.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "commands/compare/diff_words.h"
#include "commands/compare/plain_difference.h"
#include "commands/replays/session_reader.h"
#include "commands/replays/trace_check.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/compare/minimize.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/ops/test_case.h"

namespace ringscope {
namespace {

Result<std::vector<StoredOp>> ReadSession(const DiffArgs& args, Context& context) {
  SessionReader sessions(context, {args.logs.logs, args.session, args.clone}, "reading again");
  RS_RETURN_IF_ERROR(sessions.NextSession());
  std::vector<StoredOp> ops;
  RS_ASSIGN_OR_RETURN(UnrecordedBuffers unrecorded, UnrecordedOf(context, args));
  AddedBuffers records(sessions, std::move(unrecorded));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records.Next());
    if (!op) return ops;
    ops.emplace_back(*op);
  }
}

void AppendChoice(std::string& text, char side, std::optional<BufferId> buffer,
                  const BufferChoice& choice) {
  const std::string of = buffer ? fmt::format("{}=", Raw(*buffer)) : std::string();
  if (choice.engine) text += fmt::format(" --{} {}{}", side, of, *choice.engine);
  if (choice.size) text += fmt::format(" --{}-size {}{}", side, of, *choice.size);
  if (choice.policy) text += fmt::format(" --{}-policy {}{}", side, of, Name(*choice.policy));
}

std::string ReadsText(const ReadsChoice& reads) {
  switch (reads.mode) {
    case ReadsMode::kAuto:
      return "";
    case ReadsMode::kRecorded:
      return "recorded";
    case ReadsMode::kEnd:
      return "end";
    case ReadsMode::kNone:
      return "none";
    case ReadsMode::kStreamed:
      if (reads.every_ns == 0) return Name(reads.mode);
      [[fallthrough]];
    case ReadsMode::kEvery:
      return fmt::format("{}={}ns", Name(reads.mode), reads.every_ns);
  }
  return "";
}

/// The sides' options as a command line has them: "--a v2@55 --b v2@58 --b-size 65536".
std::string SidesAsOptions(const DiffArgs& args) {
  std::string text;
  for (const Side side : kSides) {
    const char letter = side == Side::kA ? 'a' : 'b';
    const ReplayChoices& choices = args.sides[side];
    AppendChoice(text, letter, std::nullopt, choices.session.all);
    for (const auto& [id, choice] : choices.session.buffers) AppendChoice(text, letter, id, choice);
    if (const std::string reads = ReadsText(choices.reads); !reads.empty())
      text += fmt::format(" --{}-reads {}", letter, reads);
    if (choices.pass_bytes) text += fmt::format(" --{}-pass-bytes {}", letter, *choices.pass_bytes);
  }
  if (args.clone) text += fmt::format(" --clone {}", *args.clone);
  return text.empty() ? text : text.substr(1);
}

/// How long a log may be minimized.
constexpr std::chrono::seconds kMinimizingALog{60};

/// Where the test case goes: "bug.ops.jsonl" gets "bug.cc".
/// @return null: there is to be none
Result<std::unique_ptr<OutputFile>> CreateCase(const DiffArgs& args, Context& context) {
  if (args.minimize == "-" || args.style == CaseStyle::kOps) return nullptr;
  return CreateOutput(context, TestCasePath(args.minimize), kTestCaseOutput, args.force);
}

/// Writes the difference as a test, or reports why not.
Status WriteCase(const DiffArgs& args, const std::optional<PlainDifference>& plain,
                 OutputFile& file, Context& context) {
  std::string why =
      "it requires that both sides are read at the same moments, and that one buffer alone shows "
      "the difference";
  if (plain) {
    const CaseStyle style = args.style.value_or(StyleFor(*plain->engines.a));
    const auto text = CaseOfPlain(*plain, style);
    if (text && *text) {
      RS_RETURN_IF_ERROR(file.Write(**text));
      RS_RETURN_IF_ERROR(file.Commit());
      const FuzzPlan& plan = plain->plan;
      context.console.Say(fmt::format("wrote {}: a test that passes with {}, not with {}",
                                      file.path(), plan.sides.a.info.name, plan.sides.b.info.name));
      return {};
    }
    if (!text) why = text.error().ToString();
  }
  const std::string none = "no test case was written: " + why;
  if (args.style)
    context.console.Warn(none);
  else
    context.console.Say(none);
  return {};
}

}  // namespace

Status MinimizeLog(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Context& context) {
  if (diffs.size() != 1) {
    return Fail(ErrorCode::kUsage, "--minimize takes one session", {args.logs.logs.front(), {}, {}},
                "choose one with --session N");
  }
  if (diffs.front().result.Same()) {
    context.console.Warn(fmt::format("{}: the sides do not differ, so {} is not written",
                                     args.logs.logs.front(), args.minimize));
    return {};
  }
  // Before the work, so that a file that is in the way is found first.
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.minimize, kOpsOutput, args.force));
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> case_file, CreateCase(args, context));
  RS_ASSIGN_OR_RETURN(std::vector<StoredOp> ops, ReadSession(args, context));
  const size_t before = ops.size();
  const auto end = std::chrono::steady_clock::now() + kMinimizingALog;
  const auto stop = [end] { return std::chrono::steady_clock::now() >= end; };
  RS_ASSIGN_OR_RETURN(std::optional<PlainDifference> plain,
                      FindPlainDifference(ops, args, diffs.front()));
  std::vector<StoredOp> minimal;
  DiffArgs shown_by = args;
  LogDiff shown;
  if (plain) {
    ShrinkPlain(*plain, stop);
    minimal = ToOps(plain->stream);
    shown_by = ArgsOfPlain(args, *plain);
    RS_ASSIGN_OR_RETURN(shown, DiffOps(minimal, ToDiffOptions(shown_by, {}).sides));
    if (shown.Same()) plain.reset();  // the session around the buffer matters, too
  }
  if (!plain) {
    shown_by = args;
    const Both<ReplayOptions> sides = ToDiffOptions(args, diffs.front().clone).sides;
    RS_ASSIGN_OR_RETURN(minimal, Minimize(
                                     std::move(ops), sides,
                                     [&](size_t records) {
                                       if (context.console.shows_progress())
                                         context.console.ShowProgressLine(fmt::format(
                                             "minimizing: {} left", Count(records, "record")));
                                     },
                                     stop));
    RS_ASSIGN_OR_RETURN(shown, DiffOps(minimal, sides));
  }
  context.console.ShowProgressLine("");

  // The note comes first, so that it is read first.
  const std::string note = fmt::format("shows with 'ringscope diff {}': {}",
                                       SidesAsOptions(shown_by), CountsText(shown.counts));
  RS_RETURN_IF_ERROR(file->Write(FormatOp({.time_ns = {}, .body = Note{note}}) + "\n"));
  for (const StoredOp& op : minimal) RS_RETURN_IF_ERROR(file->Write(FormatOp(op.op()) + "\n"));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.minimize != "-")
    context.console.Say(
        fmt::format("wrote {}: {} of {}", args.minimize, minimal.size(), Count(before, "record")));
  return case_file ? WriteCase(args, plain, *case_file, context) : Status();
}

}  // namespace ringscope
