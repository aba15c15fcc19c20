#include "commands/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/session/examined.h"
#include "commands/session/loss_view.h"
#include "commands/session/session_loop.h"
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
  As as = As::kCount;
  Shown shown = Shown::kAlways;
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
    Json object = {{"buffer", Raw(buffer.id)},
                   {"index", buffer.index},
                   {"engine", buffer.engine},
                   {"size", buffer.size},
                   {"policy", Name(buffer.policy)}};
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
    std::vector<Cell> engines = {"engine", ""}, sizes = {"size", ""}, policies = {"policy", ""};
    for (Buffer buffer : buffers) {
      columns.push_back({fmt::format("buffers[{}]", buffer.index), Align::kRight});
      // A plug-in is named by its file alone.
      engines.emplace_back(Printable(buffer.engine.substr(buffer.engine.rfind('/') + 1)));
      sizes.push_back(BytesCell(buffer.size));
      policies.emplace_back(
          fmt::format("{}{}", Name(buffer.policy), buffer.freed ? ", freed" : ""));
    }
    Table table(std::move(columns));
    for (std::vector<Cell>* const cells : {&engines, &sizes, &policies}) table.AddRow(*cells);
    for (const BufferRow& row : rows) {
      if (!is_shown(row)) continue;
      std::vector<Cell> cells = {row.group, row.title};
      for (Buffer buffer : buffers) cells.push_back(CellOf(row, buffer));
      table.AddRow(std::move(cells));
    }
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
    rows.push_back({"", name, bits + name, [i](Buffer b) { return b.losses.by_bit[i]; }, As::kCount,
                    Shown::kIfAny});
  }
  rows.push_back({"unusable", "sequences", unusable,
                  [](Buffer b) { return b.losses.incremental_sequences_dropped; }, As::kCount,
                  Shown::kIfAny});
}

/// Rows of what became of the packets that were written: they add up.
BufferRows AccountRows(const std::map<BufferId, LedgerTotals>& accounts) {
  if (accounts.empty())
    return {{"packets", "read", "packets.read", [](Buffer b) { return b.read.packets; }}};
  const auto of = [&accounts](FateCount (*part)(const LedgerTotals&)) -> Value {
    return [&accounts, part](Buffer b) -> uint64_t {
      const auto found = accounts.find(b.id);
      return found == accounts.end() ? 0 : part(found->second).packets;
    };
  };
  using Totals = const LedgerTotals&;
  const Value written = of([](Totals t) { return t.written; });
  const auto any = Shown::kIfAny;
  const auto count = As::kCount;
  return {
      {"packets", "written", "packets.written", written},
      {"", "read", "packets.read", of([](Totals t) { return t[Fate::kRead]; })},
      {"", "lost", "packets.lost", of([](Totals t) { return t.lost(); }), count, Shown::kAlways,
       written},
      {"", "places where writers dropped", "packets.places",
       of([](Totals t) { return t[Fate::kWriterDropped]; }), count, any},
      {"", "folded", "packets.folded", of([](Totals t) { return t[Fate::kFolded]; }), count, any},
      {"", "waiting or unfinished", "packets.left", of([](Totals t) { return t.left(); })},
      {"", "elsewhere", "packets.elsewhere", of([](Totals t) { return t.elsewhere(); }), count,
       any},
      {"", "read twice", "packets.duplicates", of([](Totals t) { return t.duplicates; }), count,
       any},
      // Packets folded after the states were written are lost.
      {"programs", "folded", "programs.folded", OfPrograms(&VmRuns::folded), count, any},
      {"", "in the trace", "programs.in_trace", OfPrograms(&VmRuns::in_trace), count, any},
      {"", "errors", "programs.errors", OfPrograms(&VmRuns::errors), count, any},
      {"", "aborted", "programs.aborted", OfPrograms(&VmRuns::aborted), count, any},
      {"", "at limit", "programs.at_limit", OfPrograms(&VmRuns::at_limit), count, any},
  };
}

