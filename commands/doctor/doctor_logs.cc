#include "commands/doctor/doctor_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "commands/doctor/doctor_outliers.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/descriptors/changed_config.h"

namespace ringscope {
namespace {

constexpr size_t kHarms = kEnumNames<Harm>.size();

bool IsToKnow(Harm harm) { return harm >= Harm::kWarning; }

using SeverityCounts = std::array<uint64_t, kHarms>;

/// How many traces a rule was found in.
struct RuleSum {
  Harm worst = Harm::kOk;
  std::string title;
  uint64_t traces = 0;
  SeverityCounts by_severity{};  // of the worst finding in each of the traces
};

/// What many traces have in common.
struct FleetSum {
  std::map<std::string, RuleSum> rules;
  SeverityCounts by_severity{};  // of the traces that could be read
  uint64_t failed = 0;

  explicit FleetSum(const DoctorTraces& traces) {
    for (const DoctorTrace& trace : traces) Add(trace);
  }

  /// The worst and most frequent first.
  std::vector<std::pair<std::string, RuleSum>> Ranked() const {
    std::vector<std::pair<std::string, RuleSum>> ranked(rules.begin(), rules.end());
    std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) {
      return std::tuple(a.second.worst, a.second.traces) >
             std::tuple(b.second.worst, b.second.traces);
    });
    return ranked;
  }

 private:
  void Add(const DoctorTrace& trace) {
    if (trace.error) {
      ++failed;
      return;
    }
    ++by_severity[static_cast<size_t>(trace.severity)];
    std::map<std::string_view, Harm> found;  // each rule once
    for (const DoctorFinding& finding : trace.findings) {
      Harm& worst = found[finding.rule];
      worst = std::max(worst, finding.severity);
      rules[finding.rule].title = finding.title;
    }
    for (const auto& [rule, severity] : found) {
      RuleSum& sum = rules.find(std::string(rule))->second;
      sum.worst = std::max(sum.worst, severity);
      ++sum.traces;
      ++sum.by_severity[static_cast<size_t>(severity)];
    }
  }
};

/// How bad a trace is beside others of the same severity: its findings of that severity, and how
/// much the worst of them concerns.
std::tuple<Harm, size_t, uint64_t> RankOf(const DoctorTrace& trace) {
  size_t findings = 0;
  uint64_t weight = 0;
  for (const DoctorFinding& finding : trace.findings) {
    if (finding.severity != trace.severity) continue;
    ++findings;
    weight = std::max(weight, finding.weight);
  }
  return {trace.severity, findings, weight};
}

std::string NameOfTrace(const DoctorTrace& trace) {
  return trace.session && *trace.session > 1
             ? fmt::format("{} session {}", trace.file, *trace.session)
             : trace.file;
}

std::vector<LogStatus> StatusesOfTraces(const DoctorTraces& traces) {
  std::vector<LogStatus> statuses;
  for (const DoctorTrace& trace : traces)
    statuses.push_back({NameOfTrace(trace), CodeOf(trace),
                        trace.error ? std::optional(fmt::format("{}: {}", trace.file, *trace.error))
                                    : std::nullopt});
  return statuses;
}

void PrintRules(Report& report, const FleetSum& sum, uint64_t read) {
  Table table({{"traces", Align::kRight},
               {"share", Align::kRight},
               {"severity", Align::kLeft},
               {"finding", Align::kLeft}});
  for (const auto& [id, rule] : sum.Ranked())
    for (size_t i = kHarms; i-- > 0;) {
      const uint64_t traces_with = rule.by_severity[i];
      if (traces_with > 0)
        table.AddRow({WithCommas(traces_with), ShareText(traces_with, read),
                      HarmText(static_cast<Harm>(i)), Printable(id)});
    }
  report.Section("", table);
}

/// The worst traces, a paragraph each.
void PrintWorst(Report& report, const DoctorTraces& traces, const LogNames& names, uint64_t limit) {
  std::vector<size_t> worst;
  for (size_t i = 0; i < traces.size(); ++i)
    if (!traces[i].error && IsToKnow(traces[i].severity)) worst.push_back(i);
  std::ranges::stable_sort(
      worst, [&](size_t a, size_t b) { return RankOf(traces[a]) > RankOf(traces[b]); });
  if (worst.empty()) return;
  report.Heading("Worst traces");
  const size_t shown = limit == 0 ? worst.size() : std::min<size_t>(limit, worst.size());
  for (size_t i = 0; i < shown; ++i) {
    const DoctorTrace& trace = traces[worst[i]];
    report.Print(Wrap(fmt::format("{}: {}: {}", names.names[worst[i]], HarmText(trace.severity),
                                  Printable(trace.verdict)),
                      "- ") +
                 "\n");
  }
  if (shown < worst.size())
    report.Print(fmt::format("- and {} more; --limit 0 lists them\n", worst.size() - shown));
}

