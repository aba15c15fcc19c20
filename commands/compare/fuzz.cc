#include "commands/compare/fuzz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/values.h"

namespace ringscope {
namespace {

constexpr uint64_t kDefaultStreams = 10'000;
constexpr uint64_t kMostStreams = uint64_t{1} << 32;
constexpr uint64_t kMostFindings = 1000;

const char* const kIgnoredType = "RULE|KIND|COUNTER";

Result<StreamKind> ParseStreamKind(std::string_view text) {
  if (const auto kind = FromName<StreamKind>(text)) return *kind;
  return Fail(ErrorCode::kUsage, fmt::format("there is no mode '{}'", text), {},
              fmt::format("choose {}", fmt::join(kEnumNames<StreamKind>, ", ")));
}

void SetUp(CLI::App& app, FuzzArgs& args) {
  InGroup(app, "Engines");
  const auto take_engine = [](std::string& engine) {
    return [&engine](const std::string& text) -> Status {
      engine = text;
      return CheckEngineName(text);
    };
  };
  AddTaken(app, "--a", take_engine(args.engines.a), "ENGINE",
           "Side A: a buffer version (see 'ringscope engines'), or a plug-in's path",
           Need::kRequired);
  AddTaken(app, "--b", take_engine(args.engines.b), "ENGINE", "Side B", Need::kRequired);
  AddParsedList(
      app, "--ignore", args.ignored,
      [](std::string_view text) -> Result<std::string> { return std::string(text); }, kIgnoredType,
      "Kinds of findings that do not count: the difference that a rule of a release makes, like "
      "v2@58:relocates; a kind of difference, like loss_bits; a counter, like chunks_read. May be "
      "repeated");
  InGroup(app, "Streams");
  AddParsedList(app, "--mode", args.kinds, ParseStreamKind, "MODE",
                "Which streams: correct, hostile, clones, forgetting, wrap_ids, read_limits "
                "(default: all). May be repeated");
  AddParsed(
      app, "--seed", args.seed, [](std::string_view text) { return ParseNumber(text, UINT32_MAX); },
      "N", "Seed of the first stream; the next has the next number (default: 0)");
  AddParsed(
      app, "--count", args.streams,
      [](std::string_view text) { return ParseNumber(text, kMostStreams); }, "N",
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
  AddFlag(app, "--losses", args.checks_losses,
          "Put each stream through the accounts of gaps, and where the writers keep the rules "
          "check the losses of both sides: a packet that is lost though all of it was in the "
          "buffer, a loss without a loss flag, and a loss flag without a loss are findings, in "
          "released buffers, too");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, "DIR",
          "Folder for the smallest stream of each finding (default: the current folder)");
  AddFormat(app, args.format, {"text", "json"});
}

/// Makes a kind, a counter or a rule not count.
Status Ignore(const std::string& text, FuzzPlan& plan) {
  if (const auto kind = FromName<DifferenceKind>(text)) {
    plan.ignored.kinds[static_cast<size_t>(*kind)] = true;
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
  const auto between = RulesBetween(plan.sides);
  if (std::ranges::count(between, *rule) == 0) {
    return Fail(ErrorCode::kUsage,
                fmt::format("--ignore {}: {} and {} do not differ in {}", text,
                            plan.sides.a.info.name, plan.sides.b.info.name, FullName(**rule)));
  }
  plan.sides = Without(plan.sides, {*rule});
  return {};
}

Result<FuzzPlan> PlanOf(const FuzzArgs& args) {
  FuzzPlan plan;
  const EngineLookup find = EnginesAndPlugins();
  for (const Side side : kSides) {
    RS_ASSIGN_OR_RETURN(const EngineInfo* const engine, find(args.engines[side]));
    plan.sides[side] = SideOf(*engine);
  }
  for (const std::string& text : args.ignored) RS_RETURN_IF_ERROR(Ignore(text, plan));
  plan.checks_losses = args.checks_losses;
  plan.kinds = args.kinds;
  for (size_t i = 0; args.kinds.empty() && i < kEnumNames<StreamKind>.size(); ++i)
    plan.kinds.push_back(static_cast<StreamKind>(i));
  return plan;
}

Result<ExitCode> RunFuzz(const FuzzArgs& chosen, Context& context) {
  FuzzArgs args = chosen;
  if (!args.streams && !args.time_ns) args.streams = kDefaultStreams;
  std::error_code ignored;
  if (std::filesystem::exists(args.output, ignored) &&
      !std::filesystem::is_directory(args.output, ignored))
    return Fail(ErrorCode::kUsage, "expected a folder, found a file", {args.output, {}, {}},
                "name a folder; it is made if it is not there");
  RS_ASSIGN_OR_RETURN(const FuzzPlan plan, PlanOf(args));
  FuzzResult result = RunStreams(plan, args, context);
  RS_RETURN_IF_ERROR(WriteFindings(plan, args.output, result, context));
  RS_RETURN_IF_ERROR(ReportFuzz(args, plan, result, context));
  return result.findings.empty() ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

Command FuzzCommand() {
  return {"fuzz",
          "Replay",
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
            "Does anything else differ?"},
           {"ringscope fuzz --a ./mine.so --b ./mine.so --losses",
            "Does my buffer lose what no buffer should?"}},
          Bind(SetUp, RunFuzz),
          {.clean = "No stream showed a difference.", .notice = "There are findings."}};
}

}  // namespace ringscope
