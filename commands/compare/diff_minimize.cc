#include "commands/compare/diff_minimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "commands/replays/session_reader.h"
#include "commands/replays/trace_check.h"
#include "commands/shell/output.h"
#include "commands/shell/text.h"
#include "core/compare/minimize.h"
#include "core/perfetto/page.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/ops/perfetto_case.h"

namespace ringscope {
namespace {

Result<std::vector<StoredOp>> ReadSession(const DiffArgs& args, Context& context) {
  SessionReader sessions(context, {args.inputs, args.session, args.clone}, "reading again");
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
  if (reads.mode == ReadsMode::kAuto) return "";
  return reads.every_ns == 0 ? Name(reads.mode)
                             : fmt::format("{}={}ns", Name(reads.mode), reads.every_ns);
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

/// Sizes of buffers on both sides, in proportion to those of a log: what --a-size and --b-size
/// choose becomes smaller with the log's buffers.
class Proportions {
 public:
  explicit Proportions(const std::vector<BufferDiff>& buffers) {
    for (const BufferDiff& buffer : buffers)
      sizes_[buffer.id] = {buffer.sides.a.size, buffer.sides.b.size};
  }

  /// Gives each buffer the smaller size of both sides.
  void SetSmaller(std::vector<StoredOp>& ops) const {
    for (StoredOp& stored : ops) {
      Op op = stored.op();
      auto* const setup = std::get_if<BufferSetUp>(&op.body);
      if (setup == nullptr || !sizes_.contains(setup->id)) continue;
      setup->size = Smaller(setup->id);
      stored = StoredOp(op);
    }
  }
  /// The options with which the sides have these sizes over a smaller log.
  DiffArgs ArgsFor(const DiffArgs& args, const std::vector<StoredOp>& ops) const {
    DiffArgs own = args;
    for (const Side side : kSides) {
      Session::Options& session = own.sides[side].session;
      session.all.size.reset();
      for (auto& [id, choice] : session.buffers) choice.size.reset();
      std::map<BufferId, uint64_t> chosen;
      for (const StoredOp& stored : ops) {
        const auto* const setup = std::get_if<BufferSetUp>(&stored.op().body);
        if (setup == nullptr || !sizes_.contains(setup->id)) continue;
        const uint64_t size = SizeOf(setup->id, side, setup->size);
        if (size != setup->size) chosen[setup->id] = size;
      }
      const bool is_all = chosen.size() == 1 && sizes_.size() == 1;
      if (is_all) session.all.size = chosen.begin()->second;
      for (const auto& [id, size] : chosen)
        if (!is_all) session.buffers[id].size = size;
    }
    return own;
  }

 private:
  uint64_t Smaller(BufferId id) const { return std::min(sizes_.at(id).a, sizes_.at(id).b); }
  /// Whole pages, if the buffer has not its original size.
  uint64_t SizeOf(BufferId id, Side side, uint64_t size_in_log) const {
    const uint64_t own = sizes_.at(id)[side], base = Smaller(id);
    if (base == 0 || size_in_log == base) return own;
    if (own == base) return size_in_log;
    const double wanted =
        static_cast<double>(own) / static_cast<double>(base) * static_cast<double>(size_in_log);
    return std::max(PagesUp(static_cast<uint64_t>(wanted)), kPageBytes);
  }

  std::map<BufferId, Both<uint64_t>> sizes_;
};

/// Writes the difference as a test in Perfetto's words, or reports why not.
Status WriteCase(const DiffArgs& args, const std::vector<StoredOp>& minimal, const LogDiff& shown,
                 Context& context) {
  const auto none = [&](const std::string& why) -> Status {
    context.console.Say("no test case was written: " + why);
    return {};
  };
  const auto& first = shown.first ? shown.first : shown.first_counter;
  if (!first || shown.buffers.size() != 1 || !shown.same_reads || args.clone)
    return none(
        "it requires that both sides are read at the same moments, and that one buffer alone shows "
        "the difference");
  const Both<SideBuffer>& buffer = shown.buffers.front().sides;
  PerfettoCase test;
  for (const Side side : kSides) {
    PerfettoCase::Side& own = side == Side::kA ? test.a : test.b;
    const Session::Options& session = args.sides[side].session;
    RS_ASSIGN_OR_RETURN(own.engine, session.find_engine(buffer[side].engine));
    own.size = buffer[side].size;
    own.policy = buffer[side].policy;
  }
  std::vector<Op> ops;
  for (const StoredOp& op : minimal) ops.push_back(op.op());
  test.ops = ops;
  test.cause = first->Class();
  test.what = first->Text({test.a.engine->name, test.b.engine->name});
  const auto text = WritePerfettoCase(test);
  if (!text) return none(text.error().ToString());
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<OutputFile> file,
      CreateOutput(context, PerfettoCasePath(args.minimize), kPerfettoCaseOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(*text));
  RS_RETURN_IF_ERROR(file->Commit());
  const bool are_alike = std::string_view(test.a.engine->name) == test.b.engine->name;
  const auto name = [&](const char* side, const EngineInfo& engine) {
    return are_alike ? fmt::format("{} ({})", side, engine.name) : std::string(engine.name);
  };
  context.console.Say(fmt::format("wrote {}: a test that passes with {}, not with {}", file->path(),
                                  name("A", *test.a.engine), name("B", *test.b.engine)));
  return {};
}

}  // namespace

Status MinimizeLog(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Context& context) {
  if (diffs.size() != 1) {
    return Fail(ErrorCode::kUsage, "--minimize takes one session", {args.inputs.front(), {}, {}},
                "choose one with --session N");
  }
  if (diffs.front().result.Same()) {
    context.console.Warn(fmt::format("{}: the sides do not differ, so {} is not written",
                                     args.inputs.front(), args.minimize));
    return {};
  }
  // Before the work, so that a file that is in the way is found first.
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.minimize, kOpsOutput, args.force));
  if (args.minimize != "-")
    RS_RETURN_IF_ERROR(
        CreateOutput(context, PerfettoCasePath(args.minimize), kPerfettoCaseOutput, args.force));
  RS_ASSIGN_OR_RETURN(std::vector<StoredOp> ops, ReadSession(args, context));
  const size_t before = ops.size();
  const LogDiff& whole = diffs.front().result;
  const std::optional<FirstDifference> wanted = FirstDifferenceOf(whole);
  if (!wanted)
    return Fail(ErrorCode::kUsage,
                "only counters of the service differ: there is nothing to minimize",
                {args.inputs.front(), {}, {}});
  const Proportions proportions(whole.buffers);
  const auto diff = [&](const std::vector<StoredOp>& less, const Ignored& ignored) {
    DiffOptions options = ToDiffOptions(proportions.ArgsFor(args, less), diffs.front().clone);
    options.ignored = ignored;
    options.listed = 0;
    return DiffOps(less, std::move(options));
  };
  const auto shows = [&](const std::vector<StoredOp>& less) {
    const auto result = diff(less, wanted->others);
    if (!result) return false;  // a side refuses such a stream
    const auto found = FirstDifferenceOf(*result);
    return found && found->signature == wanted->signature;
  };
  proportions.SetSmaller(ops);
  // The records that follow the difference have no part in it, unless the end itself does.
  if (const auto result = diff(ops, wanted->others)) {
    const auto found = FirstDifferenceOf(*result);
    const auto end = found && found->record ? *found->record + 1 : ops.size();
    const std::vector<StoredOp> cut(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(end));
    if (shows(cut)) ops = cut;
  }
  const auto end = std::chrono::steady_clock::now() + kMinimizingALog;
  const std::vector<StoredOp> minimal =
      Minimize({.ops = std::move(ops),
                .shows = shows,
                .stop = [end] { return std::chrono::steady_clock::now() >= end; },
                .progress =
                    [&](size_t records) {
                      if (context.console.shows_progress())
                        context.console.ShowProgressLine(
                            fmt::format("minimizing: {} left", Count(records, "record")));
                    }});
  const DiffArgs shown_by = proportions.ArgsFor(args, minimal);
  RS_ASSIGN_OR_RETURN(const LogDiff shown, diff(minimal, {}));
  context.console.ShowProgressLine("");

  const std::string note = fmt::format("shows with 'ringscope diff {}': {}",
                                       SidesAsOptions(shown_by), CountsText(shown.counts));
  RS_RETURN_IF_ERROR(file->Write(FormatOp({.time_ns = {}, .body = Note{note}}) + "\n"));
  for (const StoredOp& op : minimal) RS_RETURN_IF_ERROR(file->Write(FormatOp(op.op()) + "\n"));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.minimize != "-")
    context.console.Say(
        fmt::format("wrote {}: {} of {}", args.minimize, minimal.size(), Count(before, "record")));
  return args.minimize == "-" ? Status() : WriteCase(shown_by, minimal, shown, context);
}

}  // namespace ringscope
