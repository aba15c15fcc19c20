#include "commands/compare/fuzz.h"

#include <fmt/ranges.h>
#include <malloc.h>

#include <cctype>
#include <filesystem>

#include "commands/compare/diff.h"
#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Time for minimizing a finding.
constexpr std::chrono::seconds kMinimizingAFinding{60};
/// Streams after which findings are gathered and progress is shown.
constexpr uint64_t kStreamsAtOnce = 256;

using Findings = std::vector<FuzzFinding>;

void AddFinding(FuzzFinding finding, uint32_t seed, uint64_t most, FuzzResult& result) {
  const auto cause = [](const KnownFinding& known) { return known.first.Cause(); };
  if (auto* const known = FindBy(result.findings, finding.Cause(), cause))
    ++known->streams;
  else if (result.findings.size() < most)  // of the seed that reached it, none is left over
    result.findings.push_back({.first = std::move(finding), .streams = 1, .seed = seed});
}

constexpr uint64_t kDefaultStreams = 10'000;
constexpr uint64_t kMostStreams = uint64_t{1} << 32;
constexpr uint64_t kMostFindings = 1000;

Result<StreamKind> ParseStreamKind(std::string_view text) {
  if (const auto kind = FromName<StreamKind>(text)) return *kind;
  return Fail(ErrorCode::kUsage, fmt::format("there is no mode '{}'", text), {},
              fmt::format("choose {}", fmt::join(kEnumNames<StreamKind>, ", ")));
}

void SetUp(CLI::App& app, FuzzArgs& args) {
  InGroup(app, "Engines");
  AddParsed(app, "--a", args.engines.a, ParseEngineName, "ENGINE",
            "Side A: a buffer version (see 'ringscope engines'), or a plug-in's path",
            Need::kRequired);
  AddParsed(app, "--b", args.engines.b, ParseEngineName, "ENGINE", "Side B", Need::kRequired);
  AddParsedList(
      app, "--ignore", args.ignored,
      [](std::string_view text) -> Result<std::string> { return std::string(text); },
      "RULE|KIND|COUNTER",
      "Kinds of findings that do not count: the difference that a rule of a release makes, like "
      "v2@58:relocates; a kind of difference, like loss_bits; a counter, like chunks_read. May be "
      "repeated");
  InGroup(app, "Streams");
  AddParsedList(app, "--mode", args.plan.kinds, ParseStreamKind, "MODE",
                "Which streams: correct, hostile, clones, forgetting, wrap_ids, read_limits "
                "(default: all). May be repeated");
  AddParsed(app, "--seed", args.seed, NumberUpTo(UINT32_MAX), "N",
            "Seed of the first stream; the next has the next number (default: 0)");
  AddParsed(app, "--count", args.streams, NumberUpTo(kMostStreams), "N",
            "Streams (default: 10,000, or with --time no limit)");
  AddParsed(app, "--time", args.time_ns, ParsePositiveDuration, "TIME",
            "End after this time, like 60s");
  AddParsed(
      app, "--findings", args.findings,
      [](std::string_view text) -> Result<uint64_t> {
        RS_ASSIGN_OR_RETURN(const uint64_t count, ParseNumber(text, kMostFindings));
        if (count == 0) return UsageError("--findings must be at least 1");
        return count;
      },
      "N", "End after this many different findings (default: 10)");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, "DIR",
          "Folder for the smallest stream of each finding, and its unit test (default: the current "
          "folder)");
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

/// Makes a kind, a counter or a rule not count.
Status Ignore(const std::string& text, FuzzPlan& plan) {
  if (const auto kind = FromName<DifferenceKind>(text)) {
    plan.ignored.kinds[*kind] = true;
    return {};
  }
  const auto counter = std::ranges::find(kStatFields, text, &StatField::name);
  if (counter != kStatFields.end()) {
    plan.ignored.counters[static_cast<size_t>(counter - kStatFields.begin())] = true;
    return {};
  }
  const Result<const NamedRule*> rule = ParseV2Rule(text);
  if (!rule) {
    if (text.find(':') != std::string::npos) return tl::unexpected<Error>(rule.error());
    return Fail(ErrorCode::kUsage,
                fmt::format("--ignore: '{}' is not a rule, a kind or a counter", text), {},
                fmt::format("{}; kinds: {}; counters are those of 'ringscope stats'",
                            rule.error().hint, fmt::join(kEnumNames<DifferenceKind>, ", ")));
  }
  if (!Contains(RulesBetween(plan.sides), *rule))
    return Fail(ErrorCode::kUsage,
                fmt::format("--ignore {}: {} and {} do not differ in {}", text,
                            plan.sides.a.info.name, plan.sides.b.info.name, FullName(**rule)));
  plan.sides = Without(plan.sides, {*rule});
  return {};
}

