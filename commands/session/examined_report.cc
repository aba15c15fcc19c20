#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/session/examined.h"
#include "commands/shell/values.h"
#include "commands/view/table.h"

namespace ringscope {
namespace {

constexpr size_t kPartIndent = 3;
/// Findings of a trace that a screen has, the worst one in full; lines on what is not known.
constexpr size_t kFindingsListed = 5;
constexpr size_t kUnknownListed = 2;
constexpr size_t kGroupsListed = 10;  // of many traces

/// "   Where:   buffer 0", unless there is nothing to print.
void PrintPart(Report& report, const char* title, const Sentence& sentence) {
  if (sentence.empty()) return;
  report.Paragraph(Printable(sentence.text), fmt::format("{:{}}{:<9}", "", kPartIndent, title));
}

/// @param is_alone no other finding has its title
void PrintFinding(Report& report, size_t number, const Finding& finding, bool in_full,
                  bool is_alone) {
  report.Print(in_full || number == 2 ? "\n" : "");
  report.PrintWrapped(StyleOf(finding.harm),
                      fmt::format("{}. {}{}{}", number, finding.rule->title,
                                  is_alone || finding.where.empty() ? "" : ": ",
                                  is_alone ? "" : Printable(finding.where.text)),
                      fmt::format(" [{}] ({})", HarmText(finding.harm), finding.rule->id));
  PrintPart(report, "What:", finding.what);
  if (!in_full) return;
  PrintPart(report, "Where:", finding.where);
  PrintPart(report, "Cause:", finding.cause);
  PrintPart(report, "Proof:", finding.proof);
  PrintPart(report, "Remedy:", finding.remedy);
  for (const ConfigChange& change : finding.changes)
    report.Paragraph(
        Printable(fmt::format("{}{}: {}{}{}{}", change.is_alternative ? "or " : "", change.path,
                              change.value, change.reason.empty() ? "" : "  # ", change.reason,
                              change.is_estimate ? " (an estimate)" : "")),
        std::string(kPartIndent + 9, ' '));
}

/// Returns how many of these are printed: one more takes the line that would say that it is left
/// out.
size_t ShownOf(size_t all, size_t most) { return all <= most || all - most == 1 ? all : most; }

void PrintMore(Report& report, size_t more, const char* what) {
  if (more > 0) report.Print(fmt::format("... and {}; --all lists them\n", Count(more, what)));
}

void PrintList(Report& report, const char* title, const std::vector<std::string>& texts,
               size_t most = SIZE_MAX) {
  if (texts.empty()) return;
  report.Heading(title);
  const size_t shown = ShownOf(texts.size(), most);
  for (size_t i = 0; i < shown; ++i) report.Paragraph(Printable(texts[i]), "- ");
  PrintMore(report, texts.size() - shown, "more line");
}

void PrintHeadline(Report& report, const Examination& trace) {
  const Answer& answer = trace.answer;
  report.PrintWrapped(StyleOf(answer.severity),
                      fmt::format("{}: {}:", NameOf(trace), HarmText(answer.severity)),
                      " " + Printable(answer.headline));
}

/// Prints what each data source of the config delivered.
void PrintSources(Report& report, const Examination& trace) {
  if (trace.sources.empty()) return;
  Table table({{"data source"},
               {"in"},
               {""},
               {"packets", Align::kRight},
               {"usable", Align::kRight},
               {"first", Align::kRight},
               {"last", Align::kRight},
               {"losses", Align::kRight}});
  const int64_t start_ns = trace.subject.time ? trace.subject.time->first_ns : 0;
  const auto time = [&](const SourceAccount& source, int64_t TimeSpan::*ns) {
    return source.amount.span ? Time("", (*source.amount.span).*ns - start_ns).text : "-";
  };
  for (const SourceAccount& source : trace.sources)
    table.AddRow({Printable(source.name), fmt::format("[{}]", source.buffer),
                  std::string(RowOf(source.state).text), WithCommas(source.amount.packets),
                  WithCommas(source.amount.packets - source.unusable),
                  time(source, &TimeSpan::first_ns), time(source, &TimeSpan::last_ns),
                  source.places == 0 ? "0" : WithCommas(source.places) + "x"});
  report.Section("What each data source delivered, from its first to its last event", table, 2);
}

/// "12 packets", or "unknown".
std::string AmountText(const Hole& hole) {
  if (hole.packets) return Count(*hole.packets, hole.stage == Stage::kImport ? "event" : "packet");
  return hole.places > 1 ? fmt::format("unknown, {} places", WithCommas(hole.places)) : "unknown";
}

/// Prints for each line of the config that findings change to a number which values would do for
/// half of the traces, for nearly all, and for all.
void PrintChanges(Report& report, const Examinations& traces) {
  std::map<std::string, std::vector<uint64_t>> wanted;  // a value of each trace that wants one
  for (const Examination& trace : traces) {
    std::map<std::string, uint64_t> own;
    for (const Finding& finding : trace.findings)
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
        values.size() == 1 ? "one that needs it" : WithCommas(values.size()) + " that need it";
    std::string text = fmt::format("{}: {} for {} {}", path, fits(50),
                                   fits(50) == fits(100) ? "the" : "half of the", those);
    if (fits(95) != fits(50) && fits(95) != fits(100))
      text += fmt::format(", {} for 95%", fits(95));
    if (fits(50) != fits(100)) text += fmt::format(", {} for all", fits(100));
    report.Paragraph(text, "  ");
  }
}

void PrintCsv(Console& console, const Examinations& traces) {
  constexpr std::string_view kColumns = "input session rule severity what where remedy";
  console.Print(CsvTitles(kColumns));
  for (const Examination& trace : traces) {
    const auto print = [&](Json row) {
      row.update(
          Json{{"input", trace.subject.file}, {"session", FieldsToJson(trace.subject.session)}});
      console.Print(CsvRow(kColumns, row));
    };
    for (const Finding& finding : trace.findings) print(FieldsToJson(finding));
    if (trace.error) print({{"severity", Name(Harm::kError)}, {"what", *trace.error}});
  }
}

}  // namespace

void ListFields(JsonFieldWriter& io, const Hole& hole) {
  io("stage", hole.stage, "sequence", hole.sequence, "where", hole.where, "from_ns",
     hole.span.first_ns, "to_ns", hole.span.last_ns, "packets", hole.packets, "unusable",
     hole.is_unusable, "places", hole.places, "what", hole.what, "previous_packet_dropped",
     hole.loss_bits, "remedy", hole.remedy);
}

void ListFields(JsonFieldWriter& io, const std::pair<const uint32_t, Reach>& reach) {
  io("buffer", reach.first, "reach_ns", reach.second.ns, "estimate", reach.second.is_estimate);
}

void ListFields(JsonFieldWriter& io, const SourceAccount& source) {
  io("data_source", source.name, "buffer", source.buffer, "state", source.state, "sequences",
     source.sequences, "packets", source.amount.packets, "bytes", source.amount.bytes, "unusable",
     source.unusable, "places", source.places);
  if (source.amount.span)
    io("first_event_ns", source.amount.span->first_ns, "last_event_ns",
       source.amount.span->last_ns);
  io.UnlessEmpty("why", source.why.text);
  io.UnlessEmpty("remedy", source.change.text);
}

void ListFields(JsonFieldWriter& io, const Examination& examination) {
  const Subject& subject = examination.subject;
  const Answer& answer = examination.answer;
  io("input", subject.file);
  io.UnlessEmpty("session", subject.session);
  io.UnlessEmpty("replay", subject.replay);
  io("verdict", answer.headline, "severity", answer.severity, "answer", answer);
  io.UnlessEmpty("error", examination.error);
  io("stages", examination.account, "sources", examination.sources, "counters",
     examination.counters, "findings", examination.findings, "well", examination.well, "unknown",
     examination.unknown, "figures", examination.figures, "reach",
     std::vector(examination.reach.begin(), examination.reach.end()), "holes", examination.holes);
  io.UnlessEmpty("remedies", examination.remedies.remedies);
  io.UnlessEmpty("config", examination.changed_config);
  io.UnlessEmpty("broken_limits", examination.broken_limits);
}

std::string NameOf(const Examination& trace) {
  return trace.subject.session && !trace.subject.is_only_session
             ? fmt::format("{}: session {}", Printable(trace.subject.file), *trace.subject.session)
             : Printable(trace.subject.file);
}

std::vector<ExaminationGroup> GroupsOf(const Examinations& traces) {
  std::map<std::pair<Harm, std::set<std::string>>, std::vector<const Examination*>> groups;
  for (const Examination& trace : traces) {
    std::set<std::string> rules;
    for (const Finding& finding : trace.findings)
      if (finding.harm >= Harm::kWarning) rules.emplace(finding.rule->id);
    if (trace.error) rules = {"not readable"};
    groups[{trace.answer.severity, std::move(rules)}].push_back(&trace);
  }
  std::vector<ExaminationGroup> sorted(groups.begin(), groups.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const ExaminationGroup& group) {
    return std::pair(group.first.first, group.second.size());
  });
  return sorted;
}

