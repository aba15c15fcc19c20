// The smallest log that shows a difference.

#include "commands/compare/diff.h"
#include "commands/session/trace_check.h"
#include "core/compare/fuzz_run.h"
#include "formats/ops/ops_jsonl.h"

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
  }
  if (args.input.clone) text += fmt::format(" --clone {}", *args.input.clone);
  return text.empty() ? text : text.substr(1);
}

/// Divides the sizes that the sides choose, and those of the log. @return false: they choose none
bool DivideSizes(DiffArgs& args, Ops& ops, uint64_t divisor) {
  bool any = false;
  const auto divided = [&](uint64_t size) { return std::max(PagesUp(size / divisor), kPageBytes); };
  const auto divide = [&](BufferChoice& choice) {
    any |= choice.size.has_value();
    if (choice.size) choice.size = divided(*choice.size);
  };
  for (const Side side : kSides) {
    Session::Options& session = args.sides[side].session;
    divide(session.all);
    for (auto& [id, choice] : session.buffers) divide(choice);
  }
  for (StoredOp& stored : ops) {
    Op op = stored.op();
    auto* const setup = std::get_if<BufferSetUp>(&op.body);
    if (setup == nullptr) continue;
    setup->size = divided(setup->size);
    stored = StoredOp(op);
  }
  return any;
}

/// Returns the difference as one of a buffer that both sides read at the same moments, if it is
/// one.
Result<std::optional<PerfettoCase>> CaseOf(const DiffArgs& args, const Ops& ops,
                                           const LogDiff& shown) {
  const Divergence* const first = shown.First();
  if (first == nullptr || first->kind == DifferenceKind::kOrder || shown.buffers.size() != 1 ||
      !shown.same_reads || args.input.clone)
    return std::nullopt;
  const Both<BufferOutcome>& buffer = shown.buffers.front().sides;
  PerfettoCase test{.cause = first->Class(), .what = {}, .ops = ops, .sides = {}};
  for (const Side side : kSides) {
    RS_ASSIGN_OR_RETURN(const EngineInfo* const engine,
                        args.sides[side].session.find_engine(buffer[side].engine));
    test.sides[side] = {engine, buffer[side].size, buffer[side].policy};
  }
  test.what = first->Text({test.sides.a.engine->name, test.sides.b.engine->name});
  return test;
}

}  // namespace

Result<std::string> WriteCase(PerfettoCase test, const std::string& log, bool force,
                              Context& context) {
  std::string a = test.sides.a.engine->name, b = test.sides.b.engine->name;
  if (a == b) a = fmt::format("A ({})", a), b = fmt::format("B ({})", b);
  auto text = WritePerfettoCase(test);
  if (!text) {
    std::swap(test.sides.a, test.sides.b);
    std::swap(a, b);
    if (auto other = WritePerfettoCase(test)) text = std::move(other);
  }
  if (!text) return "no test case was written: " + text.error().ToString();
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, PerfettoCasePath(log), kPerfettoCaseOutput, force));
  RS_RETURN_IF_ERROR(file->Write(*text));
  RS_RETURN_IF_ERROR(file->Commit());
  return fmt::format("wrote {}: a test that passes with {}, not with {}", file->path(), a, b);
}

std::string ExampleLine(const PerfettoCase& test, const ShowsDifference& shows) {
  const BufferSetUp a = test.BufferOf(Side::kA), b = test.BufferOf(Side::kB);
  const std::optional<std::string> text = InNotation(test.ops);
  if (!text || a.size != b.size || a.policy != b.policy) return {};
  const auto example = ParseExample(*text);
  if (!example || !shows(ToOps(*example, a.size, a.policy))) return {};
  return fmt::format("ringscope try '{}' --engine {},{} --size {}{}", *text,
                     test.sides.a.engine->name, test.sides.b.engine->name, a.size,
                     a.policy == FillPolicy::kDiscard ? " --policy discard" : "");
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
  const auto violations = [](const LogDiff& of) {
    uint64_t sum = 0;
    for (const BufferDiff& buffer : of.buffers)
      for (const Side side : kSides) sum += buffer.sides[side].stats.abi_violations;
    return sum;
  };
  const uint64_t most_violations = violations(whole.result);  // writers behave as in the log
  const auto shows = [&](const Ops& less) {
    const auto result = diff(less, wanted->Others());
    return result && result->First() != nullptr && result->First()->Class() == wanted->Class() &&
           violations(*result) <= most_violations;
  };
  // Sizes that the sides choose stay in proportion to those of the log.
  constexpr uint64_t kLargestDivisor = 1 << 16;
  for (uint64_t divisor = kLargestDivisor; divisor > 1 && !is_over(); divisor /= 2) {
    Ops smaller = ops;
    if (!DivideSizes(sides, smaller, divisor)) break;
    if (shows(smaller)) {
      ops = std::move(smaller);
      break;
    }
    sides = args;
  }
  // The records that follow the difference have no part in it, unless the end itself does.
  const auto result = diff(ops, wanted->Others());
  const Divergence* const first = result ? result->First() : nullptr;
  if (first != nullptr && !first->at_end) {
    const Ops cut(ops.begin(),
                  ops.begin() + 1 + static_cast<std::ptrdiff_t>(*first->moment.record));
    if (shows(cut)) ops = cut;
  }
  const Ops minimal = Minimize(std::move(ops), shows, is_over);
  RS_ASSIGN_OR_RETURN(const LogDiff shown, diff(minimal, {}));

  const std::string note = fmt::format("shows with 'ringscope diff {}': {}", SidesAsOptions(sides),
                                       CountsText(shown.counts));
  RS_RETURN_IF_ERROR(file->Write(FormatLog(note, minimal)));
  RS_RETURN_IF_ERROR(file->Commit());
  if (args.minimize == "-") return {};
  context.console.Say(
      fmt::format("wrote {}: {} of {}", args.minimize, minimal.size(), Count(before, "record")));
  RS_ASSIGN_OR_RETURN(std::optional<PerfettoCase> test, CaseOf(sides, minimal, shown));
  if (!test) {
    context.console.Say(
        "no test case was written: it requires that both sides are read at the same moments, and "
        "that one buffer alone shows the difference");
    return {};
  }
  if (const std::string example = ExampleLine(*test, shows); !example.empty())
    context.console.Say("in a line: " + example);
  const Both<FuzzSide> engines = {SideOf(*test->sides.a.engine), SideOf(*test->sides.b.engine)};
  if (const auto found = CompareOver(engines, wanted->Others(), minimal);
      found && found->sort == test->cause)
    if (const auto rules = ExplanationOf(engines, wanted->Others(), minimal, *found);
        !rules.empty()) {
      test->cause = FullName(*rules.front());
      context.console.Say("without this rule they agree: " + test->cause);
    }
  RS_ASSIGN_OR_RETURN(const std::string written,
                      WriteCase(*test, args.minimize, args.force, context));
  context.console.Say(written);
  return {};
}

}  // namespace ringscope
