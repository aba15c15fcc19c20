#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/doctor/doctor_trace.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/view/table.h"

namespace ringscope {
namespace {

constexpr size_t kPartIndent = 3;
/// Findings of a trace that a screen has with their sentence, and by their title; what is not
/// known. The worst finding is in full.
constexpr size_t kWithSentence = 3;
constexpr size_t kWithTitle = 5;
constexpr size_t kUnknownListed = 2;
constexpr size_t kGroupsListed = 10;  // of many traces

/// "   Where:   buffer 0", unless there is nothing to print.
void PrintPart(Report& report, const char* title, const Sentence& sentence) {
  if (sentence.empty()) return;
  report.Print(Wrap(Printable(sentence.text), fmt::format("{:{}}{:<9}", "", kPartIndent, title)) +
               "\n");
}

void PrintFinding(Report& report, size_t number, const Finding& finding, bool in_full) {
  report.Print(in_full || number == 2 ? "\n" : "");
  report.PrintWrapped(StyleOf(finding.harm), fmt::format("{}. {}", number, finding.rule->title),
                      fmt::format(" [{}] ({})", HarmText(finding.harm), finding.rule->id));
  if (in_full || number <= kWithSentence) PrintPart(report, "What:", finding.what);
  if (!in_full) return;
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

void PrintMore(Report& report, size_t more, const char* what) {
  if (more > 0) report.Print(fmt::format("... and {}; --all lists them\n", Count(more, what)));
}

void PrintList(Report& report, const char* title, const std::vector<std::string>& texts,
               size_t most = SIZE_MAX) {
  if (texts.empty()) return;
  report.Heading(title);
  const size_t shown = std::min(most, texts.size());
  for (size_t i = 0; i < shown; ++i) report.Print(Wrap(Printable(texts[i]), "- ") + "\n");
  PrintMore(report, texts.size() - shown, "more line");
}

std::string NameOf(const DoctorTrace& trace) {
  return trace.session && !trace.is_only_session
             ? fmt::format("{}: session {}", Printable(trace.file), *trace.session)
             : Printable(trace.file);
}

void PrintHeadline(Report& report, const DoctorTrace& trace) {
  const Answer& answer = trace.diagnosis.answer;
  report.PrintWrapped(StyleOf(answer.severity),
                      fmt::format("{}: {}:", NameOf(trace), HarmText(answer.severity)),
                      " " + Printable(answer.headline));
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
    groups[{trace.diagnosis.answer.severity, std::move(rules)}].push_back(&trace);
  }
  std::vector<TraceGroup> sorted(groups.begin(), groups.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const TraceGroup& group) {
    return std::pair(group.first.first, group.second.size());
  });
  return sorted;
}

/// Prints for each line of the config that findings change to a number which values would do for
/// half of the traces, for nearly all, and for all.
void PrintChanges(Report& report, const DoctorTraces& traces) {
  std::map<std::string, std::vector<uint64_t>> wanted;  // a value of each trace that wants one
  for (const DoctorTrace& trace : traces) {
    std::map<std::string, uint64_t> own;
    for (const Finding& finding : trace.diagnosis.findings)
      for (const ConfigChange& change : finding.changes)
        if (const auto value = ParseNumber(change.value, UINT64_MAX))
          own[change.path] = std::max(own[change.path], *value);
    for (const auto& [path, value] : own) wanted[path].push_back(value);
  }
  if (wanted.empty()) return;
  report.Heading("Changes that would fit");
  for (auto& [path, values] : wanted) {
    std::ranges::sort(values);
    const auto fits = [&values = values](size_t percent) {
      return values[(values.size() * percent + 99) / 100 - 1];
    };
    const std::string those =
        Count(values.size(), "trace") + (values.size() == 1 ? " that needs it" : " that need it");
    report.Print(Wrap(fits(50) == fits(100)
                          ? fmt::format("{}: {} for the {}", path, fits(100), those)
                          : fmt::format("{}: {} for half of the {}, {} for 95%, {} for all", path,
                                        fits(50), those, fits(95), fits(100)),
                      "  ") +
                 "\n");
  }
}

Json GroupsJson(const DoctorTraces& traces) {
  Json groups = Json::array();
  for (const auto& [key, members] : GroupsOf(traces)) {
    Json files = Json::array();
    for (const DoctorTrace* trace : members) files.push_back(trace->file);
    groups.push_back({{"severity", Name(key.first)},
                      {"findings", key.second},
                      {"traces", members.size()},
                      {"first", members.front() - traces.data()},  // index in "traces"
                      {"files", std::move(files)}});
  }
  return groups;
}

void PrintCsv(Console& console, const DoctorTraces& traces) {
  constexpr std::string_view kColumns = "input session rule severity what where remedy";
  console.Print(CsvTitles(kColumns));
  for (const DoctorTrace& trace : traces) {
    const auto print = [&](Json row) {
      row.update(Json{{"input", trace.file}, {"session", FieldsToJson(trace.session)}});
      console.Print(CsvRow(kColumns, row));
    };
    for (const Finding& finding : trace.diagnosis.findings) print(FieldsToJson(finding));
    if (trace.error) print({{"severity", Name(Harm::kError)}, {"what", *trace.error}});
  }
}

}  // namespace