/// Counts the packets that the service kept from the buffers or from the trace.
std::string RefusalsText(const ServiceStats& service) {
  std::vector<std::string> refused;
  if (service.chunks_discarded > 0) refused.push_back(Count(service.chunks_discarded, "chunk"));
  if (const uint64_t patches = service.patches_discarded; patches > 0)
    refused.push_back(Count(patches, "patch"));
  if (service.invalid_packets > 0) refused.push_back(Count(service.invalid_packets, "packet"));
  if (refused.empty()) return "";
  return fmt::format("\nThe service itself refused {}.\n", Joined(refused));
}

void ReportService(Report& report, const ServiceStats& service) {
  Table table({{"service"}, {"", Align::kRight}});
  Json object = Json::object();
  for (const ServiceField& field : kServiceFields) {
    table.AddRow({field.name, WithCommas(service.*field.value)});
    object[field.name] = service.*field.value;
  }
  report.Section("", table);
  report.Data("service", std::move(object));
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

/// Returns true if standard output is for the summary.
bool HasSummary(const ReplayArgs& args) { return args.output != "-" && args.events != "-"; }

/// The files that a replay of one session writes.
struct OutputFiles {
  std::unique_ptr<OutputFile> trace;
  std::unique_ptr<OutputFile> events;
};

Result<OutputFiles> CreateOutputs(const ReplayArgs& args, Context& context) {
  if (args.output == "-" && args.events == "-") {
    return Fail(ErrorCode::kUsage, "--output and --events cannot both go to standard output", {},
                "give one of them a file");
  }
  OutputFiles files;
  if (!args.output.empty()) {
    RS_ASSIGN_OR_RETURN(files.trace, CreateOutput(context, args.output, kTraceOutput, args.force));
  }
  if (!args.events.empty()) {
    RS_ASSIGN_OR_RETURN(files.events,
                        CreateOutput(context, args.events, kEventsOutput, args.force));
  }
  return files;
}

Status CommitOutput(const std::unique_ptr<OutputFile>& file, Context& context) {
  if (!file) return {};
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return {};
}

Result<ExitCode> RunReplay(const ReplayArgs& args, SessionReader& sessions, Context& context) {
  Report report(context.console, args.format, "replay");

  RS_ASSIGN_OR_RETURN(const OutputFiles files, CreateOutputs(args, context));
  const auto task = [&]() -> Result<ExitCode> {
    if (files.trace) RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a trace"));
    ReplayChoices choices = args.choices;
    choices.plain_streams_as_recorded = files.events != nullptr;
    ReplayRun run(context, sessions, choices);
    TraceWriter* trace = nullptr;
    if (files.trace) {
      trace = &run.Add<TraceWriter>(*files.trace, args.input.clone);
      RS_RETURN_IF_ERROR(trace->AddTool());
    }
    EventsWriter* events = files.events ? &run.Add<EventsWriter>(*files.events) : nullptr;
    // Accounts take as long as the trace itself, and memory.
    if (HasSummary(args) && trace == nullptr) run.KeepAccounts();
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    if (trace != nullptr) RS_RETURN_IF_ERROR(trace->Finish());
    if (events != nullptr) RS_RETURN_IF_ERROR(events->Finish());
    const std::optional<FoundReads>& found = run.found();
    if (files.trace) RS_RETURN_IF_ERROR(ExpectOneTracingSession(sessions));
    if (files.trace && outcome.reads.mode == ReadsMode::kEnd && outcome.reads.assumed)
      context.console.Say(
          "the log has no read of this session, so one at its end is assumed: the trace has what "
          "that would have returned");
    if (files.trace) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a trace"));
    if (files.events) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a file of events"));
    const ExitCode code = found && found->unexplained ? ExitCode::kNotice : ExitCode::kClean;
    if (!HasSummary(args)) return code;
    ReportReplay(report, outcome, run.totals());
    if (run.totals().empty() && !outcome.buffers.empty())
      report.Print(
          "\nWhat was lost is not counted while a trace is written: see 'ringscope gaps'.\n");
    if (found) ReportFoundReads(report, *found, sessions.first_record());
    ReportClones(report, outcome);
    return code;
  };
  // Where an output takes standard output, warnings have to do.
  RS_ASSIGN_OR_RETURN(const ExitCode code, HasSummary(args) ? ReportSessions(sessions, report, task)
                                                            : ForEachSession(sessions, task));
  if (HasSummary(args)) RS_RETURN_IF_ERROR(report.Finish());
  RS_RETURN_IF_ERROR(CommitOutput(files.trace, context));
  RS_RETURN_IF_ERROR(CommitOutput(files.events, context));
  return code;
}

}  // namespace

