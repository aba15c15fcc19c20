#include <xxhash.h>

#include <regex>

#include "commands/gaps/gaps_words.h"
#include "commands/log/logs.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/help.h"
#include "commands/sizes/sizes.h"
#include "formats/descriptors/described_kinds.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

constexpr size_t kStaticGaps = 20;   // of a session, listed where there is no JavaScript
constexpr size_t kGapsInData = 100;  // the largest ones
constexpr size_t kSequencesDrawn = 24;
constexpr size_t kGroupsOnPage = 60;  // kinds of traces, each with its answer
constexpr size_t kFilesOfGroup = 20;
constexpr size_t kTracesInFull = 8;  // more have no counters, stages and holes
constexpr std::string_view kPageMark = "<!doctype html>\n<!-- Written by ringscope report. -->";

const OutputKind kPageOutput = {
    "a page", true, [](Bytes start) { return wire::AsText(start).starts_with(kPageMark); }};

struct ReportArgs {
  SessionSelection input;
  ReplayChoices choices;
  std::string output;  // empty: standard output
  bool force = false;
  bool quick = false;
};

/// Text as HTML, in which no line is broken between a number and its unit.
std::string Html(std::string_view text) {
  static const std::regex kUnit("([0-9]) (ns|us|ms|s|min|h|B|[KMGT]iB)\\b");
  return std::regex_replace(XmlEscaped(text), kUnit, "$1\u00a0$2");
}

/// The answer for one trace or session, which stands for all of its group.
std::string AnswerHtml(const ExaminationGroup& group, size_t number, bool is_only) {
  const Examination& first = *group.second.front();
  const Answer& answer = first.answer;
  const size_t more = group.second.size() - 1;
  std::string html = fmt::format(
      "<p class=\"subject\" id=\"group-{}\">{}{}{}</p>\n<p class=\"headline {}\">{}</p>\n<dl>\n",
      number, XmlEscaped(first.subject.file),
      first.subject.session && !is_only ? fmt::format(": session {}", *first.subject.session) : "",
      more == 0 ? "" : fmt::format(" and {} more with the same findings", WithCommas(more)),
      Name(answer.severity), Html(answer.headline));
  if (!answer.change.empty())
    html += fmt::format("<dt>Change</dt><dd><strong>{}</strong></dd>\n", Html(answer.change));
  for (const AnswerLine& line : answer.lines)
    if (line.label != "Over time")  // a picture has that
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", line.label, Html(line.text));
  return html + "</dl>\n";
}

/// How many of the traces are how bad, and those with the same findings in one row, the worst
/// first.
std::string TotalsHtml(const std::vector<ExaminationGroup>& groups, const std::string& title) {
  std::map<Harm, size_t, std::greater<>> by_harm;
  std::string rows;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto& [key, members] = groups[i];
    by_harm[key.first] += members.size();
    if (i >= kGroupsOnPage) continue;
    rows += fmt::format(
        "<tr><th class=\"number\">{}</th><td>{}</td><td><a "
        "href=\"#group-{}\">{}</a></td><td>{}</td>"
        "</tr>\n",
        WithCommas(members.size()), HarmText(key.first), i, XmlEscaped(TitlesText(groups[i], "; ")),
        XmlEscaped(NameOf(*members.front())));
  }
  std::vector<std::string> counts;
  for (const auto& [harm, count] : by_harm)
    counts.push_back(fmt::format("{}: {}", HarmText(harm), WithCommas(count)));
  return fmt::format(
      "<p class=\"headline\">{}, by their findings</p>\n<p>{}</p>\n<div class=\"scroll\" "
      "tabindex=\"0\"><table>\n"
      "<thead><tr><th "
      "class=\"number\">Number</th><th>Severity</th><th>Findings</th><th>Example</th>"
      "</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n{}",
      title, Html(Joined(counts, "; ")), rows,
      groups.size() <= kGroupsOnPage
          ? ""
          : fmt::format("<p class=\"note\">{}, not shown: 'ringscope doctor --all' has them.</p>\n",
                        Count(groups.size() - kGroupsOnPage, "further kind")));
}