void PrintManyTraces(Report& report, const DoctorTraces& traces, bool all) {
  const std::vector<TraceGroup> groups = GroupsOf(traces);
  report.Heading(fmt::format("{}, by their findings", Count(traces.size(), "trace")));
  const size_t shown = all ? groups.size() : std::min(groups.size(), kGroupsListed);
  for (const auto& [key, members] : std::span(groups).first(shown)) {
    std::vector<std::string> titles;
    for (const std::string& rule : key.second)
      titles.push_back(members.front()->error ? "not readable" : RuleOf(rule.c_str()).title);
    report.Print(
        Wrap(fmt::format("{}: {}; {}{}{}", HarmText(key.first),
                         titles.empty() ? "no finding" : Joined(titles),
                         members.size() == 1 ? "" : "for example ", NameOf(*members.front()),
                         members.front()->error ? ": " + *members.front()->error : ""),
             fmt::format("{:>6}  ", WithCommas(members.size()))) +
        "\n");
  }
  PrintMore(report, groups.size() - shown, "further row");
  PrintChanges(report, traces);
  if (!all) return report.Paragraph("\n--all lists each trace; 'ringscope FILE' answers for one.");
  report.Heading("Each trace, the worst first");
  for (const auto& [key, members] : groups)
    for (const DoctorTrace* trace : members)
      if (key.first >= Harm::kWarning) PrintHeadline(report, *trace);
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

void PrintTrace(Report& report, const DoctorTrace& trace, bool brief, bool all) {
  if (brief) return PrintAnswer(report, NameOf(trace), trace.diagnosis.answer);
  PrintHeadline(report, trace);
  if (trace.replay)
    report.Paragraph(Printable(fmt::format("Based on a replay with {}.", *trace.replay)));
  const Diagnosis& diagnosis = trace.diagnosis;
  const std::vector<Finding>& findings = diagnosis.findings;
  const size_t shown = all ? findings.size() : std::min(findings.size(), kWithTitle);
  for (size_t i = 0; i < shown; ++i) PrintFinding(report, i + 1, findings[i], all || i == 0);
  PrintMore(report, findings.size() - shown, "more finding");
  if (all && !diagnosis.stages.sequences.empty()) PrintStages(report, diagnosis.stages);
  PrintList(report, "Not known", diagnosis.unknown, all ? SIZE_MAX : kUnknownListed);
  if (!all) {
    std::string last;
    if (!diagnosis.well.empty())
      last = fmt::format("Checked without a problem: {}. ", Count(diagnosis.well.size(), "rule"));
    if (!findings.empty())
      last += "--all explains each finding, and has the config with the changes.";
    if (!last.empty()) report.Paragraph("\n" + last);
    return;
  }
  PrintList(report, "Checked: no problem", diagnosis.well);
  if (trace.config) {
    report.Heading("The trace's config with these changes");
    report.Print(*trace.config);
  }
}

}  // namespace ringscope