Result<FuzzPlan> PlanOf(const FuzzArgs& args) {
  FuzzPlan plan = args.plan;
  const EngineLookup find = EnginesAndPlugins();
  for (const Side side : kSides) {
    RS_ASSIGN_OR_RETURN(const EngineInfo* const engine, find(args.engines[side]));
    plan.sides[side] = SideOf(*engine);
  }
  for (const std::string& text : args.ignored) RS_RETURN_IF_ERROR(Ignore(text, plan));
  for (size_t i = 0; args.plan.kinds.empty() && i < kEnumNames<StreamKind>.size(); ++i)
    plan.kinds.push_back(static_cast<StreamKind>(i));
  return plan;
}

namespace fs = std::filesystem;

/// Letters, digits and dashes, of bounded length.
std::string FileWord(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string word;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  word.resize(std::min(word.size(), kLongest));
  while (word.ends_with('-')) word.pop_back();
  return word;
}

/// The engine without its switched rules: those are no engines elsewhere.
std::string EngineName(const FuzzSide& side) {
  const std::string& full = side.info.name;
  return IsPluginPath(full) ? full : full.substr(0, full.find_first_of("+-"));
}

/// Returns true if a file begins with the note that each finding has.
bool IsFinding(Bytes start) {
  return wire::AsText(start).starts_with(R"({"op":"note","text":"'ringscope )");
}
constexpr OutputKind kFindingOutput = {"a finding", true, IsFinding};

/// Returns the finding as a difference of the plan's engines, if it is one.
std::optional<PerfettoCase> TestOf(const FuzzPlan& plan, const KnownFinding& finding) {
  const SmallestStream& smallest = finding.smallest;
  if (!smallest.is_of_plan_sides || smallest.finding.oracle != Oracle::kDifference)
    return std::nullopt;
  PerfettoCase test{.cause = finding.first.Cause(),
                    .what = smallest.finding.text,
                    .ops = smallest.ops,
                    .sides = {}};
  for (const Side side : kSides) {
    const FuzzSide& of = plan.sides[side];
    test.sides[side].engine =
        of.rules ? FindEngine(EngineName(of)).value_or(nullptr) : &of.info;  // no rule is switched
  }
  return test;
}

std::vector<std::string> FullNames(const std::vector<const NamedRule*>& rules) {
  std::vector<std::string> names;
  for (const NamedRule* const rule : rules) names.push_back(FullName(*rule));
  return names;
}

void ReportFinding(Report& report, const FuzzPlan& plan, const KnownFinding& finding,
                   size_t number) {
  const auto& [first, streams, seed, smallest, written_to, test_text] = finding;
  const uint64_t size = std::get<BufferSetUp>(smallest.ops.front().op().body).size;
  report.Heading(fmt::format("{}. {}", number, Printable(first.Cause())));
  const auto line = [&](const std::string& text) { report.Paragraph(text, "  "); };
  for (const NamedRule* const rule : first.rules) {
    const auto note = std::ranges::find(ReleaseNotes(), rule->rule, &ReleaseNote::rule);
    line(fmt::format("{}.", note != ReleaseNotes().end() ? note->title : rule->name));
  }
  line(Printable(smallest.finding.text));
  const char* const kind = Name(KindOfSeed(plan, seed));
  line(fmt::format("{} and a buffer of {} show it, from seed {} ({}); {} in all",
                   Count(finding.operations(), "operation"), HumanSize(size), seed, kind,
                   Count(streams, "stream")));
  if (!smallest.is_of_plan_sides)
    line(fmt::format("Only without the difference that {} makes.",
                     Joined(FullNames(first.left_out))));
  std::string example;
  if (const auto test = TestOf(plan, finding))
    example = ExampleLine(*test, [&, &smallest = smallest](const std::vector<StoredOp>& ops) {
      const auto found = CompareOver(plan.sides, plan.ignored, ops);
      return found && found->sort == smallest.finding.sort;
    });
  if (!example.empty()) report.Print(fmt::format("  {}\n", Printable(example)));
  line("wrote " + Printable(written_to));
  if (!test_text.empty()) line(Printable(test_text));
  report.Data({{"cause", first.Cause()},
               {"oracle", Name(first.oracle)},
               {"kind", first.kind ? Json(Name(*first.kind)) : Json()},
               {"what", smallest.finding.text},
               {"rules", FullNames(first.rules)},
               {"rules_left_out", FullNames(first.left_out)},
               {"shown_by_both_engines", smallest.is_of_plan_sides},
               {"streams", streams},
               {"operations", finding.operations()},
               {"buffer_size", size},
               {"example", example},
               {"file", written_to},
               {"seed", seed},
               {"mode", kind},
               {"operation", first.record}});
}

/// Writes each finding to the folder as .ops.jsonl, and notes its name. Files of others are not
/// replaced.
Status WriteFindings(const FuzzPlan& plan, const std::string& folder, FuzzResult& result,
                     Context& context) {
  for (KnownFinding& finding : result.findings) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kIo, error.message(), {folder, {}, {}});
    const std::string a = EngineName(plan.sides.a), b = EngineName(plan.sides.b);
    const FuzzFinding& shown = finding.smallest.finding;
    const std::string name =
        FileWord(fmt::format("{} {} {}", a, b, finding.first.Cause())) + ".ops.jsonl";
    const std::string note = fmt::format("'ringscope diff FILE --a {} --b {}' shows: {} ({})",
                                         ShellWord(a), ShellWord(b), shown.text, shown.Cause());
    finding.written_to = folder == "." ? name : (fs::path(folder) / name).string();
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                        CreateOutput(context, finding.written_to, kFindingOutput, /*force=*/false));
    RS_RETURN_IF_ERROR(file->Write(FormatLog(note, finding.smallest.ops)));
    RS_RETURN_IF_ERROR(file->Commit());
    if (const auto test = TestOf(plan, finding)) {
      RS_ASSIGN_OR_RETURN(finding.test_text,
                          WriteCase(*test, finding.written_to, /*force=*/false, context));
    }
  }
  return {};
}

