#include <fmt/format.h>
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/gaps/gaps_words.h"
#include "commands/log/info_report.h"
#include "commands/session/examined.h"
#include "commands/session/session_loop.h"
#include "commands/session/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/help.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/sizes/advise.h"
#include "commands/sizes/sweep_view.h"
#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/examine/loss_words.h"
#include "core/log/summary.h"
#include "formats/descriptors/described_kinds.h"
#include "formats/draw/svg.h"
#include "formats/json/json.h"

namespace ringscope {
namespace {

constexpr size_t kStaticGaps = 20;   // of a session, listed where there is no JavaScript
constexpr size_t kGapsInData = 100;  // the largest ones
constexpr size_t kSequencesDrawn = 24;
constexpr std::string_view kPageMark = "<!doctype html>\n<!-- Written by ringscope report. -->";

const OutputKind kPageOutput = {
    "a page", true, [](Bytes start) { return wire::AsText(start).starts_with(kPageMark); }};

struct ReportArgs {
  SessionSelection input;
  std::string output;  // empty: standard output
  bool force = false;
  bool quick = false;
};

/// The answers for each trace or session of the input; of several with the same findings, the
/// first. The worst ones first.
std::string AnswersHtml(const Examinations& examinations) {
  std::string html;
  for (const auto& [key, members] : GroupsOf(examinations)) {
    const Examination& first = *members.front();
    const Answer& answer = first.answer;
    html += fmt::format("<p class=\"subject\">{}{}{}</p>\n<p class=\"headline {}\">{}</p>\n<dl>\n",
                        XmlEscaped(first.subject.file),
                        first.subject.session && examinations.size() > 1
                            ? fmt::format(": session {}", *first.subject.session)
                            : "",
                        members.size() == 1 ? ""
                                            : fmt::format(" and {} more with the same findings",
                                                          members.size() - 1),
                        Name(answer.severity), XmlEscaped(answer.headline));
    if (!answer.change.empty())
      html +=
          fmt::format("<dt>Change</dt><dd><strong>{}</strong></dd>\n", XmlEscaped(answer.change));
    for (const AnswerLine& line : answer.lines)
      if (line.label != "Over time")  // a picture has that
        html +=
            fmt::format("<dt>{}</dt><dd>{}</dd>\n", XmlEscaped(line.label), XmlEscaped(line.text));
    html += "</dl>\n";
  }
  return html;
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

/// A picture on one time axis: rows of bars, which the page styles and moves. Measures are units of
/// its width, 960.
class TimePicture {
 public:
  TimePicture(uint64_t from_ns, uint64_t to_ns)
      : from_(static_cast<double>(from_ns)),
        span_(std::max(static_cast<double>(to_ns) - from_, 1.0)) {}

  void AddRow(std::string_view name, double height = 14) {
    y_ += height_ + 4;
    height_ = height;
    names_ += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y_ + height - 3,
                          XmlEscaped(Shortened(name, 36)));
  }
  /// @param share of the row's height
  void AddBar(std::string_view classes, uint64_t from_ns, uint64_t to_ns, std::string_view what,
              double share = 1) {
    const double x = At(from_ns);
    bars_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}"
        "</title></rect>\n",
        classes, x, y_ + height_ * (1 - share), std::max(At(to_ns) - x, 1.0), height_ * share,
        XmlEscaped(what));
  }
  std::string Finish() const {
    const double bottom = y_ + height_ + 18;
    std::string ticks;
    for (int i = 0; i <= 4; ++i)
      ticks += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\">{:.3f} s</text>\n",
                           kNames + kBars * i / 4, bottom, span_ / 1e9 * i / 4);
    return fmt::format(
        "<div class=\"scroll\" tabindex=\"0\"><svg class=\"timeline\" role=\"img\" viewBox=\"0 0 "
        "960 {}\" data-seconds=\"{}\"><title>The session over time</title>\n{}<svg x=\"{}\" "
        "width=\"{}\" height=\"{}\"><g class=\"bars\">\n{}</g></svg>\n{}</svg></div>\n",
        bottom + 6, span_ / 1e9, names_, kNames, kBars, bottom - 14, bars_, ticks);
  }

 private:
  static constexpr double kNames = 220, kBars = 720;  // the first are in front of the bars

  double At(uint64_t ns) const {
    return kBars * std::clamp((static_cast<double>(ns) - from_) / span_, 0.0, 0.999);
  }

  const double from_, span_;   // ns
  double y_ = 0, height_ = 0;  // of the row
  std::string names_, bars_;
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
      const std::string what =
          fmt::format("{} of {} packets lost", interval.lost, interval.written);
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
                   "reaches back so far when it is read");
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
      picture.AddBar(fmt::format("lost {}", Name(cause.fate)),
                     gap->written.first.time_ns.value_or(0), gap->written.last.time_ns.value_or(0),
                     fmt::format("{} packets lost: {}", gap->lost.packets, CauseText(cause)));
      if (gap->next && gap->next->unusable.count.packets > 0)
        picture.AddBar(
            "unusable", gap->next->unusable.from_ns.value_or(0),
            gap->next->unusable.to_ns.value_or(0),
            fmt::format("{} packets need state that was lost", gap->next->unusable.count.packets));
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
  ExitCode code = ExitCode::kClean;

  /// Adds the document of a command, or why there is none.
  void Add(const char* name, Result<Json> document) {
    if (document)
      data[name] = *std::move(document);
    else
      data["problems"].push_back(fmt::format("{}: {}", name, document.error().ToString()));
  }
  void Add(const Examinations& examinations) {
    answers = AnswersHtml(examinations);
    data["doctor"] = DoctorDocument(examinations);
    code = Worse(code, CodeOf(examinations));
  }
  std::string Text(const std::string& input) const;
};