Json DoctorDocument(const Examinations& traces) {
  Json document = JsonDocument("doctor");
  document["traces"] = FieldsToJson(traces);
  if (traces.size() == 1) return document;
  Json& groups = document["groups"] = Json::array();
  for (const auto& [key, members] : GroupsOf(traces)) {
    Json files = Json::array();
    for (const Examination* trace : members) files.push_back(trace->subject.file);
    groups.push_back({{"severity", Name(key.first)},
                      {"findings", key.second},
                      {"traces", members.size()},
                      {"first", members.front() - traces.data()},  // index in "traces"
                      {"files", std::move(files)}});
  }
  return document;
}

std::string CountText(const Examinations& traces) {
  if (std::ranges::all_of(traces, [&](const Examination& trace) {
        return trace.subject.file == traces.front().subject.file;
      }))
    return Count(traces.size(), "session");
  std::set<std::string_view> nouns;
  for (const Examination& trace : traces)
    if (!trace.error)
      nouns.insert(trace.subject.is_config ? "config" : trace.subject.replay ? "log" : "trace");
  return Count(traces.size(), nouns.size() == 1 ? *nouns.begin() : "file");
}

void PrintMany(Report& report, const Examinations& traces, bool all) {
  const std::vector<ExaminationGroup> groups = GroupsOf(traces);
  report.Heading(CountText(traces) + ", by their findings");
  const size_t shown = all ? groups.size() : ShownOf(groups.size(), kGroupsListed);
  for (const auto& [key, members] : std::span(groups).first(shown)) {
    std::vector<std::string> titles;
    for (const std::string& rule : key.second)
      titles.push_back(members.front()->error ? "not readable" : RuleOf(rule).title);
    report.Paragraph(
        fmt::format("{}: {}; {}{}{}", HarmText(key.first),
                    titles.empty() ? "no warning" : Joined(titles),
                    members.size() == 1 ? "" : "for example ", NameOf(*members.front()),
                    members.front()->error ? ": " + *members.front()->error : ""),
        fmt::format("{:>6}  ", WithCommas(members.size())));
  }
  PrintMore(report, groups.size() - shown, "further row");
  PrintChanges(report, traces);
  if (!all)
    return report.Paragraph(
        "\n--all lists each; 'ringscope FILE' answers for one file, with --session N for one of "
        "its sessions.");
  report.Heading("Each, the worst first");
  for (const auto& [key, members] : groups)
    for (const Examination* trace : members)
      if (key.first >= Harm::kWarning) PrintHeadline(report, *trace);
}

