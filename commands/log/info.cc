#include "commands/log/logs.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"

namespace ringscope {
namespace {

constexpr size_t kInfoIndent = 2;

uint64_t Duration(const SessionSummary& session) {
  const uint64_t last = session.last_time_ns.value_or(0);
  return last - std::min(StartOf(session).value_or(last), last);
}

/// Returns how many tracing sessions --session counts in it.
uint64_t TracingSessions(const SessionSummary& session) {
  return std::max(session.counts[OpKindOf<SessionStarted>()], uint64_t{1});
}

/// "7 to 9", "7", "from 7", "3, position unknown", "unknown"
std::string RecordsText(const Damage& damage) {
  if (damage.records && *damage.records == 0) return "none";
  if (!damage.first_record)
    return damage.records ? fmt::format("{}, position unknown", WithCommas(*damage.records))
                          : "unknown";
  const uint64_t first = *damage.first_record;
  if (!damage.records) return fmt::format("from {}", first);
  if (*damage.records == 1) return std::to_string(first);
  return fmt::format("{} to {}", first, first + *damage.records - 1);
}

void ReportFacts(Report& report, const SessionSummary& session) {
  const LogHeader& header = session.header;
  std::vector<std::string> kinds;
  Json counts = Json::object();
  for (size_t kind = 0; kind < kOpKinds; ++kind) {
    if (session.counts[kind] == 0) continue;
    kinds.push_back(fmt::format("{} {}", WithCommas(session.counts[kind]), OpKindName(kind)));
    counts[OpKindName(kind)] = session.counts[kind];
  }
  report.Fact("uuid", NameCell(header.uuid), "uuid");
  report.Fact("written by", NameCell(header.tool), "tool");
  report.Fact("source",
              {fmt::format("{}{}{}", Name(header.source), header.description.empty() ? "" : ", ",
                           Printable(header.description)),
               Name(header.source)},
              "source");
  report.Data("description", header.description);
  if (header.without_payload)
    report.Fact("payloads", "left out: it has only sizes, kinds, times and flags of packets");
  report.Data("without_payload", header.without_payload);
  report.Fact("host", NameCell(header.host), "host");
  report.Data(JsonOf("clock", header.clock, "first_record", session.first_record, "records",
                     session.records, "first_time_ns", session.first_time_ns, "last_time_ns",
                     session.last_time_ns, "duration_ns", Duration(session), "kinds", counts,
                     "chunks", session.chunks, "chunk_bytes", session.chunk_bytes, "patches",
                     session.patches, "recorder_gaps", session.recorder_gaps, "truncated",
                     session.truncated));
  if (session.first_time_ns) {
    const uint64_t start = std::max(StartOf(session).value_or(0), *session.first_time_ns);
    const uint64_t before = start - *session.first_time_ns;
    report.Fact(
        "duration",
        {fmt::format(
             "{}{}", HumanDuration(Duration(session)),
             before == 0 ? "" : fmt::format("; its log begins {} earlier", HumanDuration(before))),
         Duration(session)});
    report.Fact("time",
                fmt::format("{} to {} ns{}{}", *session.first_time_ns, *session.last_time_ns,
                            header.clock.empty() ? "" : ", ", Printable(header.clock)));
  }
  report.Fact("records", fmt::format("{}: {}", WithCommas(session.records), Joined(kinds)));
  report.Fact("committed",
              fmt::format("{}, {}, {}", Count(session.chunks, "chunk"),
                          HumanSize(session.chunk_bytes), Count(session.patches, "patch")));
  if (session.recorder_gaps > 0)
    report.Fact("gaps", fmt::format("{} in the recording: it is not complete",
                                    WithCommas(session.recorder_gaps)));
  Verdicts marks = VerdictsOf(session);
  // The recorder's last record: why it ended. How exact a recording without its end is, is unknown.
  const std::optional<RecordingEnded>& end = session.end;
  report.Data("recording_end", end ? JsonOf("ending", end->ending, "sessions", end->sessions,
                                            "producers", end->producers, "gaps", end->gaps)
                                   : Json());
  AddInexact(report, marks);
  if (end) report.Fact("ended", RowOf(end->ending).text);
  if (end && end->ending != RecordingEnding::kCutOff && end->ending != RecordingEnding::kNextPart)
    report.Fact("verdict", VerdictSentence(marks, session.chunks == 0));
  report.EndFacts();
  std::erase_if(marks, [](const RecordingVerdict& verdict) {
    return verdict.reason == InexactReason::kRecords;  // "gaps"
  });
  report.Print(VerdictLines(marks, kInfoIndent));
}

void ReportBuffers(Report& report, const SessionSummary& session) {
  Table table({Left("buffer"), Right("id", "buffer"), Right("size", "size"),
               Left("policy", "policy"), Left("engine", "engine")});
  for (size_t i = 0; i < session.buffers.size(); ++i) {
    const BufferSetUp& buffer = session.buffers[i];
    table.AddRow({BufferNameIn(session, buffer.id, i), NumberCell(Raw(buffer.id)),
                  BytesCell(buffer.size), NameCell(Name(buffer.policy)),
                  Cell(buffer.engine.empty() ? "-" : Printable(buffer.engine), buffer.engine)});
  }
  report.Add("buffers", table, kInfoIndent);
}

void ReportProducers(Report& report, const SessionSummary& session) {
  std::map<ProducerId, uint64_t> set_up;  // bytes of shared memory
  for (const LifeEvent& event : session.life)
    if (event.Is<SharedMemorySetUp>() && event.producer) set_up[*event.producer] = event.size;
  Table table({Right("producer", "producer"), Left("name", "name"), Right("uid", "uid"),
               Right("pid", "pid"), Left("sdk", "sdk"),
               Right("shared memory", "shared_memory_bytes"), Right("pages", "page_bytes")});
  const auto bytes = [](const std::optional<uint64_t>& size) {
    return size ? BytesCell(*size) : Cell("-", Json());
  };
  for (const ProducerConnected& producer : session.producers) {
    const auto known = set_up.find(producer.producer);
    const auto size = known == set_up.end() ? producer.smb_size : std::optional(known->second);
    table.AddRow({NumberCell(Raw(producer.producer)), NameCell(producer.name),
                  NumberCell(producer.uid), Cell(std::to_string(producer.pid), producer.pid),
                  NameCell(producer.sdk), bytes(size), bytes(producer.page_size)});
  }
  report.Add("producers", table, kInfoIndent);
}

void ReportSequences(Report& report, const SessionSummary& session) {
  std::map<ProducerId, std::string> names;
  for (const ProducerConnected& producer : session.producers)
    names[producer.producer] = producer.name;
  const double seconds = static_cast<double>(Duration(session)) / 1e9;
  Table table({Left("writer", "sequence"), Left("producer"), Right("buffers", "buffer"),
               DataColumn("set_up"), DataColumn("commits"), Right("chunks", "chunks"),
               Right("patches", "patches"), Right("packets", "packets"), Right("bytes", "bytes"),
               Right("bytes/s"), DataColumn("first_time_ns"), DataColumn("last_time_ns")});
  for (const SequenceSummary& sequence : session.sequences) {
    const auto name = names.find(sequence.sequence.producer);
    const auto rate = static_cast<double>(sequence.bytes) / seconds;
    table.AddRow(
        {NameCell(ToString(sequence.sequence)), name == names.end() ? "-" : Printable(name->second),
         Cell(BufferNameIn(session, sequence.buffer, sequence.set_up).substr(7),  // "[0]"
              Raw(sequence.buffer)),
         DataCell(sequence.set_up), CountCell(sequence.commits), CountCell(sequence.chunks),
         CountCell(sequence.patches), CountCell(sequence.packets), BytesCell(sequence.bytes),
         seconds > 0 ? HumanSize(static_cast<uint64_t>(rate)) : "-",
         DataCell(sequence.first_time_ns), DataCell(sequence.last_time_ns)});
  }
  report.Add("sequences", table, kInfoIndent);
  if (!table.empty())
    report.Paragraph(
        "packets: counted from chunk headers, including empty packets and excluding those still "
        "being written; 'ringscope replay' counts the packets written",
        std::string(kInfoIndent, ' '));
  if (session.truncated)
    report.Print(
        "  There are more sequences than can be listed; the totals above include all of them.\n");
}

/// @param number of its first tracing session
void ReportSession(Report& report, uint64_t number, const SessionSummary& session) {
  const uint64_t sessions = TracingSessions(session);
  report.Heading(sessions == 1 ? fmt::format("session {}", number)
                               : fmt::format("a recording of sessions {} to {}", number,
                                             number + sessions - 1));
  report.Data(JsonOf("session", number, "tracing_sessions", sessions));
  ReportFacts(report, session);
  ReportBuffers(report, session);
  ReportProducers(report, session);
  ReportEvents(report, session);
  ReportSequences(report, session);
}

std::string IntegrityText(const LogInfo& info) {
  if (info.damage_count > 0)
    return fmt::format(
        "damaged in {}; 'ringscope verify' lists them, 'ringscope verify --repair' writes a "
        "clean copy",
        Count(info.damage_count, "place"));
  if (info.format != LogFormat::kCommitLog) return "reads without errors";
  if (!info.closed) return "not closed, no damage found";
  if (info.from_index)
    return "closed properly; answered from its index ('ringscope verify' checks the records)";
  return info.cleanly_closed ? "closed properly, no damage found"
                             : "no damage found, but no index for the whole file";
}

/// Returns how many sessions a log has, as --session and all other commands count them.
uint64_t SessionsOf(const LogInfo& info) {
  uint64_t sessions = 0;
  for (const SessionSummary& session : info.sessions) sessions += TracingSessions(session);
  return sessions;
}

struct InfoArgs {
  std::string log;
  Format format = Format::kText;
  std::optional<uint64_t> session;
};

void SetUp(CLI::App& app, InfoArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

Result<ExitCode> RunInfo(const InfoArgs& args, Context& context) {
  Report report(context.console, args.format, "info");
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportInfo(context, args.log, args.session, report));
  return report.Finish(code);
}

}  // namespace

Table DamageTable(const std::vector<Damage>& damage) {
  Table table({Right("offset", "offset"), Right("bytes", "bytes"), DataColumn("first_record"),
               Left("records", "records"), Left("what", "what")});
  for (const Damage& place : damage)
    table.AddRow({NumberCell(place.offset),
                  CountCell(place.bytes),
                  DataCell(place.first_record),
                  {RecordsText(place), place.records},
                  NameCell(place.what)});
  return table;
}

void PrintDamage(Report& report, const std::vector<Damage>& damage, uint64_t count) {
  if (damage.empty()) return;
  report.Print(DamageTable(damage), 2);
  if (count > damage.size())
    report.Print(fmt::format("  ...and {} more\n", Count(count - damage.size(), "place")));
}

std::string ExtentText(const LogInfo& info) {
  uint64_t records = 0;
  for (const SessionSummary& session : info.sessions) records += session.records;
  const uint64_t sessions = SessionsOf(info);
  std::string text = Count(sessions, "session");
  if (sessions > info.sessions.size()) text += " in " + Count(info.sessions.size(), "recording");
  text += fmt::format(", {}, {}", Count(records, "record"), HumanSize(info.file_bytes));
  if (info.data_frames > 0) text += fmt::format(" in {}", Count(info.data_frames, "frame"));
  if (info.raw_bytes > 0) text += fmt::format(" ({} raw)", HumanSize(info.raw_bytes));
  return text;
}

void AddLogData(Report& report, const std::string& path, const LogInfo& info) {
  report.Data(JsonOf("input", path, "format", info.format, "file_bytes", info.file_bytes,
                     "raw_bytes", info.raw_bytes, "data_frames", info.data_frames, "from_index",
                     info.from_index, "closed", info.closed, "cleanly_closed", info.cleanly_closed,
                     "damage_count", info.damage_count, "damage",
                     DamageTable(info.damage).ToJson()));
}

Verdicts VerdictsOf(const SessionSummary& session) {
  Verdicts verdicts = session.verdicts;
  const bool is_streamed = std::ranges::any_of(session.life, [](const LifeEvent& event) {
    return event.Is<TraceConfigRecord>() &&
           ReadTraceConfigFacts(wire::AsBytes(event.detail)).write_into_file;
  });
  if (!is_streamed || !session.header.tool.starts_with("ringscope 0.1.")) return verdicts;
  const auto add = [&](InexactReason reason, size_t kind, const char* detail) {
    if (const uint64_t times = session.counts[kind]; times > 0)
      verdicts.push_back({.reason = reason, .times = times, .detail = detail});
  };
  add(InexactReason::kReads, OpKindOf<ReadPass>(),
      "a recorder before version 0.2 logged reads for a file before commits that the service may "
      "have handled first");
  add(InexactReason::kClone, OpKindOf<CloneRequested>(),
      "a recorder before version 0.2 logged a clone when it was asked for, perhaps before a read "
      "that the service did first");
  return verdicts;
}

std::string IncompleteText(const std::string& path, const LogInfo& info) {
  const bool has_times = !info.sessions.empty() && info.sessions.back().first_time_ns;
  return NotClosedText(path,
                       has_times ? std::optional(Duration(info.sessions.back())) : std::nullopt);
}

bool IsCutOff(const LogInfo& info) {
  return std::ranges::any_of(info.sessions, [](const SessionSummary& session) {
    return session.end && session.end->ending == RecordingEnding::kCutOff;
  });
}

Result<ExitCode> ReportInfo(Context& context, const std::string& log, std::optional<uint64_t> only,
                            Report& report) {
  const LogParts parts = FindLogParts({log});
  LogInfo info;
  {
    Progress progress(context.console, fmt::format("reading {}", Printable(log)));
    RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, parts.paths.size() == 1
                                                                ? OpenInput(context, log)
                                                                : OpenJoined(parts.paths, log));
    const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
    RS_ASSIGN_OR_RETURN(info, ReadLogInfo(std::move(source), update));
  }
  if (only && *only > SessionsOf(info))
    return tl::unexpected(NoSession(*only, SessionsOf(info), log));
  report.Title(Printable(log), fmt::format("{}: {}", RowOf(info.format).text, ExtentText(info)));
  report.Paragraph(IntegrityText(info));
  AddLogData(report, log, info);
  report.Data(JsonOf("parts", parts.paths, "parts_problems", parts.problems));
  if (parts.paths.size() > 1)
    report.Paragraph(
        fmt::format("{}: {}", Count(parts.paths.size(), "part"), Shortened(parts.paths)));
  for (const std::string& problem : parts.problems)
    report.Paragraph("Parts: " + Printable(problem) + ".");
  bool complete = info.damage_count == 0 && parts.problems.empty();
  const auto print_missing = [&](const std::string& what) {
    complete = false;
    report.Paragraph("Not complete: " + what + ".");
  };
  if (!info.closed) print_missing(IncompleteText(parts.paths.back(), info));
  if (IsCutOff(info)) print_missing(kCutOffText);
  for (const SessionSummary& session : info.sessions)
    if (session.header.part > 0) print_missing(StartMissingText(session.header));
  report.Data("sessions", Json::array());
  uint64_t number = 1;
  for (const SessionSummary& session : info.sessions) {
    const uint64_t next = number + TracingSessions(session);
    if (!only || (*only >= number && *only < next))
      report.AddItem("sessions", [&] { ReportSession(report, number, session); });
    number = next;
  }
  WarnOfDamage(context.console, log, info.damage, info.damage_count);
  return complete ? ExitCode::kClean : ExitCode::kNotice;
}

Command InfoCommand() {
  return {"info",
          "Summarize a log: sessions, buffers, producers, sequences",
          "Shows a log's sessions: what recorded them and when, the buffers, the producers, what "
          "happened in order (tracing sessions, data sources, flushes, triggers, clones, reads), "
          "how fast producers acknowledge flushes, each "
          "sequence with its packets, bytes and rates, the number of records of each kind, and "
          "whether the log is complete. A commit log is answered from its index at once; a log "
          "without an index is read to its end, with the same results.",
          {{"ringscope info session.tblog", "What does this log contain?"},
           {"ringscope info --format json session.tblog", "The same for a script"}},
          Bind(SetUp, RunInfo)};
}

}  // namespace ringscope