/// The document of doctor with one trace of each kind that the page shows, and without what only
/// the page of one trace shows.
Json ExamplesDocument(const Examinations& examinations) {
  Json document = DoctorDocument(examinations);
  if (examinations.size() == 1) return document;
  Json traces = Json::array();
  Json& groups = document["groups"];
  const auto cut = [](Json& array, size_t most) {
    while (array.size() > most) array.erase(array.size() - 1);
  };
  cut(groups, kGroupsOnPage);
  for (Json& group : groups) {
    Json& first = traces.emplace_back(std::move(document["traces"][group["first"].get<size_t>()]));
    group["first"] = traces.size() - 1;
    cut(group["files"], kFilesOfGroup);
    if (examinations.size() > kTracesInFull)
      for (const char* key :
           {"stages", "counters", "holes", "sources", "well", "figures", "config"})
        first.erase(key);
  }
  document["traces"] = std::move(traces);
  return document;
}

/// Keeps the gaps of a session that lost most packets, the largest first.
void KeepLargest(ShownGaps& shown) {
  std::vector<const Gap*>& gaps = shown.gaps;
  gaps.insert(gaps.begin(), shown.own_fault.begin(), shown.own_fault.end());
  shown.own_fault.clear();
  std::ranges::stable_sort(gaps, std::ranges::greater(),
                           [](const Gap* gap) { return gap->lost.packets; });
  gaps.resize(std::min(gaps.size(), kGapsInData));
}

/// The largest gaps as rows of a table, for readers without JavaScript.
std::string GapRowsHtml(const ShownGaps& shown) {
  std::string html;
  for (size_t i = 0; i < std::min(shown.gaps.size(), kStaticGaps); ++i) {
    const Gap& gap = *shown.gaps[i];
    html += fmt::format("<tr><th>{}</th><td class=\"number\">{}</td><td>{}</td></tr>\n",
                        XmlEscaped(shown.notes.NameOf(gap.sequence)), WithCommas(gap.lost.packets),
                        XmlEscaped(Joined(CauseTexts(gap.causes), "; ")));
  }
  return html;
}

/// The reads, flushes and clones of a session that is replayed.
class EventMarks : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment& /*moment*/) override {
    const std::string_view name = OpKindName(op.body.index());
    if ((name == "read" || name.starts_with("flush") || name.starts_with("clone")) &&
        LifeEventOf(op, 0))
      marks.emplace_back(name, op.time_ns);
  }

  std::vector<std::pair<std::string_view, std::optional<uint64_t>>> marks;  // name and time
};

/// A picture on one time axis: rows of a name and bars, which the page styles and moves. A row is
/// kWidth units wide, and a unit high for each pixel.
class TimePicture {
 public:
  TimePicture(uint64_t from_ns, uint64_t to_ns)
      : from_(static_cast<double>(from_ns)),
        span_(std::max(static_cast<double>(to_ns) - from_, 1.0)) {}

