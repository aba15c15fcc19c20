#include <fmt/format.h>

#include "commands/replay/replay.h"
#include "commands/session/examined.h"
#include "commands/session/loss_view.h"
#include "commands/session/session_loop.h"
#include "commands/shell/commands.h"
#include "core/perfetto/trace_stats.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope {
namespace {

/// @param text a counter of BufferStats, with or without the prefix of trace processor's table
Result<const StatField*> ParseCounter(std::string_view text) {
  std::string_view name = text;
  if (constexpr std::string_view kPrefix = "traced_buf_"; name.starts_with(kPrefix))
    name.remove_prefix(kPrefix.size());
  std::vector<std::string> names;
  for (const StatField& field : kStatFields) {
    if (field.name == name) return &field;
    names.push_back(field.name);
  }
  return Fail(
      ErrorCode::kUsage, fmt::format("no buffer has a counter '{}'", text), {},
      fmt::format("use one of {}; 'ringscope gaps --all' has the places of losses", Joined(names)));
}

struct StatsArgs {
  SessionSelection input;
  ReplayChoices choices;
  bool data_loss = false;              // only what is a loss, by trace processor's definitions
  const StatField* explain = nullptr;  // only what made this one rise
  Format format = Format::kText;

  bool is_about_replays() const { return ChoosesAnything(choices) || explain != nullptr; }
};

void SetUp(CLI::App& app, StatsArgs& args) {
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddFlag(app, "--data-loss", args.data_loss,
          "Print only counters that are not zero and that trace processor counts as a data loss");
  AddParsed(app, "--explain", args.explain, ParseCounter, "COUNTER",
            "List the commits, patches and reads at which a counter of the buffers rose");
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
                      ExamineInputs(context, args.input.paths, {}, args.input.only,
                                    /*keeps_evidence=*/true));
  if (!inputs.passed_over.empty()) context.console.Say(PassedOverText(inputs.passed_over));
  constexpr const char* kColumns = "input session name idx severity value";
  if (args.format == Format::kCsv) report.Print(CsvTitles(kColumns));
  Json traces = Json::array();
  for (const Examination& examination : inputs.examinations) {
    if (!examination.trace) {
      const std::string error = examination.error.value_or("a trace config has no counters");
      context.console.Warn(fmt::format("{}: {}", Printable(examination.subject.file), error));
      traces.push_back({{"input", examination.subject.file}, {"error", error}});
      continue;
    }
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

/// Lists what made a counter of the buffers rise, by its value before and after each commit, patch
/// and packet.
class CounterRises : public ReplayListener {
 public:
  struct Rise {
    LogMoment at;
    BufferId buffer{};
    const char* by = "";  // "commit", "patch", "read"
    /// Committed, patched, or with the beginning of the packet that is read.
    std::optional<ChunkName> chunk;
    uint64_t count = 0;
  };
  static constexpr size_t kMostListed = 10'000;

  explicit CounterRises(const StatField& field) : field_(field) {}

  /// The first kMostListed.
  const std::vector<Rise>& rises() const { return rises_; }
  uint64_t left_out() const { return left_out_; }

  void OnRecord(const Op&, const LogMoment& moment) override { at_ = moment; }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    buffers_[buffer.id] = {&buffer, buffer.stats().*field_.value};
  }
  void OnBufferReplaced(SessionBuffer& buffer) override { buffers_.erase(buffer.id); }
  void OnChunkDone(BufferId id, const ChunkCommit& commit) override {
    Compare(id, "commit", ChunkName{commit.sequence, commit.chunk});
  }
  bool WantsBufferEvents() const override { return true; }
  void OnBufferEvent(const BufferEvent& event) override { touched_ = event.chunk; }
  void OnPatch(BufferId id, bool) override { Compare(id, "patch", touched_); }
  Status OnPacket(const SessionPacket& packet) override {
    Compare(packet.buffer, "read",
            ChunkName{packet.packet->sequence, packet.packet->place.first_chunk});
    return {};
  }
  void OnReadDone(BufferId id, uint64_t) override { Compare(id, "read", {}); }

 private:
  struct Buffer {
    const SessionBuffer* buffer = nullptr;
    uint64_t value = 0;
  };

  void Compare(BufferId id, const char* by, std::optional<ChunkName> chunk) {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) return;
    const uint64_t value = found->second.buffer->stats().*field_.value;
    const uint64_t before = std::exchange(found->second.value, value);
    if (value <= before) return;
    if (rises_.size() == kMostListed)
      ++left_out_;
    else
      rises_.push_back({at_, id, by, chunk, value - before});
  }

  const StatField& field_;
  LogMoment at_;
  std::optional<ChunkName> touched_;  // by the last event of a buffer
  std::map<BufferId, Buffer> buffers_;
  std::vector<Rise> rises_;
  uint64_t left_out_ = 0;
};

