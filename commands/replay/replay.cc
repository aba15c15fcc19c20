#include "commands/session/examined.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "formats/ops/events_jsonl.h"

namespace ringscope {
namespace {

using Buffer = const BufferOutcome&;
using Value = std::function<uint64_t(Buffer)>;
enum class As : uint8_t { kCount, kBytes, kFlag };
enum class Shown : uint8_t { kAlways, kIfAny, kNever };  // as text

/// A fact about each buffer of a replay, stated once: as text a row with a column for each buffer,
/// in the document a member of each buffer's object.
struct BufferRow {
  std::string group, title;
  std::string key;  // like "written.chunks"; empty: only in text
  Value value;
  Shown shown = Shown::kAlways;
  As as = As::kCount;
  Value whole = {};  // of which the text has the share
};
using BufferRows = std::vector<BufferRow>;

Cell CellOf(const BufferRow& row, Buffer buffer) {
  const uint64_t value = row.value(buffer);
  if (row.as == As::kFlag) return DataCell(value != 0);
  Cell cell = row.as == As::kBytes ? BytesCell(value) : CountCell(value);
  if (row.whole && value > 0) cell.text += fmt::format(" ({})", Percent(value, row.whole(buffer)));
  return cell;
}

Value Stat(uint64_t BufferStats::*field) {
  return [field](Buffer buffer) { return buffer.stats.*field; };
}
Value OfPrograms(uint64_t VmRuns::*field) {
  return [field](Buffer buffer) { return buffer.programs().*field; };
}

/// Adds the array "buffers"; as text a few buffers at a time so that lines stay short.
void ReportBuffers(Report& report, const ReplayOutcome& outcome, const BufferRows& rows) {
  Json objects = Json::array();
  for (Buffer buffer : outcome.buffers) {
    Json object = JsonOf("buffer", buffer.id, "index", buffer.index, "engine", buffer.engine,
                         "size", buffer.size, "policy", buffer.policy);
    for (const BufferRow& row : rows)
      if (!row.key.empty()) object[KeyPath(row.key)] = CellOf(row, buffer).value;
    objects.push_back(std::move(object));
  }
  report.Data("buffers", std::move(objects));
  const auto is_shown = [&](const BufferRow& row) {
    if (row.shown != Shown::kIfAny) return row.shown == Shown::kAlways;
    return std::ranges::any_of(outcome.buffers, [&](Buffer b) { return row.value(b) > 0; });
  };
  constexpr size_t kBuffersPerTable = 5;
  for (size_t first = 0; first < outcome.buffers.size(); first += kBuffersPerTable) {
    const std::span<const BufferOutcome> buffers =
        std::span(outcome.buffers)
            .subspan(first, std::min(kBuffersPerTable, outcome.buffers.size() - first));
    std::vector<Column> columns = {{""}, {""}};
    for (Buffer buffer : buffers)
      columns.push_back({fmt::format("buffers[{}]", buffer.index), Align::kRight});
    Table table(std::move(columns));
    const auto add = [&](const std::string& group, const std::string& title, const auto& cell_of) {
      std::vector<Cell> cells = {group, title};
      for (Buffer buffer : buffers) cells.push_back(cell_of(buffer));
      table.AddRow(std::move(cells));
    };
    // A plug-in is named by its file alone.
    add("engine", "", [](Buffer b) { return Printable(b.engine.substr(b.engine.rfind('/') + 1)); });
    add("size", "", [](Buffer b) { return BytesCell(b.size); });
    add("policy", "",
        [](Buffer b) { return Name(b.policy) + std::string(b.freed ? ", freed" : ""); });
    for (const BufferRow& row : rows)
      if (is_shown(row)) add(row.group, row.title, [&](Buffer b) { return CellOf(row, b); });
    report.Section("", table);
  }
}

/// Adds rows of the losses that a buffer's packets report, with one for each loss bit.
/// @param key of the sum, and `bits` before those of the loss bits: "data_loss."
void AddLossRows(BufferRows& rows, const std::string& key, const std::string& bits,
                 const std::string& unusable) {
  rows.push_back(
      {"loss flags", "packets", key, [](Buffer b) { return b.losses.sequence_packet_loss; }});
  for (size_t i = 0; i < kLossBitNames.size(); ++i) {
    const std::string name = kLossBitNames[i].name;
    rows.push_back(
        {"", name, bits + name, [i](Buffer b) { return b.losses.by_bit[i]; }, Shown::kIfAny});
  }
  rows.push_back({"unusable", "sequences", unusable,
                  [](Buffer b) { return b.losses.incremental_sequences_dropped; }, Shown::kIfAny});
}

/// Rows of what became of the packets that were written: they add up.
BufferRows AccountRows(const std::map<BufferId, LedgerTotals>& accounts) {
  if (accounts.empty())
    return {{"packets", "read", "packets.read", [](Buffer b) { return b.read.packets; }}};
  const auto of = [&accounts](FateCount (*part)(const LedgerTotals&)) -> Value {
    return [&accounts, part](Buffer b) -> uint64_t {
      const LedgerTotals* const found = FindIn(accounts, b.id);
      return found == nullptr ? 0 : part(*found).packets;
    };
  };
  using Totals = const LedgerTotals&;
  const Value written = of([](Totals t) { return t.written; });
  const auto any = Shown::kIfAny;
  return {
      {"packets", "written", "packets.written", written},
      {"", "read", "packets.read", of([](Totals t) { return t[Fate::kRead]; })},
      {"", "lost", "packets.lost", of([](Totals t) { return t.lost(); }), Shown::kAlways,
       As::kCount, written},
      {"", "places where writers dropped", "packets.places",
       of([](Totals t) { return t[Fate::kWriterDropped]; }), any},
      {"", "folded", "packets.folded", of([](Totals t) { return t[Fate::kFolded]; }), any},
      {"", "waiting or unfinished", "packets.left", of([](Totals t) { return t.left(); })},
      {"", "elsewhere", "packets.elsewhere", of([](Totals t) { return t.elsewhere(); }), any},
      {"", "read twice", "packets.duplicates", of([](Totals t) { return t.duplicates; }), any},
      // Packets folded after the states were written are lost.
      {"programs", "folded", "programs.folded", OfPrograms(&VmRuns::folded), any},
      {"", "in the trace", "programs.in_trace", OfPrograms(&VmRuns::in_trace), any},
      {"", "errors", "programs.errors", OfPrograms(&VmRuns::errors), any},
      {"", "aborted", "programs.aborted", OfPrograms(&VmRuns::aborted), any},
      {"", "at limit", "programs.at_limit", OfPrograms(&VmRuns::at_limit), any},
  };
}

/// Reports what was written, read and lost, buffer by buffer.
/// @param accounts of the same replay: written = read + lost + left + elsewhere
void ReportReplay(Report& report, const ReplayOutcome& outcome,
                  const std::map<BufferId, LedgerTotals>& accounts) {
  ReportReplayTitle(report, outcome);
  report.Data(JsonOf("input", outcome.path, "session", outcome.session, "records", outcome.records,
                     "read_passes", outcome.read_passes, "reads", outcome.reads, "recorder_gaps",
                     outcome.recorder_gaps, "duration_ns", outcome.duration_ns()));
  AddInexact(report, outcome.verdicts);
  const auto bytes = As::kBytes;
  const auto always = Shown::kAlways, any = Shown::kIfAny;
  BufferRows rows = {
      {"", "", "freed", [](Buffer b) { return b.freed ? 1 : 0; }, Shown::kNever, As::kFlag}};
  const auto add = [&rows](const BufferRows& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(AccountRows(accounts));
  add({{"written", "chunks", "written.chunks", Stat(&BufferStats::chunks_written)},
       {"", "bytes", "written.bytes", Stat(&BufferStats::bytes_written), always, bytes},
       {"", "", "read.packets", [](Buffer b) { return b.read.packets; }, Shown::kNever},
       {"read", "packet bytes", "read.bytes", [](Buffer b) { return b.read.bytes; }, always, bytes},
       {"", "invalid packets", "read.invalid_packets", [](Buffer b) { return b.invalid; }, any},
       {"overwritten", "chunks", "overwritten.chunks", Stat(&BufferStats::chunks_overwritten),
        always, As::kCount, Stat(&BufferStats::chunks_written)},
       {"", "bytes", "overwritten.bytes", Stat(&BufferStats::bytes_overwritten), always, bytes},
       {"discarded", "chunks", "discarded.chunks", Stat(&BufferStats::chunks_discarded), always,
        As::kCount, [](Buffer b) { return b.stats.chunks_written + b.stats.chunks_discarded; }},
       {"patches", "failed", "", Stat(&BufferStats::patches_failed), always, As::kCount,
        [](Buffer b) { return b.stats.patches_failed + b.stats.patches_succeeded; }}});
  AddLossRows(rows, "loss_flags.packets", "loss_flags.by_cause.",
              "loss_flags.incremental_sequences_dropped");
  add({{"still unread", "packets", "unread.packets", [](Buffer b) { return b.unread.packets; },
        any},
       {"", "packet bytes", "unread.bytes", [](Buffer b) { return b.unread.bytes; }, any, bytes},
       {"left by a read", "bytes", "incomplete_bytes", [](Buffer b) { return b.stuck_bytes; }, any,
        bytes}});
  ReportBuffers(report, outcome, rows);
  // Chunks, patches and packets that the service kept from the buffers or from the trace.
  std::vector<std::string> refused;
  for (const auto& [count, noun] : {std::pair(outcome.service.chunks_discarded, "chunk"),
                                    {outcome.service.patches_discarded, "patch"},
                                    {outcome.service.invalid_packets, "packet"}})
    if (count > 0) refused.push_back(Count(count, noun));
  if (!refused.empty())
    report.Print(fmt::format("\nThe service itself refused {}.\n", Joined(refused)));
}

struct ReplayArgs {
  SessionSelection input;
  std::string output;  // .pftrace; empty: none
  std::string events;  // .events.jsonl, "-": standard output; empty: none
  bool force = false;
  ReplayChoices choices;
  Format format = Format::kText;
};

void SetUp(CLI::App& app, ReplayArgs& args) {
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Write the trace that the service would have written (.pftrace); - for standard output. "
          "Of a session with clones, --clone chooses one");
  AddText(app, "--events", args.events, kFileType,
          "Write the events of the replay (.events.jsonl); - for standard output, which "
          "then contains nothing else");
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

Result<ExitCode> RunReplay(const ReplayArgs& args, SessionReader& sessions, Context& context) {
  Report report(context.console, args.format, "replay");
  // Standard output is for the summary.
  const bool has_summary = args.output != "-" && args.events != "-";
  if (args.output == "-" && args.events == "-")
    return Fail(ErrorCode::kUsage, "--output and --events cannot both go to standard output", {},
                "give one of them a file");
  std::unique_ptr<OutputFile> trace_file, events_file;
  if (!args.output.empty()) {
    RS_ASSIGN_OR_RETURN(trace_file, CreateOutput(context, args.output, kTraceOutput, args.force));
  }
  if (!args.events.empty()) {
    RS_ASSIGN_OR_RETURN(events_file, CreateOutput(context, args.events, kEventsOutput, args.force));
  }
  const auto task = [&]() -> Result<ExitCode> {
    if (trace_file) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a trace"));
    ReplayChoices choices = args.choices;
    choices.plain_streams_as_recorded = events_file != nullptr;
    ReplayRun run(context, sessions, choices);
    TraceWriter* const trace =
        trace_file ? &run.Add<TraceWriter>(*trace_file, args.input.clone) : nullptr;
    if (trace != nullptr) RS_RETURN_IF_ERROR(trace->AddTool());
    EventsWriter* const events = events_file ? &run.Add<EventsWriter>(*events_file) : nullptr;
    // Accounts take as long as the trace itself, and memory.
    if (has_summary && trace == nullptr) run.KeepAccounts();
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    if (trace != nullptr) {
      RS_RETURN_IF_ERROR(trace->Finish());
      if (const size_t count = sessions.tracing_sessions().size(); count > 1)
        return Fail(
            ErrorCode::kUsage,
            fmt::format("the log has {}, and a trace is of one", Count(count, "tracing session")),
            {sessions.path(), {}, {}}, fmt::format("choose one: --session {}", sessions.session()));
      if (outcome.reads.mode == ReadsMode::kEnd && outcome.reads.assumed)
        context.console.Say(
            "the log has no read of this session, so one at its end is assumed: the trace has what "
            "that would have returned");
    }
    if (events != nullptr) RS_RETURN_IF_ERROR(events->Finish());
    if (trace != nullptr || events != nullptr)
      RS_RETURN_IF_ERROR(
          ExpectNoFurtherSession(sessions, trace != nullptr ? "a trace" : "a file of events"));
    const std::optional<FoundReads>& found = run.input().found;
    const ExitCode code = found && found->unexplained ? ExitCode::kNotice : ExitCode::kClean;
    if (!has_summary) return code;
    ReportReplay(report, outcome, run.totals());
    if (run.totals().empty() && !outcome.buffers.empty())
      report.Print(
          "\nWhat was lost is not counted while a trace is written: see 'ringscope gaps'.\n");
    if (found) ReportFoundReads(report, *found, sessions.first_record());
    ReportClones(report, outcome);
    return code;
  };
  // Where an output takes standard output, warnings have to do.
  RS_ASSIGN_OR_RETURN(const ExitCode code, has_summary ? ReportSessions(sessions, report, task)
                                                       : ForEachSession(sessions, task));
  if (has_summary) RS_RETURN_IF_ERROR(report.Finish());
  for (OutputFile* const file : {trace_file.get(), events_file.get()}) {
    if (file == nullptr) continue;
    RS_RETURN_IF_ERROR(file->Commit());
    if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  }
  return code;
}

/// @param text a counter of BufferStats, with or without the prefix of trace processor's table
Result<const StatField*> ParseCounter(std::string_view text) {
  constexpr std::string_view kPrefix = "traced_buf_";
  const std::string_view name = text.substr(text.starts_with(kPrefix) ? kPrefix.size() : 0);
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

/// Leaves only counters that are losses, by trace processor's definitions.
void KeepLosses(StatRows& rows) {
  std::erase_if(rows, [](const StatRow& row) { return !row.is_data_loss() || row.value == 0; });
}

/// Rows of trace processor's table.
Table RowsOf(const StatRows& rows, bool with_severity) {
  Table table({Left("name", "name"), Right("idx", "idx"),
               with_severity ? Left("severity", "severity") : DataColumn("severity"),
               Right("value", "value"),
               with_severity ? DataColumn("meaning") : Left("meaning", "meaning")});
  for (const StatRow& row : rows)
    table.AddRow({NameCell(row.name), row.index ? NumberCell(*row.index) : Cell(""),
                  NameCell(Name(row.severity)), CountCell(row.value), NameCell(row.meaning)});
  return table;
}

/// @param members that each row has, too
void PrintCsv(Report& report, const char* columns, const Table& rows, const Json& members) {
  for (Json& row : rows.ToJson()) {
    row.update(members);
    report.Print(CsvRow(columns, row));
  }
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
    StatRows counters = StatRowsOf(*examination.trace);
    size_t zeros = 0;
    if (args.data_loss)
      KeepLosses(counters);
    else if (report.is_text())
      zeros = std::erase_if(counters, [](const StatRow& row) { return row.value == 0; });
    const Table rows = RowsOf(counters, /*with_severity=*/!args.data_loss);
    Json one = {{"input", examination.subject.file}, {"session", examination.trace->session}};
    if (args.format == Format::kCsv) PrintCsv(report, kColumns, rows, one);
    one["counters"] = rows.ToJson();
    traces.push_back(std::move(one));
    if (!report.is_text()) continue;
    report.Section(Printable(examination.subject.file), rows);
    if (rows.empty() && args.data_loss) report.Print("No counter shows a data loss.\n");
    if (zeros > 0) report.Print(fmt::format("{} more counters are 0.\n", zeros));
  }
  report.Data("traces", std::move(traces));
  return report.Finish(CodeOf(inputs.examinations));
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
  struct Watched {
    const SessionBuffer* buffer = nullptr;
    uint64_t value = 0;
  };

  void Compare(BufferId id, const char* by, std::optional<ChunkName> chunk) {
    Watched* const found = FindIn(buffers_, id);
    if (found == nullptr) return;
    const uint64_t value = found->buffer->stats().*field_.value;
    const uint64_t before = std::exchange(found->value, value);
    if (value <= before) return;
    if (rises_.size() == kMostListed)
      ++left_out_;
    else
      rises_.push_back({at_, id, by, chunk, value - before});
  }

  const StatField& field_;
  LogMoment at_;
  std::optional<ChunkName> touched_;  // by the last event of a buffer
  std::map<BufferId, Watched> buffers_;
  std::vector<Rise> rises_;
  uint64_t left_out_ = 0;
};

/// Returns what made a counter rise.
Table RowsOf(const CounterRises& rises, const ReplayOutcome& outcome) {
  Table table({Right("record", "record"), Right("time", "time_ns"), Left("buffer", "buffer"),
               Left("by", "by"), Left("chunk"), DataColumn("sequence"), DataColumn("chunk"),
               Right("count", "count")});
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

/// Reports all counters of the buffers and of the service.
void ReportStats(Report& report, const ReplayOutcome& outcome) {
  BufferRows rows;
  for (const StatField& field : kStatFields)
    rows.push_back({field.name, "", std::string("stats.") + field.name, Stat(field.value)});
  AddLossRows(rows, "sequence_packet_loss", "data_loss.", "incremental_sequences_dropped");
  ReportBuffers(report, outcome, rows);
  Table table({Left("service"), Right("")});
  Json object = Json::object();
  for (const ServiceField& field : kServiceFields) {
    const uint64_t value = outcome.service.*field.value;
    table.AddRow({field.name, WithCommas(value)});
    object[field.name] = value;
  }
  report.Section("", table);
  report.Data("service", std::move(object));
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
    if (args.data_loss) KeepLosses(counters);
    const auto is_loss = [](const StatRow& row) {  // these two also count what loses nothing
      return row.name != "traced_buf_patches_failed" && row.name != "traced_buf_abi_violations";
    };
    const bool any_loss =
        analysis != nullptr && (std::ranges::any_of(counters, is_loss) ||
                                !LossCountsOf(outcome, analysis->Finish(run.totals())).empty());
    const ExitCode code = any_loss ? ExitCode::kNotice : ExitCode::kClean;
    const Table rows =
        rises != nullptr ? RowsOf(*rises, outcome) : RowsOf(counters, /*with_severity=*/false);
    if (is_csv) {
      PrintCsv(report, columns, rows,
               {{"session", outcome.session}, {"reads", ReadsName(outcome.reads)}});
      return code;
    }
    ReportReplayTitle(report, outcome);
    report.Data(JsonOf("input", outcome.path, "session", outcome.session, "reads", outcome.reads));
    AddInexact(report, outcome.verdicts);
    if (rises != nullptr) {
      report.Data(JsonOf("counter", args.explain->name, "counts", rows.ToJson(), "left_out",
                         rises->left_out()));
      if (rows.empty())
        report.Print(fmt::format("No commit, patch or read raised {}.\n", args.explain->name));
      report.Section(args.explain->name, rows);
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
  return report.Finish(code);
}

}  // namespace

Command ReplayCommand() {
  return {
      "replay",
      "Replay a log through a trace buffer, and write the trace",
      "Feeds what producers committed into a reimplementation of the trace buffer and reads it as "
      "the tracing service did, or as you choose. By default engine, sizes and policies are those "
      "of the log, so that the packets are those of the recorded session; change them to see what "
      "another buffer would have kept. A value for one buffer is written 'buffers[1]=VALUE', by "
      "its "
      "index in the trace config, or 2=VALUE, by its id in the log. The summary shows what each "
      "buffer wrote, returned and lost.",
      {{"ringscope replay session.tblog -o session.pftrace", "Get the session's trace"},
       {"ringscope replay session.tblog --size 16MiB", "What if all buffers had been that large?"},
       {"ringscope replay session.tblog --size 'buffers[1]=64k' --reads every=500ms",
        "Make one buffer smaller, and read twice a second"},
       {"ringscope replay session.tblog --events - | head", "See the events"}},
      BindSessions({}, SetUp, RunReplay)};
}

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