Status ReportFuzz(const FuzzArgs& args, const FuzzPlan& plan, const FuzzResult& result,
                  Context& context) {
  Report report(context.console, args.format, "fuzz");
  const auto name = [&](Side side) { return Printable(plan.sides[side].info.name); };
  std::string scope =
      fmt::format("{} ({}", Count(result.streams, "stream"), Count(result.operations, "operation"));
  if (result.streams > 0)
    scope += fmt::format(", seeds {} to {}", args.seed, args.seed + result.streams - 1);
  scope += ")";
  report.Title(
      fmt::format("{} and {}", name(Side::kA), name(Side::kB)),
      result.findings.empty()
          ? fmt::format("no difference in {}", scope)
          : fmt::format("{} in {}{}; {} show{} at least one",
                        Count(result.findings.size(), "finding"), scope,
                        result.at_limit ? ", ended at --findings" : "",
                        Count(result.differing, "stream"), result.differing == 1 ? "s" : ""));
  report.Data({{"a", plan.sides.a.info.name},
               {"b", plan.sides.b.info.name},
               {"first_seed", args.seed},
               {"streams", result.streams},
               {"operations", result.operations},
               {"differing_streams", result.differing},
               {"ended_at_findings", result.at_limit},
               {"ignored", args.ignored},
               {"findings", Json::array()}});
  for (size_t i = 0; i < result.findings.size(); ++i)
    report.AddItem("findings", [&] { ReportFinding(report, plan, result.findings[i], i + 1); });
  return report.Finish();
}

