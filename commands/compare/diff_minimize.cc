// The smallest log that shows a difference.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "commands/compare/diff.h"
#include "commands/replays/trace_check.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "core/compare/minimize.h"
#include "core/compare/stream_notation.h"
#include "core/perfetto/chunk.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/ops/perfetto_case.h"

namespace ringscope {
namespace {

using Ops = std::vector<StoredOp>;

/// Time after which minimizing ends.
constexpr std::chrono::seconds kMinimizingALog{60};

/// The sides' options as a command line has them: "--a v2@55 --b v2@58 --b-size 65536".
std::string SidesAsOptions(const DiffArgs& args) {
  std::string text;
  for (const Side side : kSides) {
    const std::string letter = side == Side::kA ? " --a" : " --b";
    const ReplayChoices& choices = args.sides[side];
    const auto append = [&](const std::string& of, const BufferChoice& choice) {
      if (choice.engine) text += fmt::format("{} {}{}", letter, of, *choice.engine);
      if (choice.size) text += fmt::format("{}-size {}{}", letter, of, *choice.size);
      if (choice.policy) text += fmt::format("{}-policy {}{}", letter, of, Name(*choice.policy));
    };
    append("", choices.session.all);
    for (const auto& [key, choice] : choices.session.buffers) append(ToString(key) + "=", choice);
    const ReadsChoice& reads = choices.reads;
    if (reads.mode != ReadsMode::kAuto)
      text += fmt::format("{}-reads {}{}", letter, Name(reads.mode),
                          reads.every_ns == 0 ? "" : fmt::format("={}ns", reads.every_ns));
    if (choices.pass_bytes) text += fmt::format("{}-pass-bytes {}", letter, *choices.pass_bytes);
  }
  if (args.input.clone) text += fmt::format(" --clone {}", *args.input.clone);
  return text.empty() ? text : text.substr(1);
}

uint64_t PartOf(uint64_t size, uint64_t divisor) {
  return std::max(PagesUp(size / divisor), kPageBytes);
}
/// The sizes that the sides choose, divided. @return false: they choose none
bool DivideSizes(DiffArgs& args, uint64_t divisor) {
  bool any = false;
  const auto divide = [&](std::optional<uint64_t>& size) {
    if (!size) return;
    size = PartOf(*size, divisor);
    any = true;
  };
  for (const Side side : kSides) {
    Session::Options& session = args.sides[side].session;
    divide(session.all.size);
    for (auto& [id, choice] : session.buffers) divide(choice.size);
  }
  return any;
}
void DivideSizes(Ops& ops, uint64_t divisor) {
  for (StoredOp& stored : ops) {
    Op op = stored.op();
    auto* const setup = std::get_if<BufferSetUp>(&op.body);
    if (setup == nullptr) continue;
    setup->size = PartOf(setup->size, divisor);
    stored = StoredOp(op);
  }
}

/// Writes the difference as a test in Perfetto's words, or reports why not.
Status WriteCase(const DiffArgs& args, const Ops& minimal, const LogDiff& shown, Context& context) {
  const auto none = [&](const std::string& why) -> Status {
    context.console.Say("no test case was written: " + why);
    return {};
  };
  const Divergence* const first = shown.First();
  if (first == nullptr || first->kind == DifferenceKind::kOrder || shown.buffers.size() != 1 ||
      !shown.same_reads || args.input.clone)
    return none(
        "it requires that both sides are read at the same moments, and that one buffer alone shows "
        "the difference");
  const Both<SideBuffer>& buffer = shown.buffers.front().sides;
  PerfettoCase test;
  for (const Side side : kSides) {
    PerfettoCase::Side& own = side == Side::kA ? test.a : test.b;
    RS_ASSIGN_OR_RETURN(own.engine, args.sides[side].session.find_engine(buffer[side].engine));
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
  const bool are_alike = test.a.engine->name == test.b.engine->name;
  const auto name = [&](const char* side, const EngineInfo& engine) {
    return are_alike ? fmt::format("{} ({})", side, engine.name) : std::string(engine.name);
  };
  context.console.Say(fmt::format("wrote {}: a test that passes with {}, not with {}", file->path(),
                                  name("A", *test.a.engine), name("B", *test.b.engine)));
  return {};
}

}  // namespace

std::string ExampleLine(const std::vector<StoredOp>& ops, const Both<std::string>& engines,
                        uint64_t size, FillPolicy policy, const ShowsDifference& shows) {
  const std::optional<std::string> text = InNotation(ops);
  if (!text) return {};
  const auto example = StreamExample::Parse(*text);
  if (!example || !shows(example->ToOps(size, policy))) return {};
  return fmt::format("ringscope try '{}' --engine {},{} --size {}{}", *text, engines.a, engines.b,
                     size, policy == FillPolicy::kDiscard ? " --policy discard" : "");
}

Status MinimizeLog(const DiffArgs& args, std::vector<SessionDiff> diffs, Context& context) {
  const auto fail = [&](const char* what, const char* hint) {
    return Fail(ErrorCode::kUsage, what, {args.input.paths.front(), {}, {}}, hint);
  };
  if (diffs.size() != 1) return fail("--minimize takes one session", "choose one with --session N");
  SessionDiff& whole = diffs.front();
  if (whole.result.Same()) {
    context.console.Warn(fmt::format("{}: the sides do not differ, so {} is not written",
                                     args.input.paths.front(), args.minimize));
    return {};
  }
  const Divergence* const wanted = whole.result.First();
  if (wanted == nullptr) return fail("no record shows the difference: it cannot be minimized", "");
  // Before the work, so that a file that is in the way is found first.
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.minimize, kOpsOutput, args.force));
  if (args.minimize != "-")
    RS_RETURN_IF_ERROR(
        CreateOutput(context, PerfettoCasePath(args.minimize), kPerfettoCaseOutput, args.force));
  Ops ops = std::move(whole.ops);
  const size_t before = ops.size();
  const auto end = std::chrono::steady_clock::now() + kMinimizingALog;
  const auto is_over = [end] { return std::chrono::steady_clock::now() >= end; };
  DiffArgs sides = args;
  const auto diff = [&](const Ops& less, const Ignored& ignored) {
    DiffOptions options = ToDiffOptions(sides, whole.clone);
    options.ignored = ignored;
    return DiffOps(less, std::move(options));
  };
  const auto shows = [&](const Ops& less) {
    const auto result = diff(less, wanted->Others());
    return result && result->First() != nullptr && result->First()->Class() == wanted->Class();
  };
  // Sizes that the sides choose stay in proportion to those of the log.
  constexpr uint64_t kLargestDivisor = 1 << 16;
  for (uint64_t divisor = kLargestDivisor; divisor > 1 && !is_over(); divisor /= 2) {
    if (!DivideSizes(sides, divisor)) break;
    Ops smaller = ops;
    DivideSizes(smaller, divisor);
    if (shows(smaller)) {
      ops = std::move(smaller);
      break;
    }
    sides = args;
  }
  // The records that follow the difference have no part in it, unless the end itself does.
  if (const auto result = diff(ops, wanted->Others()); result && result->First() != nullptr) {
    const Divergence& first = *result->First();
    Ops cut = ops;
    if (!first.at_end)
      cut.erase(cut.begin() + 1 + static_cast<std::ptrdiff_t>(*first.moment.record), cut.end());
    if (shows(cut)) ops = std::move(cut);
  }
  const Ops minimal = Minimize(
      {.ops = std::move(ops), .shows = shows, .stop = is_over, .progress = [&](size_t records) {
         if (context.console.shows_progress())
           context.console.ShowProgressLine(
               fmt::format("minimizing: {} left", Count(records, "record")));
       }});
  RS_ASSIGN_OR_RETURN(const LogDiff shown, diff(minimal, {}));
  context.console.ShowProgressLine("");

  std::string example;
  if (shown.buffers.size() == 1 && shown.same_reads && !args.input.clone) {
    const auto& [a, b] = shown.buffers.front().sides;
    if (a.size == b.size && a.policy == b.policy)
      example = ExampleLine(minimal, {a.engine, b.engine}, a.size, a.policy, shows);
  }
  const std::string note = fmt::format("shows with 'ringscope diff {}': {}", SidesAsOptions(sides),
                                       CountsText(shown.counts));
  RS_RETURN_IF_ERROR(file->Write(FormatOp({.time_ns = {}, .body = Note{note}}) + "\n"));
  for (const StoredOp& op : minimal) RS_RETURN_IF_ERROR(file->Write(FormatOp(op.op()) + "\n"));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.minimize == "-") return {};
  context.console.Say(
      fmt::format("wrote {}: {} of {}", args.minimize, minimal.size(), Count(before, "record")));
  if (!example.empty()) context.console.Say("in a line: " + example);
  return WriteCase(sides, minimal, shown, context);
}

}  // namespace ringscope
