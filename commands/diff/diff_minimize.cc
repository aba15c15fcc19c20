#include "commands/diff/diff_minimize.h"

#include <fmt/format.h>

#include "commands/common/session_reader.h"
#include "commands/diff/diff_words.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/diff/minimize.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

Result<std::vector<StoredOp>> ReadSession(const DiffArgs& args, Context& context) {
  SessionReader sessions(context, {args.logs.logs, args.session, args.clone}, "reading again");
  RS_RETURN_IF_ERROR(sessions.NextSession());
  std::vector<StoredOp> ops;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
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
  RS_ASSIGN_OR_RETURN(std::vector<StoredOp> ops, ReadSession(args, context));
  const Both<ReplayOptions> sides = ToDiffOptions(args, diffs.front().clone).sides;
  const size_t before = ops.size();
  RS_ASSIGN_OR_RETURN(const std::vector<StoredOp> minimal,
                      Minimize(std::move(ops), sides, [&](size_t records) {
                        if (context.console.shows_progress())
                          context.console.ShowProgressLine(
                              fmt::format("minimizing: {} left", Count(records, "record")));
                      }));
  context.console.ShowProgressLine("");

  // The note comes first, so that it is read first.
  RS_ASSIGN_OR_RETURN(const LogDiff shown, DiffOps(minimal, sides));
  const std::string note = fmt::format("shows with 'ringscope diff {}': {}", SidesAsOptions(args),
                                       CountsText(shown.counts));
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.minimize, kOpsOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(FormatOp({.time_ns = {}, .body = Note{note}}) + "\n"));
  for (const StoredOp& op : minimal) RS_RETURN_IF_ERROR(file->Write(FormatOp(op.op()) + "\n"));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.minimize != "-")
    context.console.Say(
        fmt::format("wrote {}: {} of {}", args.minimize, minimal.size(), Count(before, "record")));
  return {};
}

}  // namespace ringscope