Result<ExitCode> RunFuzz(const FuzzArgs& chosen, Context& context) {
  FuzzArgs args = chosen;
  if (!args.streams && !args.time_ns) args.streams = kDefaultStreams;
  std::error_code ignored;
  if (fs::exists(args.output, ignored) && !fs::is_directory(args.output, ignored))
    return Fail(ErrorCode::kUsage, "expected a folder, found a file", {args.output, {}, {}},
                "name a folder; it is made if it is not there");
  RS_ASSIGN_OR_RETURN(const FuzzPlan plan, PlanOf(args));
  FuzzResult result = RunStreams(plan, args, context);
  RS_RETURN_IF_ERROR(WriteFindings(plan, args.output, result, context));
  RS_RETURN_IF_ERROR(ReportFuzz(args, plan, result, context));
  return result.findings.empty() ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

FuzzResult RunStreams(const FuzzPlan& plan, const FuzzArgs& args, Context& context) {
#ifdef __GLIBC__
  // Buffers are made and dropped all the time: memory that was used once is kept.
  constexpr int kLarge = 1 << 28;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
#endif
  FuzzResult result;
  Console& console = context.console;
  const TaskRunner run_tasks = TasksOnCores(context);
  const auto start = SteadyClock::now();
  const auto in_time = [&] {
    return !args.time_ns || SteadyClock::now() - start < std::chrono::nanoseconds(*args.time_ns);
  };
  const auto seed_of = [&](uint64_t stream) { return static_cast<uint32_t>(args.seed + stream); };
  bool is_over = false;
  while (!is_over) {
    const uint64_t left = args.streams ? *args.streams - result.streams : kStreamsAtOnce;
    std::vector<std::optional<Findings>> found(std::min(left, kStreamsAtOnce));
    const uint64_t first = result.streams;
    run_tasks(found.size(), [&](size_t i) {
      if (!in_time()) return;
      NotePluginWork(fmt::format("the stream of seed {}", seed_of(first + i)));
      found[i] = FuzzSeed(plan, seed_of(first + i));
    });
    size_t taken = 0;
    for (; taken < found.size() && found[taken] && !result.at_limit; ++taken) {
      const uint32_t seed = seed_of(result.streams++);
      result.operations += OperationsOf(plan, seed);
      result.differing += found[taken]->empty() ? 0 : 1;
      for (FuzzFinding& finding : *found[taken])
        AddFinding(std::move(finding), seed, args.findings, result);
      result.at_limit = result.findings.size() >= args.findings;
    }
    is_over = taken < kStreamsAtOnce || result.at_limit;
    if (console.shows_progress())
      console.ShowProgressLine(
          fmt::format("fuzzing: {}{}, {}", Count(result.streams, "stream"),
                      args.streams ? fmt::format(" of {}", Count(*args.streams, "stream")) : "",
                      Count(result.findings.size(), "finding")));
  }
  for (KnownFinding& finding : result.findings) {
    const auto end = SteadyClock::now() + kMinimizingAFinding;
    finding.smallest = Smallest(plan, finding.first, StreamOfSeed(plan, finding.seed),
                                [end] { return SteadyClock::now() >= end; });
  }
  console.ShowProgressLine("");
  return result;
}

Command FuzzCommand() {
  return {"fuzz",
          "Find what two buffer versions do differently",
          "Puts random streams of commits, patches, reads and clones through two buffer versions, "
          "each a release or a plug-in, and compares all that they return: packets, their order "
          "and loss bits, results of patches, and counters. A buffer that fails, or whose check of "
          "itself fails, is a finding too. For each difference it looks for the rule of a release "
          "that explains it, continues without that, and writes the fewest operations that show "
          "it, for 'ringscope diff'. Each seed gives the same stream, and the same seeds the same "
          "findings, on any number of cores.",
          {{"ringscope fuzz --a v2@57 --b v2@58", "What did v58 change?"},
           {"ringscope fuzz --a v2@58 --b ./libmybuffer.so --time 10m",
            "Does my buffer behave as the released one?"},
           {"ringscope fuzz --a v2@57 --b v2@58 --ignore v2@58:relocates",
            "Does anything else differ?"}},
          Bind(SetUp, RunFuzz),
          {.clean = "No stream showed a difference.", .notice = "There are findings."}};
}

}  // namespace ringscope
