#include "commands/doctor/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "commands/shell/text.h"
#include "commands/view/table.h"

namespace ringscope {
namespace {

constexpr size_t kPartIndent = 3;

/// "   Where:   buffer 0", unless there is nothing to print.
void PrintPart(Report& report, const char* title, const std::string& text) {
  if (text.empty()) return;
  report.Print(Wrap(Printable(text), fmt::format("{:{}}{:<9}", "", kPartIndent, title)) + "\n");
}

void PrintFinding(Report& report, size_t number, const DoctorFinding& finding) {
  report.Print("\n");
  report.PrintWrapped(
      StyleOf(finding.severity), fmt::format("{}. {}", number, Printable(finding.title)),
      fmt::format(" [{}] ({})", HarmText(finding.severity), Printable(finding.rule)));
  PrintPart(report, "What:", finding.what);
  PrintPart(report, "Where:", finding.where);
  PrintPart(report, "Cause:", finding.cause);
  PrintPart(report, "Proof:", finding.proof);
  PrintPart(report, "Remedy:", finding.remedy);
  for (const ConfigChange& change : finding.changes)
    report.Print(
        Wrap(Printable(fmt::format("{}: {}  # {}{}", change.path, change.value, change.reason,
                                   change.is_estimate ? " (an estimate)" : "")),
             kPartIndent + 9) +
        "\n");
}

void PrintList(Report& report, const char* title, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  report.Heading(title);
  for (const std::string& text : texts) report.Print(Wrap(Printable(text), "- ") + "\n");
}

bool NamesABuffer(const DoctorFinding& finding) {
  return finding.where.find("buffer ") != std::string::npos;
}

std::string NameOf(const DoctorTrace& trace) {
  return trace.session ? fmt::format("{}: session {}", Printable(trace.file), *trace.session)
                       : Printable(trace.file);
}

/// Traces with the same findings.
struct TraceGroup {
  Harm severity = Harm::kOk;
  std::vector<std::string> findings;  // rules of warnings and worse, or why none could be read
  std::vector<const DoctorTrace*> traces;
};

/// The worst and largest groups first.
std::vector<TraceGroup> GroupsOf(const DoctorTraces& traces) {
  std::map<std::pair<Harm, std::vector<std::string>>, TraceGroup> groups;
  for (const DoctorTrace& trace : traces) {
    std::vector<std::string> rules;
    for (const DoctorFinding& finding : trace.findings)
      if (finding.severity >= Harm::kWarning &&
          std::ranges::find(rules, finding.rule) == rules.end())
        rules.push_back(finding.rule);
    std::ranges::sort(rules);
    if (trace.error) rules = {"not readable"};
    TraceGroup& group = groups[{trace.severity, rules}];
    group.severity = trace.severity;
    group.findings = std::move(rules);
    group.traces.push_back(&trace);
  }
  std::vector<TraceGroup> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, [](const TraceGroup& a, const TraceGroup& b) {
    return std::tuple(a.severity, a.traces.size()) > std::tuple(b.severity, b.traces.size());
  });
  return sorted;
}

Json GroupsJson(const DoctorTraces& traces) {
  Json groups = Json::array();
  for (const TraceGroup& group : GroupsOf(traces)) {
    Json files = Json::array();
    for (const DoctorTrace* trace : group.traces) files.push_back(trace->file);
    groups.push_back({{"severity", Name(group.severity)},
                      {"findings", group.findings},
                      {"traces", group.traces.size()},
                      {"files", std::move(files)}});
  }
  return groups;
}

void PrintCsv(Console& console, const DoctorTraces& traces) {
  std::vector<Column> columns;
  for (const char* key : {"file", "session", "rule", "severity", "what", "where", "remedy"})
    columns.push_back(DataColumn(key, kInCsv));
  Table table(std::move(columns));
  for (const DoctorTrace& trace : traces) {
    for (const DoctorFinding& finding : trace.findings)
      table.AddRow(DataCells({trace.file, trace.session, finding.rule, Name(finding.severity),
                              finding.what, finding.where, finding.remedy}));
    if (trace.error)
      table.AddRow(DataCells(
          {trace.file, trace.session, Json(), Name(trace.severity), *trace.error, Json(), Json()}));
  }
  console.Print(table.CsvTitles() + table.CsvRows());
}

}  // namespace

void PrintManyTraces(Report& report, const DoctorTraces& traces, uint64_t limit) {
  std::vector<const DoctorTrace*> worst;
  for (const DoctorTrace& trace : traces)
    if (trace.severity >= Harm::kWarning) worst.push_back(&trace);
  std::ranges::stable_sort(worst, std::ranges::greater(), &DoctorTrace::severity);
  const size_t shown = limit == 0 ? worst.size() : std::min<size_t>(limit, worst.size());
  for (size_t i = 0; i < shown; ++i)
    report.PrintWrapped(StyleOf(worst[i]->severity),
                        fmt::format("{}: {}:", NameOf(*worst[i]), HarmText(worst[i]->severity)),
                        " " + Printable(worst[i]->error ? *worst[i]->error : worst[i]->verdict));
  if (shown < worst.size())
    report.Print(fmt::format("and {} more; --limit 0 lists them\n", worst.size() - shown));
  Table table({{"traces", Align::kRight},
               {"severity", Align::kLeft},
               {"findings", Align::kLeft},
               {"for example", Align::kLeft}});
  for (const TraceGroup& group : GroupsOf(traces))
    table.AddRow({WithCommas(group.traces.size()), HarmText(group.severity),
                  group.findings.empty() ? "none" : Joined(group.findings),
                  Printable(group.traces.front()->file)});
  report.Section("", table);
}

Status WriteTraces(Console& console, const std::string& format, const DoctorTraces& traces) {
  if (format == "csv") {
    PrintCsv(console, traces);
  } else if (format == "jsonl") {
    for (const DoctorTrace& trace : traces) console.Print(JsonText(FieldsToJson(trace)) + "\n");
  } else {
    Report report(console, format, "doctor");
    report.Data("schema", "ringscope.doctor");
    report.Data("traces", FieldsToJson(traces));
    if (traces.size() != 1) report.Data("groups", GroupsJson(traces));
    return report.Finish();
  }
  return {};
}

void PrintBrief(Report& report, const DoctorTrace& trace) {
  PrintAnswer(report, NameOf(trace), trace.answer);
}

void PrintTrace(Report& report, const DoctorTrace& trace, uint64_t limit) {
  report.PrintWrapped(StyleOf(trace.severity),
                      fmt::format("{}: {}:", NameOf(trace), HarmText(trace.severity)),
                      " " + Printable(trace.error ? *trace.error : trace.verdict));
  if (trace.replay)
    report.Paragraph(Printable(fmt::format("Based on a replay with {}.", *trace.replay)));
  const size_t all = trace.findings.size();
  const size_t shown = limit == 0 ? all : std::min<size_t>(limit, all);
  for (size_t i = 0; i < shown; ++i) PrintFinding(report, i + 1, trace.findings[i]);
  if (shown < all)
    report.Print(
        fmt::format("\nand {}; --limit 0 lists them\n", Count(all - shown, "further finding")));
  // Of a log, buffers have the log's numbers.
  if (!trace.replay && std::ranges::any_of(trace.findings, NamesABuffer))
    report.Print("\nA buffer's number is its index in the config: buffer 0 is buffers[0].\n");
  PrintList(report, "Checked: no problem", trace.well);
  PrintList(report, "Not known", trace.unknown);
  if (trace.config) {
    report.Heading("The trace's config with these changes");
    report.Print(*trace.config);
  }
}

}  // namespace ringscope
