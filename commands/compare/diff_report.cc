#include "commands/compare/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/compare/diff_packets.h"
#include "commands/compare/diff_words.h"
#include "commands/compare/divergence_report.h"
#include "commands/compare/diffed_logs.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

// Sides of a buffer.

/// What is reported of a buffer on one side.
struct SideRow {
  const char* key;
  const char* title;  // empty: not for people
  Cell (*cell)(const SideBuffer& side);
};
constexpr SideRow kSideRows[] = {
    {"engine", "engine", [](const SideBuffer& side) { return NameCell(side.engine); }},
    {"size", "size", [](const SideBuffer& side) { return BytesCell(side.size); }},
    {"policy", "policy", [](const SideBuffer& side) { return NameCell(Name(side.policy)); }},
    {"freed", "", [](const SideBuffer& side) { return DataCell(side.freed); }},
    {"packets", "packets read",
     [](const SideBuffer& side) { return CountCell(side.read.packets); }},
    {"packet_bytes", "packet bytes",
     [](const SideBuffer& side) { return BytesCell(side.read.bytes); }},
    {"unread_bytes", "left unread",
     [](const SideBuffer& side) { return BytesCell(side.stats.unread_bytes()); }},
    {"peak_bytes", "peak", [](const SideBuffer& side) { return BytesCell(side.peak_bytes); }},
};

Json SideJson(const SideBuffer& side) {
  Json json = Json::object();
  for (const SideRow& row : kSideRows) json[row.key] = row.cell(side).value;
  return json;
}