/// Traces that differ from the others, a line each.
void PrintOutliers(Report& report, const DoctorTraces& traces, const LogNames& names, uint64_t read,
                   uint64_t limit) {
  const std::vector<DoctorOutlier> outliers = OutliersOf(traces);
  if (outliers.empty()) return;
  report.Heading("Outliers");
  const size_t shown = limit == 0 ? outliers.size() : std::min<size_t>(limit, outliers.size());
  for (size_t i = 0; i < shown; ++i) {
    const DoctorOutlier& outlier = outliers[i];
    report.Print(Wrap(fmt::format("{}: {} [{}]: {}", names.names[outlier.trace],
                                  Printable(outlier.finding->rule),
                                  HarmText(outlier.finding->severity), OutlierText(outlier, read)),
                      "- ") +
                 "\n");
  }
  if (shown < outliers.size())
    report.Print(fmt::format("- and {} more; --limit 0 lists them\n", outliers.size() - shown));
}

std::string SeveritiesText(const FleetSum& sum) {
  std::vector<std::string> parts;
  for (size_t i = kHarms; i-- > 0;)
    if (sum.by_severity[i] > 0)
      parts.push_back(
          fmt::format("{} {}", WithCommas(sum.by_severity[i]), HarmText(static_cast<Harm>(i))));
  if (sum.failed > 0) parts.push_back(fmt::format("{} could not be read", WithCommas(sum.failed)));
  return Joined(parts);
}

Json SeveritiesJson(const SeverityCounts& counts) {
  Json severities = Json::object();
  for (size_t i = 0; i < kHarms; ++i) severities[kEnumNames<Harm>[i]] = counts[i];
  return severities;
}

Json TotalsJson(const DoctorTraces& traces) {
  const FleetSum sum(traces);
  Json rules = Json::array();
  for (const auto& [id, rule] : sum.Ranked())
    rules.push_back({{"rule", id},
                     {"severity", Name(rule.worst)},
                     {"title", rule.title},
                     {"traces", rule.traces},
                     {"by_severity", SeveritiesJson(rule.by_severity)}});
  Json outliers = Json::array();
  for (const DoctorOutlier& outlier : OutliersOf(traces)) {
    const DoctorTrace& trace = traces[outlier.trace];
    outliers.push_back({{"file", trace.file},
                        {"session", trace.session ? Json(*trace.session) : Json()},
                        {"rule", outlier.finding->rule},
                        {"severity", Name(outlier.finding->severity)},
                        {"traces", outlier.traces},
                        {"weight", outlier.finding->weight},
                        {"median", outlier.median == 0 ? Json() : Json(outlier.median)}});
  }
  return {{"traces", traces.size()},
          {"failed", sum.failed},
          {"by_severity", SeveritiesJson(sum.by_severity)},
          {"rules", std::move(rules)},
          {"outliers", std::move(outliers)}};
}

Table FindingTable() {
  std::vector<Column> columns;
  for (const char* key : {"file", "session", "rule", "severity", "what", "where", "remedy"})
    columns.push_back(DataColumn(key, kInCsv));
  return Table(std::move(columns));
}

void PrintCsv(Console& console, const DoctorTraces& traces) {
  Table table = FindingTable();
  console.Print(table.CsvTitles());
  for (const DoctorTrace& trace : traces) {
    table.RemoveRows();
    for (const DoctorFinding& finding : trace.findings)
      table.AddRow(DataCells({trace.file, trace.session, finding.rule, Name(finding.severity),
                              finding.what, finding.where, finding.remedy}));
    if (trace.error)
      table.AddRow(DataCells(
          {trace.file, trace.session, Json(), Name(trace.severity), *trace.error, Json(), Json()}));
    console.Print(table.CsvRows());
  }
}

