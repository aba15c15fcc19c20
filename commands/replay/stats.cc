#include <fmt/format.h>

#include "commands/replay/replay.h"
#include "commands/session/examined.h"
#include "commands/session/loss_view.h"
#include "commands/session/session_loop.h"
#include "commands/shell/commands.h"

namespace ringscope {
namespace {

/// A counter whose counts are listed: of sequence_packet_loss perhaps only those with a loss bit.
struct ExplainedCounter {
  LossCounter counter{};
  uint32_t bit = 0;
  std::string name;
};

Result<ExplainedCounter> ParseExplained(std::string_view text) {
  std::string_view name = text;
  for (const std::string_view prefix : {"traced_", "buf_"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (const auto counter = FromName<LossCounter>(name))
    return ExplainedCounter{*counter, 0, std::string(name)};
  constexpr std::string_view kBit = "data_loss_";
  for (const LossBitName& entry : kLossBitNames)
    if (name.starts_with(kBit) && name.substr(kBit.size()) == entry.name)
      return ExplainedCounter{LossCounter::kLossFlags, entry.bit, std::string(name)};
  std::string names;
  for (const char* one : kEnumNames<LossCounter>) names += fmt::format("{}, ", one);
  return Fail(ErrorCode::kUsage, fmt::format("there is no counter of losses '{}'", text), {},
              fmt::format("use one of {}or data_loss_ and the name of a loss bit", names));
}

struct StatsArgs {
  SessionSelection input;
  ReplayChoices choices;
  bool data_loss = false;                   // only what is a loss, by trace processor's definitions
  std::optional<ExplainedCounter> explain;  // only what made this one count
  Format format = Format::kText;

  bool is_about_replays() const { return ChoosesAnything(choices) || explain; }
};

void SetUp(CLI::App& app, StatsArgs& args) {
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddFlag(app, "--data-loss", args.data_loss,
          "Print only counters that are not zero and that trace processor counts as a data loss");
  AddParsed(app, "--explain", args.explain, ParseExplained, "COUNTER",
            "List what made a data-loss counter count: record, chunk and reason. COUNTER is a name "
            "that --data-loss prints, with or without 'traced_buf_'");
  Exclude(app, "--explain", {"--data-loss"});
  AddFormat(app, args.format, {Format::kText, Format::kJson, Format::kCsv});
}

/// Rows of trace processor's table.
/// @param shows returns true for those to show
template <typename Shows>
Table RowsOf(const StatRows& rows, bool with_severity, Shows shows) {
  Table table(
      {{"name", Align::kLeft, "name"},
       {"idx", Align::kRight, "idx"},
       with_severity ? Column{"severity", Align::kLeft, "severity"} : DataColumn("severity"),
       {"value", Align::kRight, "value"},
       with_severity ? DataColumn("meaning") : Column{"meaning", Align::kLeft, "meaning"}});
  for (const StatRow& row : rows) {
    if (!shows(row)) continue;
    table.AddRow({NameCell(row.name), row.index ? NumberCell(*row.index) : Cell(""),
                  NameCell(Name(row.severity)), CountCell(row.value), NameCell(row.meaning)});
  }
  return table;
}

/// The counters of traces, as trace processor has them; those that are 0 only for programs.
Result<ExitCode> RunTraceStats(const StatsArgs& args, Context& context) {
  Report report(context.console, args.format, "stats");
  RS_ASSIGN_OR_RETURN(const ExaminedInputs inputs,
                      ExamineInputs(context, args.input.paths, {}, args.input.only));
  if (!inputs.passed_over.empty()) context.console.Say(PassedOverText(inputs.passed_over));
  constexpr const char* kColumns = "input session name idx severity value";
  if (args.format == Format::kCsv) report.Print(CsvTitles(kColumns));
  Json traces = Json::array();
  for (const Examination& examination : inputs.examinations) {
    if (!examination.trace) return Fail(ErrorCode::kCorrupt, *examination.error);
    const TraceFacts& trace = *examination.trace;
    const StatRows all = StatRowsOf(trace);
    uint64_t zeros = 0;
    const Table rows = RowsOf(all, !args.data_loss, [&](const StatRow& row) {
      if (args.data_loss) return row.is_data_loss() && row.value > 0;
      zeros += row.value == 0 ? 1 : 0;
      return row.value > 0 || !report.is_text();
    });
    Json one = {{"input", examination.subject.file}, {"session", trace.session}};
    if (args.format == Format::kCsv)
      for (Json& row : rows.ToJson()) {
        row.update(one);
        report.Print(CsvRow(kColumns, row));
      }
    one["counters"] = rows.ToJson();
    traces.push_back(std::move(one));
    report.Section(Printable(examination.subject.file), rows);
    if (rows.empty() && args.data_loss) report.Print("No counter shows a data loss.\n");
    if (zeros > 0) report.Print(fmt::format("{} more counters are 0.\n", zeros));
  }
  report.Data("traces", std::move(traces));
  RS_RETURN_IF_ERROR(report.Finish());
  return CodeOf(inputs.examinations);
}

/// Returns the events that made one counter count.
Table RowsOf(const CounterTrace& trace, const ExplainedCounter& explained,
             const ReplayOutcome& outcome) {
  Table table({{"record", Align::kRight, "record"},
               {"time", Align::kRight, "time_ns"},
               {"buffer", Align::kRight, "buffer"},
               {"chunk", Align::kLeft},
               DataColumn("sequence"),
               DataColumn("chunk"),
               {"count", Align::kRight, "count"},
               DataColumn("reason"),
               {"why", Align::kLeft, "text"}});
  for (const CounterRise& rise : trace.rises()) {
    if (rise.counter != explained.counter) continue;
    if (explained.bit != 0 && (rise.loss_bits & explained.bit) == 0) continue;
    const uint64_t start = outcome.first_time_ns.value_or(0);
    const std::string time =
        rise.at.time_ns ? HumanDuration(*rise.at.time_ns - std::min(start, *rise.at.time_ns)) : "-";
    table.AddRow({{rise.at.record ? std::to_string(*rise.at.record) : "-", rise.at.record},
                  {time, rise.at.time_ns},
                  {rise.buffer ? std::to_string(Raw(*rise.buffer)) : "-",
                   rise.buffer ? Json(Raw(*rise.buffer)) : Json()},
                  WhoText(rise),
                  DataCell(rise.sequence ? Json(ToString(*rise.sequence)) : Json()),
                  DataCell(rise.chunk ? Json(Raw(*rise.chunk)) : Json()),
                  CountCell(rise.amount),
                  DataCell(Name(rise.reason)),
                  NameCell(ReasonText(rise))});
  }
  return table;
}

/// Reports what a buffer discarded or overwrote unread, which is not among trace processor's
/// losses.
void ReportNotCounted(Report& report, const ReplayOutcome& outcome) {
  uint64_t overwritten = 0, discarded = 0;
  for (const BufferOutcome& buffer : outcome.buffers) {
    overwritten += buffer.stats.chunks_overwritten;
    discarded += buffer.stats.chunks_discarded;
  }
  report.Data("not_counted",
              {{"chunks_overwritten", overwritten}, {"chunks_discarded", discarded}});
  if (overwritten + discarded == 0) return;
  report.Paragraph(
      fmt::format("\nNot counted as losses here: {} overwritten before they were read, and {} "
                  "discarded. 'ringscope gaps' counts their packets.",
                  Count(overwritten, "chunk"), WithCommas(discarded)));
}

/// Returns true if all that was counted are re-commits of chunks that were there.
bool OnlyHarmless(const CounterTrace& trace, const ReplayOutcome& outcome) {
  uint64_t harmless = 0, counted = outcome.service.chunks_discarded;
  for (const CounterRise& rise : trace.rises())
    if (rise.is_harmless()) harmless += rise.amount;
  for (const uint64_t count : trace.counts()) counted += count;
  return harmless > 0 && counted == 0;
}

Result<ExitCode> RunStats(const StatsArgs& args, SessionReader& sessions, Context& context) {
  Report report(context.console, args.format, "stats");
  const bool is_csv = args.format == Format::kCsv;
  const char* const columns = args.explain
                                  ? "session record time_ns buffer sequence chunk count reason text"
                                  : "session name idx severity value reads";
  if (is_csv) report.Print(CsvTitles(columns));
  const auto task = [&]() -> Result<ExitCode> {
    ReplayRun run(context, sessions, args.choices);
    const bool finds = args.explain || args.data_loss;
    GapAnalysis* const analysis = finds ? &run.Add<GapAnalysis>(nullptr, SIZE_MAX) : nullptr;
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    if (finds) analysis->Finish(run.totals());
    const Table rows = args.explain
                           ? RowsOf(analysis->counters(), *args.explain, outcome)
                           : RowsOf(TraceProcessorStats(outcome), false, [&](const auto& row) {
                               return !args.data_loss || (row.is_data_loss() && row.value > 0);
                             });
    bool any = finds && !rows.empty();
    if (any && OnlyHarmless(analysis->counters(), outcome)) any = false;
    if (is_csv) {
      for (Json& row : rows.ToJson()) {
        row.update(Json{{"session", outcome.session}, {"reads", ReadsName(outcome.reads)}});
        report.Print(CsvRow(columns, row));
      }
      return any ? ExitCode::kNotice : ExitCode::kClean;
    }
    ReportReplayTitle(report, outcome);
    report.Data({{"input", outcome.path}, {"session", outcome.session}});
    if (args.explain)
      report.Data("counter", args.explain->name);
    else
      report.Data("reads", FieldsToJson(outcome.reads));
    AddInexact(report, outcome.verdicts);
    if (args.explain) {
      report.Data("counts", rows.ToJson());
      report.Section(args.explain->name, rows);
      if (rows.empty()) report.Print(fmt::format("{} is 0.\n", args.explain->name));
    } else if (args.data_loss) {
      report.Data("data_loss", rows.ToJson());
      report.Section("", rows);
      if (rows.empty())
        report.Print(
            "No counter shows a data loss. 'ringscope gaps' finds losses that none counts.\n");
      ReportNotCounted(report, outcome);
    } else {
      ReportStats(report, outcome);
    }
    if (!args.explain) ReportClones(report, outcome);
    return any ? ExitCode::kNotice : ExitCode::kClean;
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, report, task));
  RS_RETURN_IF_ERROR(report.Finish());
  return code;
}

}  // namespace

Command StatsCommand() {
  return {
      "stats",
      "Print all counters of a log or a trace, or only the losses",
      "Of a trace: the rows of trace processor's stats table that can be counted without importing "
      "the trace, and that are not 0; JSON and CSV have the zeros, too. Of a log: replays like "
      "'ringscope replay' and prints the counters of the buffers and the service. "
      "With --data-loss: only those that trace processor's stats table counts as a data "
      "loss, with its names and what each means; buffers are then numbered by their position in "
      "the trace config, from 0. With --explain: the record, the chunk and the reason of each "
      "count of one counter.",
      {{"ringscope stats session.tblog", "All counters, buffers side by side"},
       {"ringscope stats trace.pftrace", "The counters that trace processor has of this trace"},
       {"ringscope stats --data-loss session.tblog", "Did this session lose anything, and why?"},
       {"ringscope stats --explain abi_violations session.tblog",
        "Which records made this counter count?"},
       {"ringscope stats --data-loss --size 64MiB session.tblog",
        "Would a larger buffer have helped?"}},
      BindSessions({.traces = Traces::kExamined}, SetUp, RunStats, RunTraceStats),
      {.notice = "Done, and --data-loss or --explain found a loss; or the input was damaged and "
                 "what could be read was used."}};
}

}  // namespace ringscope