  /// @param height pixels
  void AddRow(std::string_view name, double height = 14) {
    EndRow();
    height_ = height;
    html_ += fmt::format(
        "<span>{}</span><svg viewBox=\"0 0 {} {}\" height=\"{}\" "
        "preserveAspectRatio=\"none\"><g>\n",
        XmlEscaped(name), kWidth, height, height);
  }
  /// @param share of the row's height
  void AddBar(std::string_view classes, uint64_t from_ns, uint64_t to_ns, std::string_view what,
              double share = 1) {
    const double x = At(from_ns);
    html_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}"
        "</title></rect>\n",
        classes, x, height_ * (1 - share), std::max(At(to_ns) - x, 2.0), height_ * share,
        XmlEscaped(what));
  }
  std::string Finish() {
    EndRow();
    std::string ticks;
    for (int i = 0; i <= kTicks; ++i)
      ticks += fmt::format("<span>{:.3f} s</span>", span_ / 1e9 * i / kTicks);
    return fmt::format(
        "<div class=\"timeline\" data-seconds=\"{}\">\n{}<span></span><div class=\"ticks\">{}</div>"
        "\n</div>\n",
        span_ / 1e9, html_, ticks);
  }

 private:
  static constexpr double kWidth = 1000;
  static constexpr int kTicks = 4;

  double At(uint64_t ns) const {
    return kWidth * std::clamp((static_cast<double>(ns) - from_) / span_, 0.0, 0.998);
  }
  void EndRow() {
    if (height_ > 0) html_ += "</g></svg>\n";
  }

  const double from_, span_;  // ns
  double height_ = 0;         // of the row; 0: there is none
  std::string html_;
};

/// Draws a session: packets written and lost, how far ring buffers reach back, reads, flushes and
/// clones, and each sequence with gaps.
std::string SessionPicture(const ShownGaps& shown, const EventMarks& events) {
  const ReplayOutcome& outcome = shown.outcome;
  const uint64_t last = outcome.last_time_ns.value_or(0), end = outcome.end_ns();
  TimePicture picture(shown.notes.start_ns(), last);
  if (const LossTimeline& over = shown.report.over_time; !over.empty()) {
    const auto& intervals = over.intervals();
    const uint64_t most =
        std::max<uint64_t>(std::ranges::max(intervals, {}, &TimelineInterval::written).written, 1);
    picture.AddRow("packets, lost ones red", 60);
    uint64_t at = over.first_ns();
    for (const TimelineInterval& interval : intervals) {
      const std::string what = fmt::format("{} of {} lost", WithCommas(interval.lost),
                                           Count(interval.written, "packet"));
      const uint64_t next = at + over.interval_ns();
      for (const auto& [classes, count] :
           {std::pair("written", interval.written), {"all", interval.lost}})
        picture.AddBar(classes, at, next, what,
                       static_cast<double>(count) / static_cast<double>(most));
      at = next;
    }
  }
  for (const auto& [index, reach] : shown.examination.reach) {
    picture.AddRow(fmt::format("buffers[{}] reaches back", index));
    picture.AddBar("reach", end - std::min(reach.ns, end), end,
                   "reaches back " + HumanDuration(reach.ns) + " when it is read");
  }
  picture.AddRow("reads, flushes, clones");
  for (const auto& [name, time_ns] : events.marks) {
    // A read without a time is one after the last record that has one.
    const uint64_t at = time_ns.value_or(last);
    picture.AddBar(name == "read" ? "read" : "mark", at, at, name);
  }
  size_t drawn = 0;
  for (const SequenceGaps* sequence : shown.sequences) {
    if (sequence->gaps.empty() || drawn++ >= kSequencesDrawn) continue;
    picture.AddRow(shown.notes.NameOf(sequence->sequence));
    for (const Gap* gap : shown.gaps) {
      if (gap->sequence != sequence->sequence || gap->buffer != sequence->buffer) continue;
      const CauseCount& cause = gap->causes.front();
      picture.AddBar(
          fmt::format("lost {}", Name(cause.fate)), gap->written.first.time_ns.value_or(0),
          gap->written.last.time_ns.value_or(0),
          fmt::format("{} lost: {}", Count(gap->lost.packets, "packet"), CauseText(cause)));
      if (gap->next && gap->next->unusable.count.packets > 0)
        picture.AddBar("unusable", gap->next->unusable.from_ns.value_or(0),
                       gap->next->unusable.to_ns.value_or(0),
                       fmt::format("{} cannot be shown: their state was lost",
                                   Count(gap->next->unusable.count.packets, "packet")));
    }
  }
  return picture.Finish();
}