/// @param config of the session, if it is known
DoctorTrace ResultOf(std::string file, Diagnosis diagnosis, std::optional<Bytes> config) {
  DoctorTrace trace;
  trace.file = std::move(file);
  const std::vector<ConfigChange> changes = ChangesOf(diagnosis);
  if (config && !changes.empty()) trace.config = ChangedConfig(ReusableConfig(*config), changes);
  trace.verdict = std::move(diagnosis.verdict);
  trace.severity = diagnosis.harm;
  trace.answer = std::move(diagnosis.answer);
  for (const StatRow& row : diagnosis.counters)
    trace.counters.push_back({row.name, row.index, row.value, row.severity,
                              row.machine == 0 ? std::nullopt : std::optional(row.machine)});
  for (Finding& finding : diagnosis.findings)
    trace.findings.push_back(
        {finding.rule->id, finding.harm, finding.rule->title, std::move(finding.what),
         std::move(finding.where), std::move(finding.cause), std::move(finding.proof),
         std::move(finding.remedy), finding.weight, std::move(finding.changes)});
  trace.well = std::move(diagnosis.well);
  trace.unknown = std::move(diagnosis.unknown);
  return trace;
}

}  // namespace

DoctorTrace Diagnosed(std::string file, const TraceFacts& facts, const ReplayFacts* replay) {
  DoctorTrace trace =
      ResultOf(std::move(file), Diagnose(facts, replay),
               facts.config ? std::optional(wire::AsBytes(*facts.config)) : std::nullopt);
  trace.service_version = facts.service_version;
  return trace;
}

DoctorTrace DiagnosedConfig(std::string file, Bytes config) {
  return ResultOf(std::move(file), DiagnoseConfig(config), config);
}

DoctorTrace UnreadableTrace(std::string file, Error error) {
  DoctorTrace trace;
  trace.file = std::move(file);
  if (error.where.path == trace.file) error.where.path.clear();
  trace.verdict = "It could not be read.";
  trace.severity = Harm::kError;
  trace.error = error.ToString();
  trace.answer = {.severity = Harm::kError, .headline = *trace.error, .lines = {}};
  return trace;
}

void KeepRule(DoctorTrace& trace, const std::string& rule) {
  trace.config.reset();
  std::erase_if(trace.findings, [&](const DoctorFinding& finding) { return finding.rule != rule; });
  if (trace.error) return;
  trace.verdict = trace.findings.empty() ? fmt::format("'{}' finds nothing here.", rule)
                                         : trace.findings.front().what;
  trace.severity = trace.findings.empty() ? Harm::kOk : trace.findings.front().severity;
}

ExitCode CodeOf(const DoctorTrace& trace) {
  if (trace.error) return ExitCode::kFailed;
  const bool any = std::ranges::any_of(
      trace.findings, [](const DoctorFinding& finding) { return IsToKnow(finding.severity); });
  return any ? ExitCode::kNotice : ExitCode::kClean;
}

ExitCode CodeOf(const DoctorTraces& traces) { return WorstOf(StatusesOfTraces(traces)); }

Status WriteTraces(Console& console, const std::string& format, const DoctorTraces& traces,
                   const ShardsHeld& shards) {
  const std::string missing = shards.MissingText();
  if (format != "json" && !missing.empty()) console.Warn(missing);
  if (format == "csv") {
    PrintCsv(console, traces);
  } else if (format == "jsonl") {
    for (const DoctorTrace& trace : traces) console.Print(FieldsToJson(trace).dump() + "\n");
  } else {
    Report report(console, format, "doctor");
    report.Data("schema", kDoctorSchema);
    ReportShards(report, shards);
    report.Data("traces", FieldsToJson(traces));
    if (traces.size() != 1) report.Data("totals", TotalsJson(traces));
    return report.Finish();
  }
  return {};
}

Result<ExitCode> ReportLogs(Console& console, const std::string& format, const DoctorTraces& traces,
                            const ShardsHeld& shards, uint64_t limit) {
  const ExitCode code = shards.CodeWith(CodeOf(traces));
  if (format != "text") {
    RS_RETURN_IF_ERROR(WriteTraces(console, format, traces, shards));
    return code;
  }
  Report report(console, format, "doctor");
  const FleetSum sum(traces);
  const std::vector<LogStatus> statuses = StatusesOfTraces(traces);
  const LogNames names = ShortNames(statuses);
  report.Print(
      Wrap(fmt::format("{}: {}", report.Bold(Count(traces.size(), "trace")), SeveritiesText(sum)),
           size_t{0}) +
      "\n");
  if (!names.pattern.empty()) report.Print(names.pattern + "\n");
  PrintRules(report, sum, traces.size() - sum.failed);
  PrintWorst(report, traces, names, limit);
  PrintOutliers(report, traces, names, traces.size() - sum.failed, limit);
  if (sum.failed > 0) report.Print("\n" + FailuresText(statuses));
  ReportShards(report, shards);
  return code;
}

}  // namespace ringscope
