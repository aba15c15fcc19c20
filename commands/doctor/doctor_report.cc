#include "commands/doctor/doctor_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
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

void PrintFinding(Report& report, size_t number, const Finding& finding) {
  report.Print("\n");
  report.PrintWrapped(StyleOf(finding.harm), fmt::format("{}. {}", number, finding.rule->title),
                      fmt::format(" [{}] ({})", HarmText(finding.harm), finding.rule->id));
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

std::string NameOf(const DoctorTrace& trace) {
  return trace.session ? fmt::format("{}: session {}", Printable(trace.file), *trace.session)
                       : Printable(trace.file);
}

void PrintVerdict(Report& report, const DoctorTrace& trace) {
  const Diagnosis& diagnosis = trace.diagnosis;
  report.PrintWrapped(StyleOf(diagnosis.harm),
                      fmt::format("{}: {}:", NameOf(trace), HarmText(diagnosis.harm)),
                      " " + Printable(trace.error.value_or(diagnosis.verdict)));
}

/// Traces with the same findings: rules of warnings and worse, or that they could not be read. The
/// worst and largest groups first.
using TraceGroup =
    std::pair<std::pair<Harm, std::set<std::string>>, std::vector<const DoctorTrace*>>;

std::vector<TraceGroup> GroupsOf(const DoctorTraces& traces) {
  std::map<std::pair<Harm, std::set<std::string>>, std::vector<const DoctorTrace*>> groups;
  for (const DoctorTrace& trace : traces) {
    std::set<std::string> rules;
    for (const Finding& finding : trace.diagnosis.findings)
      if (finding.harm >= Harm::kWarning) rules.insert(finding.rule->id);
    if (trace.error) rules = {"not readable"};
    groups[{trace.diagnosis.harm, std::move(rules)}].push_back(&trace);
  }
  std::vector<TraceGroup> sorted(groups.begin(), groups.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const TraceGroup& group) {
    return std::pair(group.first.first, group.second.size());
  });
  return sorted;
}

Json GroupsJson(const DoctorTraces& traces) {
  Json groups = Json::array();
  for (const auto& [key, members] : GroupsOf(traces)) {
    Json files = Json::array();
    for (const DoctorTrace* trace : members) files.push_back(trace->file);
    groups.push_back({{"severity", Name(key.first)},
                      {"findings", key.second},
                      {"traces", members.size()},
                      {"files", std::move(files)}});
  }
  return groups;
}

void PrintCsv(Console& console, const DoctorTraces& traces) {
  std::vector<Column> columns;
  for (const char* key : {"input", "session", "rule", "severity", "what", "where", "remedy"})
    columns.push_back(DataColumn(key, kInCsv));
  Table table(std::move(columns));
  for (const DoctorTrace& trace : traces) {
    for (const Finding& finding : trace.diagnosis.findings)
      table.AddRow(DataCells({trace.file, trace.session, finding.rule->id, Name(finding.harm),
                              finding.what, finding.where, finding.remedy}));
    if (trace.error)
      table.AddRow(DataCells({trace.file, trace.session, Json(), Name(trace.diagnosis.harm),
                              *trace.error, Json(), Json()}));
  }
  console.Print(table.CsvTitles() + table.CsvRows());
}

}  // namespace

void PrintManyTraces(Report& report, const DoctorTraces& traces, uint64_t limit) {
  std::vector<const DoctorTrace*> worst;
  for (const DoctorTrace& trace : traces)
    if (trace.diagnosis.harm >= Harm::kWarning) worst.push_back(&trace);
  std::ranges::stable_sort(worst, std::ranges::greater(),
                           [](const DoctorTrace* trace) { return trace->diagnosis.harm; });
  const size_t shown = limit == 0 ? worst.size() : std::min<size_t>(limit, worst.size());
  for (size_t i = 0; i < shown; ++i) PrintVerdict(report, *worst[i]);
  if (shown < worst.size())
    report.Print(fmt::format("and {} more; --limit 0 lists them\n", worst.size() - shown));
  Table table({{"traces", Align::kRight},
               {"severity", Align::kLeft},
               {"findings", Align::kLeft},
               {"for example", Align::kLeft}});
  for (const auto& [key, members] : GroupsOf(traces))
    table.AddRow({WithCommas(members.size()), HarmText(key.first),
                  key.second.empty() ? "none" : fmt::format("{}", fmt::join(key.second, ", ")),
                  Printable(members.front()->file)});
  report.Section("", table);
}

Status WriteTraces(Console& console, const std::string& format, const DoctorTraces& traces) {
  if (format == "csv") {
    PrintCsv(console, traces);
  } else if (format == "jsonl") {
    console.Print(JsonText(JsonDocument("doctor")) + "\n");
    for (const DoctorTrace& trace : traces) console.Print(JsonText(FieldsToJson(trace)) + "\n");
  } else {
    Report report(console, format, "doctor");
    report.Data("traces", FieldsToJson(traces));
    if (traces.size() != 1) report.Data("groups", GroupsJson(traces));
    return report.Finish();
  }
  return {};
}

void PrintBrief(Report& report, const DoctorTrace& trace) {
  PrintAnswer(report, NameOf(trace), trace.diagnosis.answer);
}

void PrintTrace(Report& report, const DoctorTrace& trace, uint64_t limit) {
  PrintVerdict(report, trace);
  if (trace.replay)
    report.Paragraph(Printable(fmt::format("Based on a replay with {}.", *trace.replay)));
  const std::vector<Finding>& findings = trace.diagnosis.findings;
  const size_t shown = limit == 0 ? findings.size() : std::min<size_t>(limit, findings.size());
  for (size_t i = 0; i < shown; ++i) PrintFinding(report, i + 1, findings[i]);
  if (shown < findings.size())
    report.Print(fmt::format("\nand {}; --limit 0 lists them\n",
                             Count(findings.size() - shown, "further finding")));
  PrintList(report, "Checked: no problem", trace.diagnosis.well);
  PrintList(report, "Not known", trace.diagnosis.unknown);
  if (trace.config) {
    report.Heading("The trace's config with these changes");
    report.Print(*trace.config);
  }
}

}  // namespace ringscope