void ReportReplay(Report& report, const ReplayOutcome& outcome,
                  const std::map<BufferId, LedgerTotals>& accounts) {
  ReportReplayTitle(report, outcome);
  report.Data({{"input", outcome.path},
               {"session", outcome.session},
               {"records", outcome.records},
               {"read_passes", outcome.read_passes},
               {"reads", FieldsToJson(outcome.reads)},
               {"recorder_gaps", outcome.recorder_gaps},
               {"duration_ns", outcome.duration_ns()}});
  AddInexact(report, outcome.verdicts);
  const auto bytes = As::kBytes;
  const auto any = Shown::kIfAny;
  BufferRows rows = {
      {"", "", "freed", [](Buffer b) { return b.freed ? 1 : 0; }, As::kFlag, Shown::kNever}};
  const auto add = [&rows](const BufferRows& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(AccountRows(accounts));
  add({{"written", "chunks", "written.chunks", Stat(&BufferStats::chunks_written)},
       {"", "bytes", "written.bytes", Stat(&BufferStats::bytes_written), bytes},
       {"", "", "read.packets", [](Buffer b) { return b.read.packets; }, As::kCount, Shown::kNever},
       {"read", "packet bytes", "read.bytes", [](Buffer b) { return b.read.bytes; }, bytes},
       {"", "invalid packets", "read.invalid_packets", [](Buffer b) { return b.invalid; },
        As::kCount, any},
       {"overwritten", "chunks", "overwritten.chunks", Stat(&BufferStats::chunks_overwritten),
        As::kCount, Shown::kAlways, Stat(&BufferStats::chunks_written)},
       {"", "bytes", "overwritten.bytes", Stat(&BufferStats::bytes_overwritten), bytes},
       {"discarded", "chunks", "discarded.chunks", Stat(&BufferStats::chunks_discarded), As::kCount,
        Shown::kAlways, [](Buffer b) { return b.stats.chunks_written + b.stats.chunks_discarded; }},
       {"patches", "failed", "", Stat(&BufferStats::patches_failed), As::kCount, Shown::kAlways,
        [](Buffer b) { return b.stats.patches_failed + b.stats.patches_succeeded; }}});
  AddLossRows(rows, "loss_flags.packets", "loss_flags.by_cause.",
              "loss_flags.incremental_sequences_dropped");
  add({{"still unread", "packets", "unread.packets", [](Buffer b) { return b.unread.packets; },
        As::kCount, any},
       {"", "packet bytes", "unread.bytes", [](Buffer b) { return b.unread.bytes; }, bytes, any},
       {"left by a read", "bytes", "incomplete_bytes", [](Buffer b) { return b.stuck_bytes; },
        bytes, any}});
  ReportBuffers(report, outcome, rows);
  if (report.is_text()) report.Print(RefusalsText(outcome.service));
}

void ReportStats(Report& report, const ReplayOutcome& outcome) {
  BufferRows rows;
  for (const StatField& field : kStatFields)
    rows.push_back({field.name, "", std::string("stats.") + field.name, Stat(field.value)});
  AddLossRows(rows, "sequence_packet_loss", "data_loss.", "incremental_sequences_dropped");
  ReportBuffers(report, outcome, rows);
  ReportService(report, outcome.service);
}

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

}  // namespace ringscope
