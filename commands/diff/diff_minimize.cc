#include "commands/diff/diff_minimize.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "commands/common/session_reader.h"
#include "commands/common/trace_check.h"
#include "commands/diff/diff_words.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/diff/minimize.h"
#include "core/fuzz/fuzz_run.h"
#include "core/fuzz/recorded_calls.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/ops/test_case.h"

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

/// How long a log may be minimized.
constexpr std::chrono::seconds kMinimizingALog{60};

/// Payloads of a log that are kept to be minimized, bytes.
constexpr uint64_t kMostPayloadBytes = uint64_t{4} << 30;

/// The operations of one buffer that show what the session shows, and why.
struct PlainDifference {
  FuzzPlan plan;
  PlainStream stream;
  FuzzFinding finding;
};

/// Whether the sides differ in nothing but their engines, which are those of all buffers.
bool DifferInEngineOnly(const DiffArgs& args, const SessionDiff& diff) {
  const ReplayChoices &a = args.sides.a, &b = args.sides.b;
  return !diff.clone && diff.result.same_reads && a.session.buffers.empty() &&
         b.session.buffers.empty() && a.session.all.size == b.session.all.size &&
         a.session.all.policy == b.session.all.policy && a.pass_bytes == b.pass_bytes;
}

/// What the buffer that differs first had to do; nullopt: the session around it matters, too.
/// Operations on one buffer are tried in no time, and can be taken to Perfetto's own tests.
Result<std::optional<PlainDifference>> FindPlainDifference(const std::vector<StoredOp>& ops,
                                                           const Both<ReplayOptions>& sides,
                                                           const LogDiff& result) {
  const auto& first = result.first ? result.first : result.first_counter;
  if (result.died || !first || !first->buffer) return std::nullopt;
  PlainDifference plain;
  for (const BufferDiff& buffer : result.buffers) {
    if (buffer.id != *first->buffer) continue;
    for (const Side side : kSides) {
      RS_ASSIGN_OR_RETURN(const EngineInfo* const engine,
                          sides[side].session.find_engine(buffer.sides[side].engine));
      plain.plan.sides[side] = SideOf(*engine);
    }
  }
  const RecordedCalls calls(kMostPayloadBytes);
  {
    ReplayOptions options = sides.a;
    options.session.make_engine = calls.Maker();
    Replay replay(std::move(options), {});
    for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(replay.Apply(ops[i].op(), i));
    RS_RETURN_IF_ERROR(replay.Finish());
  }
  if (calls.is_cut()) return std::nullopt;
  for (const RecordedCalls::Recorded& recorded : calls.streams())
    if (recorded.buffer == *first->buffer) plain.stream = recorded.stream;
  // What is left shall show the same kind of difference, and the same counter.
  plain.plan.ignored.kinds.fill(true);
  plain.plan.ignored.kinds[static_cast<size_t>(first->kind)] = false;
  plain.plan.ignored.counters.fill(true);
  if (!first->counters.empty()) plain.plan.ignored.counters[first->counters.front()] = false;
  auto finding = FirstFinding(plain.plan, plain.stream);
  if (!finding) return std::nullopt;
  plain.finding = std::move(*finding);
  plain.finding.rules.clear();  // the kind decides, whichever rule explains it
  return plain;
}

/// Writes the test case beside the log: "bug.ops.jsonl" gets "bug.cc".
Status WriteCase(const DiffArgs& args, const PlainDifference& plain, Context& context) {
  const auto shown = FirstFinding(plain.plan, plain.stream);
  if (!shown) return {};
  RS_ASSIGN_OR_RETURN(
      const std::string text,
      WriteTestCase({.cause = shown->cause, .what = shown->mismatch.text, .stream = plain.stream},
                    plain.plan.engines(), *args.style));
  const std::string path = TestCasePath(args.minimize);
  RS_ASSIGN_OR_RETURN(const auto file, CreateOutput(context, path, kTestCaseOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(text));
  RS_RETURN_IF_ERROR(file->Commit());
  context.console.Say(fmt::format("wrote {}: a test that passes with {}, not with {}", path,
                                  plain.plan.sides.a.info.name, plain.plan.sides.b.info.name));
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
  RS_ASSIGN_OR_RETURN(std::vector<StoredOp> ops, ReadSession(args, context));
  const Both<ReplayOptions> sides = ToDiffOptions(args, diffs.front().clone).sides;
  const size_t before = ops.size();
  const auto end = std::chrono::steady_clock::now() + kMinimizingALog;
  const auto stop = [end] { return std::chrono::steady_clock::now() >= end; };
  std::optional<PlainDifference> plain;
  if (DifferInEngineOnly(args, diffs.front())) {
    RS_ASSIGN_OR_RETURN(plain, FindPlainDifference(ops, sides, diffs.front().result));
  }
  std::vector<StoredOp> minimal;
  if (plain) {
    plain->stream = Smallest(plain->plan, plain->finding, std::move(plain->stream), stop);
    minimal = ToOps(plain->stream);
    RS_ASSIGN_OR_RETURN(const LogDiff left, DiffOps(minimal, sides));
    if (left.Same()) plain.reset();  // the session around the buffer matters, too
  }
  if (!plain) {
    RS_ASSIGN_OR_RETURN(minimal, Minimize(
                                     std::move(ops), sides,
                                     [&](size_t records) {
                                       if (context.console.shows_progress())
                                         context.console.ShowProgressLine(fmt::format(
                                             "minimizing: {} left", Count(records, "record")));
                                     },
                                     stop));
  }
  context.console.ShowProgressLine("");

  // The note comes first, so that it is read first.
  RS_ASSIGN_OR_RETURN(const LogDiff shown, DiffOps(minimal, sides));
  const std::string what = shown.died ? fmt::format("{} ended: {}", Letter(shown.died->side),
                                                    shown.died->Class())
                                      : CountsText(shown.counts);
  const std::string note =
      fmt::format("shows with 'ringscope diff {}': {}", SidesAsOptions(args), what);
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.minimize, kOpsOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(FormatOp({.time_ns = {}, .body = Note{note}}) + "\n"));
  for (const StoredOp& op : minimal) RS_RETURN_IF_ERROR(file->Write(FormatOp(op.op()) + "\n"));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.minimize != "-")
    context.console.Say(
        fmt::format("wrote {}: {} of {}", args.minimize, minimal.size(), Count(before, "record")));
  if (!args.style) return {};
  if (plain) return WriteCase(args, *plain, context);
  context.console.Warn(
      "no test case is written: that takes sides that differ in their engines alone, and a "
      "difference that one buffer shows without the session around it");
  return {};
}

}  // namespace ringscope