void PrintBuffers(Report& report, const std::vector<BufferDiff>& buffers) {
  Table table({{""}, {""}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const BufferDiff& buffer : buffers) {
    std::string name = fmt::format("buffer {}", Raw(buffer.id));
    for (const SideRow& row : kSideRows) {
      if (*row.title == '\0') continue;
      table.AddRow(
          {std::exchange(name, ""), row.title, row.cell(buffer.sides.a), row.cell(buffer.sides.b)});
    }
  }
  report.Section("", table);
}

// Sessions.

void ReportService(Report& report, const Both<ServiceStats>& service, bool all) {
  Json json = Json::object();
  Table table({{""}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const ServiceField& field : kServiceFields) {
    const uint64_t a = service.a.*field.value;
    const uint64_t b = service.b.*field.value;
    json[field.name] = {{"a", a}, {"b", b}};
    if (all || a != b) table.AddRow({field.name, WithCommas(a), WithCommas(b)});
  }
  report.Data("service", std::move(json));
  report.Section("Counters of the service", table, 2);
}

void PrintVerdict(Report& report, const LogDiff& result) {
  report.Paragraph(result.Same() ? std::string("A and B are the same.")
                                 : fmt::format("A and B differ: {}.", CountsText(result.counts)));
  const bool same_sides =
      std::all_of(result.buffers.begin(), result.buffers.end(), [](const BufferDiff& buffer) {
        const SideBuffer& a = buffer.sides.a;
        const SideBuffer& b = buffer.sides.b;
        return a.engine == b.engine && a.size == b.size && a.policy == b.policy;
      });
  if (!result.same_reads) {
    report.Paragraph(
        "The sides are read at different moments, so moments and the order across sequences are "
        "not compared.");
  } else if (same_sides) {
    report.Print("Both sides use the same engine and options: see --a and --b.\n");
  }
}

/// When the sides were read, where that is not in the log: ", read at the end (assumed)".
std::string AssumedReadsText(const Both<ReadsUsed>& reads) {
  if (!reads.a.assumed && !reads.b.assumed) return "";
  const std::string a = ReadsText(reads.a), b = ReadsText(reads.b);
  return a == b ? ", read " + a : fmt::format(", A read {}, B read {}", a, b);
}

void ReportSession(Report& report, const SessionDiff& diff, const DiffArgs& args) {
  const LogDiff& result = diff.result;
  const FirstTime first_time_ns = result.first_time_ns;
  const uint64_t duration = result.last_time_ns.value_or(0) - first_time_ns.value_or(0);
  ReportTitle(report, {.path = diff.path,
                       .session = diff.session,
                       .records = result.records,
                       .duration_ns = duration,
                       .clone = diff.clone ? std::optional(diff.clone->clone) : std::nullopt,
                       .more = AssumedReadsText(result.reads)});
  if (diff.clone) report.Data("clone", diff.clone->clone);
  PrintVerdict(report, result);
  PrintBuffers(report, result.buffers);
  report.Data({{"input", diff.path},
               {"session", diff.session},
               {"records", result.records},
               {"same", result.Same()},
               {"same_results", result.SameResults()},
               {"same_reads", result.same_reads},
               {"reads", {{"a", ReadsJson(result.reads.a)}, {"b", ReadsJson(result.reads.b)}}},
               {"counts", FieldsToJson(result.counts)},
               {"first_divergence", {}},
               {"first_counter_divergence", {}},
               {"first_other_order_across_sequences", {}}});
  if (result.first) ReportDivergence(report, "first_divergence", *result.first, first_time_ns);
  const bool shows_counter = report.is_json() || (!result.first && !result.Same());
  if (result.first_counter && shows_counter)
    ReportDivergence(report, "first_counter_divergence", *result.first_counter, first_time_ns);
  report.AddObject("packets", [&] { ReportPackets(report, result); });
  if (result.first_across_order) {
    report.Heading("Order across sequences");
    report.Print(fmt::format("  {} of {} in a different order, first at {}\n",
                             WithCommas(result.counts.across_order),
                             Count(result.counts.matched, "packet"),
                             MomentText(*result.first_across_order, first_time_ns)));
    report.Data("first_other_order_across_sequences", MomentJson(*result.first_across_order));
  }
  report.Data("buffers", Json::array());
  for (const BufferDiff& buffer : result.buffers) {
    report.AddItem("buffers", [&] {
      report.Data({{"buffer", Raw(buffer.id)},
                   {"a", SideJson(buffer.sides.a)},
                   {"b", SideJson(buffer.sides.b)}});
      ReportCounters(report, buffer, args.all, first_time_ns);
      Json diverged = Json::object();
      for (size_t i = 0; i < kStatFields.size(); ++i)
        if (buffer.diverged[i]) diverged[kStatFields[i].name] = MomentJson(*buffer.diverged[i]);
      report.Data("counters_differ_from", std::move(diverged));
    });
  }
  ReportService(report, result.service, args.all);
}

}  // namespace

void ReportCounters(Report& report, const BufferDiff& buffer, bool all, FirstTime first_time_ns) {
  Json counters = Json::object();
  Table table({{""},
               {"A", Align::kRight},
               {"B", Align::kRight},
               {"B - A", Align::kRight},
               {"differs from", Align::kLeft}});
  for (size_t i = 0; i < kStatFields.size(); ++i) {
    const StatField& field = kStatFields[i];
    const uint64_t a = buffer.sides.a.stats.*field.value;
    const uint64_t b = buffer.sides.b.stats.*field.value;
    const std::optional<LogMoment>& since = buffer.diverged[i];
    counters[field.name] = {{"a", a}, {"b", b}};
    if (!all && a == b && !since) continue;
    const std::string change =
        a == b ? "" : fmt::format("{}{}", a < b ? "+" : "-", WithCommas(a < b ? b - a : a - b));
    std::string from = since ? MomentText(*since, first_time_ns) : std::string();
    if (since && a == b) from += ", equal at the end";
    table.AddRow({field.name, WithCommas(a), WithCommas(b), change, from});
  }
  report.Data("counters", std::move(counters));
  report.Section(fmt::format("Counters of buffer {}", Raw(buffer.id)), table, 2);
}

Status ReportDiffs(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Console& console) {
  Report report(console, args.format, kDiffDocument);
  const bool same = std::ranges::all_of(diffs, &LogDiff::Same, &SessionDiff::result);
  report.Data({{"compares", "replays"}, {"same", same}, {"sessions", Json::array()}});
  for (const SessionDiff& diff : diffs) {
    if (&diff != &diffs.front()) report.Print("\n");
    report.AddItem("sessions", [&] { ReportSession(report, diff, args); });
  }
  return report.Finish();
}

Result<ExitCode> ReportDiffs(const DiffArgs& args, const std::vector<LogResult<SessionDiff>>& logs,
                             const ShardsHeld& shards, Console& console) {
  Report report(console, args.format, kDiffDocument);
  DiffedLogs diffed;
  for (const LogResult<SessionDiff>& log : logs) {
    diffed.push_back({log.status, {}});
    for (const auto& [path, session, clone, result] : log.sessions)
      diffed.back().sessions.push_back({session, result.Same(), result.counts, {}});
  }
  ReportDiffedLogs(report, diffed, shards);
  for (const LogResult<SessionDiff>& log : logs) {
    for (const SessionDiff& diff : log.sessions) {
      if (diff.result.Same() && report.is_for_people()) continue;
      report.Print("\n");
      report.AddItem("sessions", [&] { ReportSession(report, diff, args); });
    }
  }
  RS_RETURN_IF_ERROR(report.Finish());
  return shards.CodeWith(WorstOf(StatusesOf(diffed)));
}

}  // namespace ringscope
