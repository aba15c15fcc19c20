#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "commands/bench/bench_run.h"
#include "commands/bench/workloads.h"
#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/view/report.h"

namespace ringscope {
namespace {

constexpr int kDefaultRounds = 7;

struct BenchArgs {
  std::vector<std::string> logs;
  std::vector<std::string> engines;
  std::shared_ptr<PluginRun> plugins = std::make_shared<PluginRun>();
  int rounds = kDefaultRounds;
  double check = 0;  // 0: nothing is checked
  std::string format;
};

Result<std::vector<std::string>> ParseEngines(std::string_view text) {
  std::vector<std::string> engines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    RS_RETURN_IF_ERROR(CheckEngineName(name));
    engines.emplace_back(name);
    begin = end + 1;
  }
  return engines;
}

Result<double> ParseRatio(std::string_view text) {
  double ratio = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  if (error != std::errc() || end != text.data() + text.size() || !(ratio >= 1 && ratio <= 1000))
    return UsageError("'{}' is not a ratio: expected a number from 1 to 1000, like 1.05", text);
  return ratio;
}

void SetUp(CLI::App& app, BenchArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "LOG", args.logs, kLogType,
           "Logs (.tblog, .ops.jsonl) with whose buffers to measure (default: standard workloads)");
  InGroup(app, "Engines");
  AddParsed(app, "--engines", args.engines, ParseEngines, "ENGINE,...",
            "Buffer versions and plug-ins to measure; the first is what the others are compared "
            "with (default: v1,v2)");
  AddNumber(app, "--rounds", args.rounds, {1, 1000}, "N",
            "Runs of each engine through each workload (default: 7)");
  AddPluginOptions(app, *args.plugins);
  InGroup(app, kOutputGroup);
  AddParsed(app, "--check", args.check, ParseRatio, "RATIO",
            "End with status 3 if an engine takes more than RATIO times the first one's CPU time, "
            "like 1.05");
  AddFormat(app, args.format, {"text", "json", "markdown"});
}

double PerOne(double ns, uint64_t count) {
  return count == 0 ? 0 : ns / static_cast<double>(count);
}

/// "12.3 ns": an average; empty of nothing.
Cell TimeCell(double ns, uint64_t count) {
  if (count == 0) return {"", Json()};
  return {fmt::format("{:.1f}", PerOne(ns, count)), PerOne(ns, count)};
}

/// GB per second.
Cell RateCell(uint64_t bytes, double ns) {
  if (bytes == 0 || ns <= 0) return {"", Json()};
  const double rate = static_cast<double>(bytes) / ns;
  return {fmt::format("{:.2f}", rate), rate};
}

Cell WorstCell(double ns) {
  if (ns <= 0) return {"", Json()};
  return {fmt::format("{:.1f}", ns / 1000), ns / 1000};
}

/// The median of the rounds' ratios to the first engine: what slows a round down slows both.
double RatioOf(const BenchResult& result, const BenchResult& first) {
  BenchResult ratios;
  for (size_t i = 0; i < result.rounds.size(); ++i)
    ratios.rounds.push_back({.commit_ns = result.rounds[i].all() / first.rounds[i].all()});
  return ratios.Median([](const BenchTimes& times) { return times.commit_ns; });
}

Cell InstructionsCell(const BenchResult& result) {
  const auto& counted = result.rounds.front().instructions;
  const BenchWork& work = result.work;
  const uint64_t operations = work.commits + work.patches + work.packets;
  if (!counted || operations == 0) return {"", Json()};
  const double each = PerOne(static_cast<double>(*counted), operations);
  return {fmt::format("{:.0f}", each), each};
}

void ReportWorkload(Report& report, const Workload& workload,
                    const std::vector<const EngineInfo*>& engines,
                    const std::vector<BenchResult>& results) {
  const BenchWork& work = results.front().work;
  report.Heading(Printable(workload.name));
  report.Paragraph(fmt::format("{}, {}, {} of {}, buffer of {}", Count(work.commits, "commit"),
                               Count(work.patches, "patch record"), Count(work.reads, "read"),
                               Count(work.packets, "packet"), HumanSize(workload.stream.size)),
                   2);
  report.Data({{"workload", workload.name},
               {"commits", work.commits},
               {"patches", work.patches},
               {"read_passes", work.reads},
               {"packets", work.packets},
               {"buffer_size", workload.stream.size}});
  const bool counted = results.front().rounds.front().instructions.has_value();
  std::vector<Column> columns = {{"", Align::kLeft, "engine"},
                                 {"ns/commit", Align::kRight, "ns_per_commit"},
                                 {"ns/patch", Align::kRight, "ns_per_patch"},
                                 {"ns/packet", Align::kRight, "ns_per_packet"},
                                 {"ratio", Align::kRight, "ratio"},
                                 {"spread", Align::kRight, "spread"},
                                 {"GB/s in", Align::kRight, "written_gb_per_s"},
                                 {"GB/s out", Align::kRight, "read_gb_per_s"},
                                 {"worst commit us", Align::kRight, "worst_commit_us"},
                                 {"worst read us", Align::kRight, "worst_read_us"},
                                 {"heap", Align::kRight, "heap_bytes"}};
  if (counted) columns.push_back({"instructions", Align::kRight, "instructions_per_operation"});
  Table table(std::move(columns));
  for (size_t i = 0; i < engines.size(); ++i) {
    const BenchResult& result = results[i];
    const double commit = result.Median([](const BenchTimes& t) { return t.commit_ns; });
    const double patch = result.Median([](const BenchTimes& t) { return t.patch_ns; });
    const double read = result.Median([](const BenchTimes& t) { return t.read_ns; });
    const double ratio = RatioOf(result, results.front());
    std::vector<Cell> row = {NameCell(engines[i]->name),
                             TimeCell(commit, result.work.commits),
                             TimeCell(patch, result.work.patches),
                             TimeCell(read, result.work.packets),
                             Cell(fmt::format("{:.3f}", ratio), ratio),
                             Cell(fmt::format("{:.1f}%", result.Spread() * 100), result.Spread()),
                             RateCell(result.work.committed_bytes, commit),
                             RateCell(result.work.packet_bytes, read),
                             WorstCell(result.worst_commit_ns),
                             WorstCell(result.worst_read_ns),
                             BytesCell(result.heap_bytes)};
    if (counted) row.push_back(InstructionsCell(result));
    table.AddRow(std::move(row));
  }
  report.Add("engines", table, 2);
}

