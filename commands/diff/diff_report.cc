#include "commands/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/common/session_loop.h"
#include "commands/common/session_reads.h"
#include "commands/diff/diff_packets.h"
#include "commands/diff/diff_words.h"
#include "commands/diff/divergence_report.h"
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

Json DeathJson(const std::optional<SideDeath>& died) {
  if (!died) return {};
  return {{"side", died->side == Side::kA ? "a" : "b"},
          {"moment", MomentJson(died->moment)},
          {"at_end", died->at_end},
          {"how", died->how},
          {"text", died->text}};
}

void PrintVerdict(Report& report, const LogDiff& result) {
  if (result.died) {
    report.Paragraph(fmt::format("The plug-in of side {} ended, so the comparison stops there.",
                                 Letter(result.died->side)));
    report.Paragraph(Printable(result.died->text), 2);
    report.Paragraph(result.counts.results() == 0 ? std::string("Up to there A and B are the same.")
                                                  : fmt::format("Up to there A and B differ: {}.",
                                                                CountsText(result.counts)));
    return;
  }
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
               {"counts", CountsJson(result.counts)},
               {"first_divergence", {}},
               {"first_counter_divergence", {}},
               {"first_other_order_across_sequences", {}},
               {"died", DeathJson(result.died)}});
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

/// A line for each of many logs, and the totals.
void PrintTotals(Report& report, const std::vector<std::vector<SessionDiff>>& diffs,
                 const std::vector<LogStatus>& logs) {
  Table table({{"log"},
               {"session", Align::kRight},
               {"packets in both", Align::kRight},
               {"result", Align::kLeft}});
  const LogNames names = ShortNames(logs);
  DiffCounts totals;
  uint64_t differing = 0, sessions = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (logs[i].error) table.AddRow({names.names[i], "", "", "failed"});
    for (const SessionDiff& diff : diffs[i]) {
      const DiffCounts& counts = diff.result.counts;
      table.AddRow({names.names[i], std::to_string(diff.session), WithCommas(counts.matched),
                    diff.result.Same() ? "same" : CountsText(counts)});
      ++sessions;
      differing += !diff.result.Same();
      totals.matched += counts.matched;
      totals.across_order += counts.across_order;
      for (size_t kind = 0; kind < kDifferenceKinds; ++kind)
        totals.by_kind[kind] += counts.by_kind[kind];
    }
  }
  report.Print(table);
  report.Print("\n");
  report.Paragraph(fmt::format("{}, {} failed; {} of {} differ{}", names.Title(), CountFailed(logs),
                               WithCommas(differing), Count(sessions, "session"),
                               differing > 0 ? ": " + CountsText(totals) : ""));
  report.Print(FailuresText(logs));
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

Status ReportDiffs(const DiffArgs& args, const std::vector<std::vector<SessionDiff>>& diffs,
                   const std::vector<LogStatus>* logs, Console& console) {
  Report report(console, args.format, "diff");
  if (logs != nullptr && report.is_for_people()) PrintTotals(report, diffs, *logs);
  report.Data({{"compares", "replays"}, {"same", true}, {"sessions", Json::array()}});
  bool first = logs == nullptr;
  for (const std::vector<SessionDiff>& of_log : diffs) {
    for (const SessionDiff& diff : of_log) {
      if (!diff.result.Same()) report.Data("same", false);
      if (logs != nullptr && diff.result.Same() && report.is_for_people()) continue;
      if (!std::exchange(first, false)) report.Print("\n");
      report.AddItem("sessions", [&] { ReportSession(report, diff, args); });
    }
  }
  if (logs != nullptr) {
    for (const LogStatus& log : *logs)
      if (log.error)
        report.AddItem("failed", [&] { report.Data({{"log", log.log}, {"error", log.error}}); });
  }
  return report.Finish();
}

}  // namespace ringscope