/// Puts texts into the template's places, {{NAME}}.
std::string Filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string>>& texts) {
  std::string filled;
  while (!page.empty()) {
    const size_t begin = page.find("{{");
    const size_t end = page.find("}}", begin);
    filled += page.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    for (const auto& [each, text] : texts)
      if (each == name) filled += text;
    page.remove_prefix(end + 2);
  }
  return filled;
}

/// The content of the page: as HTML, and the documents of the commands for its script.
struct Page {
  std::string answers, pictures, gaps;  // HTML
  Json data = {{"tool", ToolVersion()}, {"problems", Json::array()}};
  bool is_of_many = false;
  ExitCode code = ExitCode::kClean;

  /// Adds the document of a command, or why there is none.
  void Add(const char* name, Result<Json> document) {
    if (document)
      data[name] = *std::move(document);
    else
      data["problems"].push_back(fmt::format("{}: {}", name, document.error().ToString()));
  }
  /// Adds the answer, or of several traces and sessions what they have in common and an answer for
  /// each kind.
  void Add(const Examinations& examinations) {
    const std::vector<ExaminationGroup> groups = GroupsOf(examinations);
    is_of_many = examinations.size() > 1;
    if (is_of_many) answers = TotalsHtml(groups, CountText(examinations));
    for (size_t i = 0; i < std::min(groups.size(), kGroupsOnPage); ++i)
      answers += AnswerHtml(groups[i], i, !is_of_many);
    data["doctor"] = ExamplesDocument(examinations);
    code = Worse(code, CodeOf(examinations));
  }
  std::string Text(const std::string& input) const {
    std::string words;
    for (const Word& word : Words())
      words += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word.word, XmlEscaped(word.meaning));
    std::string json = JsonText(data);
    // Nothing in it can end the element that it is in.
    for (size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at + 1))
      json.replace(at, 1, "\\u003c");
    // Scripts run if they have this word, which nothing in the data can know.
    const XXH128_hash_t hash = XXH3_128bits(json.data(), json.size());
    return Filled(ReportPage(), {{"title", XmlEscaped(input)},
                                 {"heading", is_of_many ? XmlEscaped(input) : "What was lost"},
                                 {"nonce", fmt::format("{:016x}{:016x}", hash.high64, hash.low64)},
                                 {"answers", answers},
                                 {"pictures", pictures},
                                 {"no_pictures", pictures.empty() ? "hidden" : ""},
                                 {"words", words},
                                 {"gaps", gaps},
                                 {"data", json}});
  }
};

void SetUp(CLI::App& app, ReportArgs& args) {
  AddLogs(app, args.input.paths, Traces::kExamined);
  AddSession(app, args.input.only);
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "Write to this file; - for standard output (needed on a terminal)");
  AddForce(app, args.force);
  AddFlag(app, "--quick", args.quick,
          "Leave out what takes many replays: the sweep over buffer sizes");
}

/// Examines each session of a log, and shows it.
Status ShowLog(const ReportArgs& args, Context& context, SessionReader& sessions, Page& page) {
  Report gaps(context.console, Format::kJson, "gaps");
  Report advice(context.console, Format::kJson, "advise");
  LogExaminations examinations(sessions);
  const auto add_session = [&]() -> Result<ExitCode> {
    DescribedKinds kinds;
    ExaminedSession session(context, sessions, args.choices, &kinds);
    const auto& events = session.run().Add<EventMarks>();
    RS_ASSIGN_OR_RETURN(Examination examination, session.Examine());
    ShownGaps shown(examination, {}, kinds);
    KeepLargest(shown);
    if (!page.data.contains("start_ns")) page.data["start_ns"] = shown.notes.start_ns();
    page.pictures += SessionPicture(shown, events);
    page.gaps += GapRowsHtml(shown);
    WriteGaps(gaps, shown, /*lines=*/false);
    ReportClones(gaps, shown.outcome);
    advice.AddItem("sessions", [&] { return ReportAdvice(examination, /*keep_ns=*/{}, advice); });
    const ExitCode code = shown.ending();
    examinations.Add(std::move(examination));
    return code;
  };
  RS_ASSIGN_OR_RETURN(page.code, ReportSessions(sessions, gaps, add_session));
  RS_ASSIGN_OR_RETURN(const Examinations examined, examinations.Finish());
  page.Add(examined);
  page.Add("gaps", gaps.Take());
  Report info(context.console, Format::kJson, "info");
  const auto code = ReportInfo(context, args.input.paths.front(), args.input.only, info);
  page.code = Worse(page.code, code.value_or(ExitCode::kClean));
  page.Add("info", code ? Result<Json>(info.Take()) : tl::unexpected(code.error()));
  page.Add("advise", advice.Take());
  if (!args.quick) page.Add("sweep", SweepDocument(context, args.input, args.choices));
  return {};
}