std::string OwnerOf(const Examination& examination, const Hole& hole) {
  if (hole.sequence) return NameOf(examination.account.sequences[*hole.sequence]);
  return hole.where.empty() ? "the trace" : hole.where;
}

void PrintHoles(Report& report, const Examination& trace, size_t most) {
  if (trace.holes.empty() || trace.log != nullptr || most == 0) return;
  const int64_t start_ns = trace.subject.time ? trace.subject.time->first_ns : 0;
  Table table({{"of"}, {"from"}, {"to"}, {"what"}, {"how many"}});
  const size_t shown = ShownOf(trace.holes.size(), most);
  for (const Hole& hole : std::span(trace.holes).first(shown))
    table.AddRow({OwnerOf(trace, hole), Time("", hole.span.first_ns - start_ns).text,
                  Time("", hole.span.last_ns - start_ns).text, hole.what, AmountText(hole)});
  report.Section(fmt::format("Holes: {}", WithCommas(trace.holes.size())), table, 2);
  PrintMore(report, trace.holes.size() - shown, "more hole");
}

void WriteExaminations(Console& console, Format format, const ExaminedInputs& inputs) {
  const Examinations& traces = inputs.examinations;
  if (format == Format::kCsv) {
    PrintCsv(console, traces);
  } else if (format == Format::kJsonl) {
    console.Print(JsonText(JsonDocument("doctor")) + "\n");
    for (const Examination& trace : traces) console.Print(JsonText(FieldsToJson(trace)) + "\n");
  } else {
    Json document = DoctorDocument(traces);
    if (!inputs.passed_over.empty()) document["passed_over"] = inputs.passed_over;
    console.Print(JsonText(document, 2) + "\n");
  }
}

void PrintExamination(Report& report, const Examination& trace, bool brief, bool all) {
  if (brief) return PrintAnswer(report, NameOf(trace), trace.answer);
  PrintHeadline(report, trace);
  if (trace.subject.replay)
    report.Paragraph(Printable(fmt::format("Based on a replay with {}.", *trace.subject.replay)));
  const std::vector<Finding>& findings = trace.findings;
  const size_t shown = all ? findings.size() : ShownOf(findings.size(), kFindingsListed);
  for (size_t i = 0; i < shown; ++i)
    PrintFinding(report, i + 1, findings[i], all || i == 0,
                 std::ranges::count(findings, findings[i].rule, &Finding::rule) == 1);
  PrintMore(report, findings.size() - shown, "more finding");
  PrintSources(report, trace);
  if (all) PrintHoles(report, trace, SIZE_MAX);
  if (all && !trace.account.sequences.empty()) PrintStages(report, trace.account);
  PrintList(report, "Not known", trace.unknown, all ? SIZE_MAX : kUnknownListed);
  if (!all) {
    std::string last;
    if (!trace.well.empty())
      last = fmt::format("Checked without a problem: {}. ", Count(trace.well.size(), "rule"));
    if (!findings.empty())
      last += "--all explains each finding, and has the config with the changes.";
    if (!last.empty()) report.Paragraph("\n" + last);
    return;
  }
  PrintList(report, "Checked: no problem", trace.well);
  if (trace.changed_config) {
    report.Heading("The trace's config with these changes");
    report.Code(*trace.changed_config);
  }
}

}  // namespace ringscope