Result<ExitCode> RunBenchCommand(const BenchArgs& args, Context& context) {
  // What is measured is the buffer, not the way to its process.
  const EngineLookup find =
      EnginesAndPlugins(std::make_shared<const PluginRun>(PluginRun{.in_process = true}));
  const EngineLookup find_apart = EnginesAndPlugins(args.plugins);
  std::vector<const EngineInfo*> engines, tried;
  const std::vector<std::string> names =
      args.engines.empty() ? std::vector<std::string>{"v1", "v2"} : args.engines;
  for (const std::string& name : names) {
    if (IsPluginPath(name) && !args.plugins->in_process) {
      RS_ASSIGN_OR_RETURN(tried.emplace_back(), find_apart(name));
    }
    RS_ASSIGN_OR_RETURN(const EngineInfo* const engine, find(name));
    engines.push_back(engine);
  }
  std::vector<Workload> workloads;
  if (args.logs.empty()) {
    workloads = StandardWorkloads();
  } else {
    RS_ASSIGN_OR_RETURN(workloads, LogWorkloads(args.logs, context));
  }
  Report report(context.console, args.format, "bench");
  report.Data("rounds", args.rounds);
  report.Title("CPU time", fmt::format("median of {}; ratio to {}; spread of the rounds",
                                       Count(static_cast<uint64_t>(args.rounds), "round"),
                                       Printable(engines.front()->name)));
  std::vector<std::string> slower;
  for (const Workload& workload : workloads) {
    if (context.console.shows_progress())
      context.console.ShowProgressLine("measuring " + workload.name);
    for (const EngineInfo* engine : tried) RS_RETURN_IF_ERROR(TryWorkload(workload, *engine));
    RS_ASSIGN_OR_RETURN(const std::vector<BenchResult> results,
                        RunBench(workload, engines, args.rounds));
    context.console.ShowProgressLine("");
    report.AddItem("workloads", [&] { ReportWorkload(report, workload, engines, results); });
    for (size_t i = 1; i < engines.size(); ++i) {
      const double ratio = RatioOf(results[i], results.front());
      if (args.check > 0 && ratio > args.check)
        slower.push_back(fmt::format("{} takes {:.3f} times as long ({})", engines[i]->name, ratio,
                                     workload.name));
    }
  }
  if (args.check > 0) {
    report.Data("check", args.check);
    report.Data("slower", slower);
    report.Heading(slower.empty()
                       ? fmt::format("No engine takes more than {} times as long", args.check)
                       : fmt::format("Slower than {} times:", args.check));
    for (const std::string& text : slower) report.Paragraph(Printable(text), 2);
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return slower.empty() ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

Command BenchCommand() {
  return {
      "bench",
      "Replay",
      "Measure how fast buffer versions are",
      "Puts the operations of logs, or standard workloads, through buffer versions and "
      "plug-ins in turn, and reports the CPU time of a commit, a patch and a packet read, "
      "bytes per second, the slowest commit and read pass, memory, instructions where the "
      "system lets them be counted, and the ratio to the first engine. The releases are "
      "ringscope's reimplementations: their times are not those of Perfetto's code. A plug-in is "
      "first tried on each workload in a process of its own, and then measured as part of "
      "ringscope, like the releases, so that communication with its process is not measured.",
      {{"ringscope bench --engines v2@58,./libmybuffer.so",
        "How fast is my buffer, on standard workloads?"},
       {"ringscope bench session.tblog --engines ./old.so,./new.so --check 1.05",
        "Did it become slower, on a real session?"}},
      Bind(SetUp, RunBenchCommand),
      {.clean = "Done; with --check: no engine is slower.",
       .notice = "With --check: an engine is slower; or the input was damaged and what could "
                 "be read was used."}};
}

}  // namespace ringscope