Result<ExitCode> RunReport(const ReportArgs& args, Context& context) {
  if (args.output.empty() && context.console.out_is_terminal())
    return Fail(ErrorCode::kUsage, "a page is for a browser, not for a terminal", {},
                "write it to a file: -o report.html");
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a page", {".html", ".htm"}));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<OutputFile> file,
      CreateOutput(context, args.output.empty() ? "-" : args.output, kPageOutput, args.force));
  // The page has all that would be printed. Standard input is read several times.
  if (args.input.IsReadOnce()) RS_RETURN_IF_ERROR(KeepStandardInput(context));
  KeptText printed;
  Streams streams{printed, printed, {}, true};
  Console console(streams);
  console.ShowProgressOn(context.console);
  Context silent{console, context.threads, context.files};
  const std::vector<std::string>& paths = args.input.paths;
  const std::string input = Shortened(paths);
  Page page;
  page.data["input"] = input;
  Result<KnownInput> known = OpenKnownInput(silent, paths.front());
  if (paths.size() == 1 && known && known->kind == InputKind::kLog) {
    SessionReader sessions(silent, args.input, "replaying");
    sessions.recording().UseOpened(std::move(known->source));
    RS_RETURN_IF_ERROR(InFile(paths.front(), ShowLog(args, silent, sessions, page)));
  } else {
    RS_ASSIGN_OR_RETURN(const ExaminedInputs examined,
                        ExamineInputs(silent, paths, args.choices, args.input.only));
    page.Add(examined.examinations);
  }
  RS_RETURN_IF_ERROR(file->Write(page.Text(input)));
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return page.code == ExitCode::kClean ? ExitCode::kClean : ExitCode::kNotice;
}

}  // namespace

Command ReportCommand() {
  return {
      "report",
      "Write a page on a session or many traces to attach to a bug",
      "Writes one HTML file on a session of a log or a Perfetto trace: the answer, what to change, "
      "loss over time, the sequences, the largest gaps, buffer sizes, what is wrong with the "
      "trace, and what happened when. Of several inputs or a folder, the page has what doctor "
      "finds, traces with the same findings in one row, the worst first. The page shows what "
      "doctor, gaps, info, sweep and advise print with '--format json', and has their documents in "
      "it. The file needs nothing from elsewhere; without JavaScript the page has the answers and "
      "the largest gaps; on paper it has two pages.",
      {{"ringscope report session.tblog -o report.html", "A page for a bug report"},
       {"ringscope report trace.pftrace -o report.html", "The same of a trace alone"},
       {"ringscope report traces/ -o report.html", "One page on all traces of a folder"},
       {"ringscope report --quick session.tblog -o report.html",
        "The same without what takes many replays"}},
      Bind(SetUp, RunReport),
      {.clean = "Done; the page has no warning and nothing worse.",
       .notice = "Done, and the page has a warning, a loss or an error."}};
}

}  // namespace ringscope