/// Returns what made a counter rise.
Table RowsOf(const CounterRises& rises, const ReplayOutcome& outcome) {
  Table table({{"record", Align::kRight, "record"},
               {"time", Align::kRight, "time_ns"},
               {"buffer", Align::kLeft, "buffer"},
               {"by", Align::kLeft, "by"},
               {"chunk", Align::kLeft},
               DataColumn("sequence"),
               DataColumn("chunk"),
               {"count", Align::kRight, "count"}});
  const uint64_t start = outcome.first_time_ns.value_or(0);
  for (const CounterRises::Rise& rise : rises.rises()) {
    const std::string time =
        rise.at.time_ns ? HumanDuration(*rise.at.time_ns - std::min(start, *rise.at.time_ns)) : "-";
    table.AddRow({{rise.at.record ? std::to_string(*rise.at.record) : "-", rise.at.record},
                  {time, rise.at.time_ns},
                  {outcome.NameOf(rise.buffer), Raw(rise.buffer)},
                  NameCell(rise.by),
                  rise.chunk ? ToString(*rise.chunk) : "",
                  DataCell(rise.chunk ? Json(ToString(rise.chunk->sequence)) : Json()),
                  DataCell(rise.chunk ? Json(Raw(rise.chunk->chunk)) : Json()),
                  CountCell(rise.count)});
  }
  return table;
}

/// Returns true if a counter is more than patches and re-commits that lose nothing.
bool AnyLoss(const StatRows& losses, const ReplayOutcome& outcome, const GapReport& gaps) {
  return !LossCountsOf(outcome, gaps).empty() ||
         std::ranges::any_of(losses, [](const StatRow& row) {
           return row.name != "traced_buf_patches_failed" &&
                  row.name != "traced_buf_abi_violations";
         });
}

Result<ExitCode> RunStats(const StatsArgs& args, SessionReader& sessions, Context& context) {
  Report report(context.console, args.format, "stats");
  const bool is_csv = args.format == Format::kCsv;
  const char* const columns = args.explain != nullptr
                                  ? "session record time_ns buffer by sequence chunk count"
                                  : "session name idx severity value reads";
  if (is_csv) report.Print(CsvTitles(columns));
  const auto task = [&]() -> Result<ExitCode> {
    ReplayRun run(context, sessions, args.choices);
    GapAnalysis* const analysis = args.data_loss ? &run.Add<GapAnalysis>() : nullptr;
    CounterRises* const rises =
        args.explain != nullptr ? &run.Add<CounterRises>(*args.explain) : nullptr;
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    StatRows counters = TraceProcessorStats(outcome);
    if (args.data_loss)
      std::erase_if(counters,
                    [](const StatRow& row) { return !row.is_data_loss() || row.value == 0; });
    const ExitCode code =
        analysis != nullptr && AnyLoss(counters, outcome, analysis->Finish(run.totals()))
            ? ExitCode::kNotice
            : ExitCode::kClean;
    const Table rows = rises != nullptr
                           ? RowsOf(*rises, outcome)
                           : RowsOf(counters, false, [](const StatRow&) { return true; });
    if (is_csv) {
      for (Json& row : rows.ToJson()) {
        row.update(Json{{"session", outcome.session}, {"reads", ReadsName(outcome.reads)}});
        report.Print(CsvRow(columns, row));
      }
      return code;
    }
    ReportReplayTitle(report, outcome);
    report.Data({{"input", outcome.path},
                 {"session", outcome.session},
                 {"reads", FieldsToJson(outcome.reads)}});
    AddInexact(report, outcome.verdicts);
    if (rises != nullptr) {
      report.Data("counter", args.explain->name);
      report.Data("counts", rows.ToJson());
      report.Data("left_out", rises->left_out());
      if (rows.empty())
        report.Print(fmt::format("No commit, patch or read raised {}.\n", args.explain->name));
      if (!rows.empty()) report.Section(args.explain->name, rows);
      if (rises->left_out() > 0)
        report.Print(fmt::format("{} more are not listed.\n", WithCommas(rises->left_out())));
      return code;
    }
    if (args.data_loss) {
      report.Data("data_loss", rows.ToJson());
      report.Section("", rows);
      if (rows.empty())
        report.Print(
            "No counter shows a data loss. 'ringscope gaps' finds losses that none counts.\n");
      ReportNotCounted(report, outcome);
    } else {
      ReportStats(report, outcome);
    }
    ReportClones(report, outcome);
    return code;
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
      "the trace config, from 0. With --explain: what made a counter of the buffers rise.",
      {{"ringscope stats session.tblog", "All counters, buffers side by side"},
       {"ringscope stats trace.pftrace", "The counters that trace processor has of this trace"},
       {"ringscope stats --data-loss session.tblog", "Did this session lose anything, and why?"},
       {"ringscope stats --data-loss --size 64MiB session.tblog",
        "Would a larger buffer have helped?"}},
      BindSessions({.traces = Traces::kExamined}, SetUp, RunStats, RunTraceStats),
      {.notice = "Done, and --data-loss found a loss; or the input was damaged and "
                 "what could be read was used."}};
}

}  // namespace ringscope
