#include "commands/session/examined.h"

namespace ringscope {
namespace {

/// Findings of a trace that a screen has, the worst one in full; lines on what is not known.
constexpr size_t kFindingsListed = 5;
constexpr size_t kUnknownListed = 2;
constexpr size_t kGroupsListed = 10;  // of many traces

/// @param is_alone no other finding has its title
void PrintFinding(Report& report, size_t number, const Finding& finding, bool in_full,
                  bool is_alone) {
  report.Print(in_full || number == 2 ? "\n" : "");
  report.PrintWrapped(StyleOf(finding.harm),
                      fmt::format("{}. {}{}{}", number, finding.rule->title,
                                  is_alone || finding.where.empty() ? "" : ": ",
                                  is_alone ? "" : Printable(finding.where.text)),
                      fmt::format(" [{}] ({})", HarmText(finding.harm), finding.rule->id));
  const std::pair<const char*, const Sentence&> parts[] = {{"What:", finding.what},
                                                           {"Where:", finding.where},
                                                           {"Cause:", finding.cause},
                                                           {"Proof:", finding.proof},
                                                           {"Remedy:", finding.remedy}};
  for (const auto& [title, sentence] : std::span(parts).first(in_full ? std::size(parts) : 1))
    if (!sentence.empty())
      report.Paragraph(Printable(sentence.text), fmt::format("   {:<9}", title));
  if (!in_full) return;
  for (const ConfigChange& change : finding.changes)
    report.Paragraph(
        Printable(fmt::format("{}{}: {}{}{}{}", change.is_alternative ? "or " : "", change.path,
                              change.value, change.reason.empty() ? "" : "  # ", change.reason,
                              change.is_estimate ? " (an estimate)" : "")),
        "            ");
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
  Table table({Left("data source"), Left("in"), Left(""), Right("packets"), Right("usable"),
               Right("first"), Right("last"), Right("losses")});
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

/// One session as text: the headline and the findings, the worst first.
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

/// Prints many as text: those with the same findings as one, the changes of the config that would
/// fit them, and the worst ones, a paragraph each.
void PrintMany(Report& report, const Examinations& traces, bool all) {
  const std::vector<ExaminationGroup> groups = GroupsOf(traces);
  report.Heading(CountText(traces) + ", by their findings");
  const size_t shown = all ? groups.size() : ShownOf(groups.size(), kGroupsListed);
  for (const ExaminationGroup& group : std::span(groups).first(shown)) {
    const auto& [key, members] = group;
    const Examination& example = *members.front();
    report.Paragraph(fmt::format("{}: {}; {}{}{}", HarmText(key.first), TitlesText(group),
                                 members.size() == 1 ? "" : "for example ", NameOf(example),
                                 example.error ? ": " + *example.error : ""),
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

/// Prints all for programs.
void WriteExaminations(Report& report, Format format, const ExaminedInputs& inputs) {
  const Examinations& traces = inputs.examinations;
  if (format == Format::kCsv) {
    constexpr std::string_view kColumns = "input session rule severity what where remedy";
    report.Print(CsvTitles(kColumns));
    for (const Examination& trace : traces) {
      const auto print = [&](Json row) {
        row.update(JsonOf("input", trace.subject.file, "session", trace.subject.session));
        report.Print(CsvRow(kColumns, row));
      };
      for (const Finding& finding : trace.findings) print(FieldsToJson(finding));
      if (trace.error) print({{"severity", Name(Harm::kError)}, {"what", *trace.error}});
    }
  } else if (format == Format::kJsonl) {
    report.Print(JsonText(JsonDocument("doctor")) + "\n");
    for (const Examination& trace : traces) report.Print(JsonText(FieldsToJson(trace)) + "\n");
  } else {
    report.Data(DoctorDocument(traces));
    if (!inputs.passed_over.empty()) report.Data("passed_over", inputs.passed_over);
    static_cast<void>(report.Finish());  // only a file can fail
  }
}

}  // namespace

void ListFields(JsonFieldWriter& io, const TriedOutcome& outcome) {
  io("written", outcome.written, "in_trace", outcome.in_trace, "lost", outcome.lost, "waiting",
     outcome.waiting);
}

void ListFields(JsonFieldWriter& io, const Remedy& remedy) {
  const auto* const size = remedy.As<SizeRemedy>();
  const auto* const split = remedy.As<SplitRemedy>();
  const auto* const memory = remedy.As<SharedMemoryRemedy>();
  io("kind", remedy.kind(), "buffer", remedy.buffer, "index", remedy.index, "data_sources",
     split == nullptr ? std::vector<std::string>() : split->sources, "producer",
     memory == nullptr ? std::nullopt : std::optional(memory->producer), "size", remedy.size,
     "least_size", size == nullptr ? 0 : size->least_size, "period_ns", remedy.period_ns,
     "alternative", remedy.is_alternative, "concerned_packets", remedy.concerned, "more_memory",
     remedy.memory, "keep_ns", remedy.keep_ns(), "reach_ns", remedy.reach_ns, "lost_now",
     remedy.now.lost, "now", remedy.now, "replayed", remedy.outcome, "estimate", remedy.formula,
     "changes", remedy.changes);
}

void ListFields(JsonFieldWriter& io, const StatRow& row) {
  io("name", row.name, "idx", row.index, "value", row.value, "severity", row.severity);
  if (row.machine != 0) io("machine", row.machine);
}

void ListFields(JsonFieldWriter& io, const Finding& finding) {
  io("rule", finding.rule->id, "severity", finding.harm, "title", finding.rule->title, "what",
     finding.what.text, "where", finding.where.text, "cause", finding.cause.text, "proof",
     finding.proof.text, "remedy", finding.remedy.text, "figures", finding.figures(), "weight",
     finding.weight, "changes", finding.changes);
}

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
  io.UnlessEmpty("why", source.why.text, "remedy", source.change.text);
}

void ListFields(JsonFieldWriter& io, const Examination& examination) {
  const Subject& subject = examination.subject;
  const Answer& answer = examination.answer;
  io("input", subject.file);
  io.UnlessEmpty("session", subject.session, "replay", subject.replay);
  io("verdict", answer.headline, "severity", answer.severity, "answer", answer);
  io.UnlessEmpty("error", examination.error);
  io("stages", examination.account, "sources", examination.sources, "counters",
     examination.counters, "findings", examination.findings, "well", examination.well, "unknown",
     examination.unknown, "figures", examination.figures, "reach",
     std::vector(examination.reach.begin(), examination.reach.end()), "holes", examination.holes);
  io.UnlessEmpty("remedies", examination.remedies.remedies, "config", examination.changed_config,
                 "broken_limits", examination.broken_limits);
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

std::string TitlesText(const ExaminationGroup& group, const char* between) {
  const auto& [key, members] = group;
  if (members.front()->error) return "not readable";
  std::vector<std::string> titles;
  for (const std::string& rule : key.second) titles.emplace_back(RuleOf(rule).title);
  return titles.empty() ? "no warning" : Joined(titles, between);
}

Json DoctorDocument(const Examinations& traces) {
  Json document = JsonDocument("doctor");
  document["traces"] = FieldsToJson(traces);
  if (traces.size() == 1) return document;
  Json& groups = document["groups"] = Json::array();
  for (const auto& [key, members] : GroupsOf(traces)) {
    Json files = Json::array();
    for (const Examination* trace : members) files.push_back(trace->subject.file);
    const auto first = members.front() - traces.data();  // index in "traces"
    groups.push_back(JsonOf("severity", key.first, "findings", Json(key.second), "traces",
                            members.size(), "first", first, "files", files));
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

std::string OwnerOf(const Examination& examination, const Hole& hole) {
  if (hole.sequence) return NameOf(examination.account.sequences[*hole.sequence]);
  return hole.where.empty() ? "the trace" : hole.where;
}

void PrintHoles(Report& report, const Examination& trace, size_t most) {
  if (trace.holes.empty() || trace.log != nullptr || most == 0) return;
  const int64_t start_ns = trace.subject.time ? trace.subject.time->first_ns : 0;
  Table table({Left("of"), Left("from"), Left("to"), Left("what"), Left("how many")});
  const size_t shown = ShownOf(trace.holes.size(), most);
  for (const Hole& hole : std::span(trace.holes).first(shown))
    table.AddRow({OwnerOf(trace, hole), Time("", hole.span.first_ns - start_ns).text,
                  Time("", hole.span.last_ns - start_ns).text, hole.what, AmountText(hole)});
  report.Section(fmt::format("Holes: {}", WithCommas(trace.holes.size())), table, 2);
  PrintMore(report, trace.holes.size() - shown, "more hole");
}

Result<ExitCode> ReportExaminations(Context& context, Format format, ExaminedInputs& inputs,
                                    const Gate& gate, bool brief, bool all) {
  Report report(context.console, format, "doctor");
  if (gate.is_set())
    for (Examination& examination : inputs.examinations)
      examination.broken_limits = gate.Broken(examination);
  if (!report.is_text()) {
    WriteExaminations(report, format, inputs);
    if (format != Format::kJson && !inputs.passed_over.empty())
      context.console.Say(PassedOverText(inputs.passed_over));
  } else if (inputs.are_grouped()) {
    PrintMany(report, inputs.examinations, all);
  } else {
    for (const Examination& examination : inputs.examinations) {
      if (&examination != inputs.examinations.data()) report.Print(brief ? "\n" : "\n\n");
      PrintExamination(report, examination, brief, all);
    }
  }
  if (report.is_text()) PrintBrokenLimits(report, inputs.examinations);
  if (report.is_text() && !inputs.passed_over.empty())
    report.Paragraph("\n" + PassedOverText(inputs.passed_over));
  return CodeOf(inputs.examinations, gate);
}

Result<ExitCode> ReportTraces(Context& context, const SessionSelection& input, Format format) {
  RS_ASSIGN_OR_RETURN(ExaminedInputs examined, ExamineInputs(context, input.paths, {}, input.only));
  const bool has_log = std::ranges::any_of(
      examined.examinations, [](const Examination& one) { return one.subject.replay.has_value(); });
  context.console.Say(fmt::format(
      "{}: {}; this is what doctor finds in it", Printable(input.paths.front()),
      has_log ? "advise takes one log, by its name" : "a trace has no commits to replay"));
  return ReportExaminations(context, format, examined, {}, /*brief=*/false, /*all=*/false);
}

}  // namespace ringscope