std::string Page::Text(const std::string& input) const {
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
                               {"nonce", fmt::format("{:016x}{:016x}", hash.high64, hash.low64)},
                               {"answers", answers},
                               {"pictures", pictures},
                               {"no_pictures", pictures.empty() ? "hidden" : ""},
                               {"words", words},
                               {"gaps", gaps},
                               {"data", json}});
}

void SetUp(CLI::App& app, ReportArgs& args) {
  AddLogs(app, args.input.paths, Traces::kExamined);
  AddSession(app, args.input.only);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType, "Write to this file; - for standard output");
  AddForce(app, args.force);
  AddFlag(app, "--quick", args.quick,
          "Leave out what takes many replays: the sweep over buffer sizes");
}

/// Examines each session of a log, and shows it.
Status ShowLog(const ReportArgs& args, Context& context, SessionReader& sessions, Page& page) {
  RS_RETURN_IF_ERROR(sessions.recording().Spool());
  Report gaps(context.console, Format::kJson, "gaps");
  Report advice(context.console, Format::kJson, "advise");
  LogExaminations examinations(sessions);
  const auto add_session = [&]() -> Result<ExitCode> {
    DescribedKinds kinds(Descriptors::BuiltIn());
    ExaminedSession session(context, sessions, {}, &kinds);
    const auto& events = session.run().Add<EventMarks>();
    RS_ASSIGN_OR_RETURN(Examination examination, session.Examine());
    ShownGaps shown(examination, {}, kinds);
    KeepLargest(shown);
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
  if (!args.quick) page.Add("sweep", SweepDocument(context, args.input));
  return {};
}

Result<ExitCode> RunReport(const ReportArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a page", {".html", ".htm"}));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<OutputFile> file,
      CreateOutput(context, args.output.empty() ? "-" : args.output, kPageOutput, args.force));
  // The page has all that would be printed. Standard input is read several times.
  std::shared_ptr<const TemporaryFile> standard_input;
  if (args.input.IsReadOnce()) {
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> input, OpenInput(context, "-"));
    RS_ASSIGN_OR_RETURN(standard_input, SpoolInput(*input));
  }
  KeptText printed;
  Streams streams{printed, printed, [&] { return OpenTemporary(standard_input, "-"); }, true};
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
                        ExamineInputs(silent, paths, {}, args.input.only));
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
      "finds, traces with the same findings in one row, the worst first. It shows what doctor, "
      "gaps, info, sweep and advise print with '--format json', and has their documents in it. The "
      "file needs nothing from elsewhere; without JavaScript it has the answers and the largest "
      "gaps; printed it has two pages.",
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
