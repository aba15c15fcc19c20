#include <fmt/format.h>
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/session/session_reader.h"
#include "commands/session/tasks_on_cores.h"
#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/help.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "commands/shell/text.h"
#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/draw/svg.h"
#include "formats/json/json.h"

namespace ringscope {
namespace {

constexpr size_t kStaticGaps = 20;   // listed where there is no JavaScript
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

/// Runs other commands on the input of the report, and keeps the documents that they print.
class OtherCommands {
 public:
  OtherCommands(Context& context, const ReportArgs& args) : context_(context), args_(args) {}

  /// Copies standard input, which each command reads.
  Status Spool() {
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> input, OpenInput(context_, "-"));
    RS_ASSIGN_OR_RETURN(standard_input_, SpoolInput(*input));
    return {};
  }

  /// Runs `ringscope NAME --format json INPUT...`, as many at a time as there are cores. A command
  /// that fails leaves its message among the problems of the page in place of its document.
  void Run(const std::vector<const char*>& names) {
    std::vector<Result<Json>> documents(names.size());
    TasksOnCores(context_)(names.size(),
                           [&](size_t i) { documents[i] = Document(names[i], i == 0); });
    for (size_t i = 0; i < names.size(); ++i) {
      if (documents[i])
        data_[names[i]] = *std::move(documents[i]);
      else
        data_["problems"].push_back(
            fmt::format("{}: {}", names[i], documents[i].error().ToString()));
    }
  }

  /// Returns true if a command found something: a loss, damage, a change that helps.
  bool has_notice() const { return has_notice_; }
  Json& data() { return data_; }

 private:
  Result<Json> Document(const char* name, bool shows_progress) {
    std::vector<std::string> options = {"--format", "json"};
    const SessionSelection& input = args_.input;
    if (input.only) options.insert(options.end(), {"--session", std::to_string(*input.only)});
    options.insert(options.end(), input.paths.begin(), input.paths.end());
    KeptText out, messages;
    const auto open_input = [this] { return OpenTemporary(standard_input_, "-"); };
    Streams streams{out, messages, open_input, true};
    Console console(streams);
    if (shows_progress) console.ShowProgressOn(context_.console);
    Context inner{console, context_.threads, context_.files};
    RS_ASSIGN_OR_RETURN(const ExitCode code, RunNamed(name, std::move(options), inner));
    RS_RETURN_IF_ERROR(console.Flush());
    Json document = Json::parse(out.text, nullptr, /*allow_exceptions=*/false);
    if (code == ExitCode::kNotice) has_notice_ = true;
    if (!document.is_discarded()) return document;
    return Fail(ErrorCode::kCorrupt, "it printed no document");
  }

  Context& context_;
  const ReportArgs& args_;
  std::shared_ptr<const TemporaryFile> standard_input_;
  std::atomic<bool> has_notice_ = false;
  Json data_ = Json::object();
};

/// The text of a value, as HTML; an absent one is empty.
std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return XmlEscaped(found->is_string() ? found->get<std::string>() : found->dump());
}

/// The answers for each trace or session of the input; of several with the same findings, the
/// first. The worst ones first.
std::string AnswersHtml(const Json& doctor) {
  const Json traces = doctor.value("traces", Json::array());
  const Json groups = doctor.value("groups", Json::array());
  std::string html;
  const auto add = [&](const Json& trace, size_t others) {
    const Json answer = trace.value("answer", Json::object());
    const std::string session = TextOf(trace, "session"), change = TextOf(answer, "change");
    html += fmt::format(
        "<p class=\"subject\">{}{}{}</p>\n<p class=\"headline {}\">{}</p>\n<dl>\n",
        TextOf(trace, "input"), session.empty() || traces.size() == 1 ? "" : ": session " + session,
        others == 0 ? "" : fmt::format(" and {} more with the same findings", others),
        TextOf(answer, "severity"), TextOf(answer, "headline"));
    if (!change.empty())
      html += fmt::format("<dt>Change</dt><dd><strong>{}</strong></dd>\n", change);
    for (const Json& line : answer.value("lines", Json::array()))
      if (line.value("label", "") != "Over time")  // a picture has that
        html +=
            fmt::format("<dt>{}</dt><dd>{}</dd>\n", TextOf(line, "label"), TextOf(line, "text"));
    html += "</dl>\n";
  };
  for (const Json& trace : traces)
    if (groups.empty()) add(trace, 0);
  for (const Json& group : groups)
    add(traces.at(group.at("first").get<size_t>()), group.at("files").size() - 1);
  return html;
}

/// The largest gaps as rows of a table, for readers without JavaScript.
std::string GapRowsHtml(const Json& gaps) {
  std::string html;
  size_t rows = 0;
  for (const Json& session : gaps.value("sessions", Json::array())) {
    for (const Json& gap : session.value("gaps", Json::array())) {
      if (rows++ == kStaticGaps) return html;
      std::string causes;
      for (const Json& cause : gap.value("causes", Json::array()))
        causes += (causes.empty() ? "" : "; ") + TextOf(cause, "text");
      html +=
          fmt::format("<tr><th>{}</th><td class=\"number\">{}</td><td>{}</td></tr>\n",
                      TextOf(gap, "title"), WithCommas(gap.at("packets").get<uint64_t>()), causes);
    }
  }
  return html;
}

/// Keeps the gaps of each session that lost most packets.
void KeepLargestGaps(Json& data) {
  if (!data.contains("gaps")) return;
  for (Json& session : data["gaps"]["sessions"]) {
    auto& gaps = session["gaps"].get_ref<Json::array_t&>();
    std::ranges::stable_sort(gaps, std::ranges::greater(),
                             [](const Json& gap) { return gap.value("packets", uint64_t{0}); });
    gaps.resize(std::min(gaps.size(), kGapsInData));
  }
}

/// Returns the number at a path like "written.from_ns"; null and absent ones are 0.
double NumberAt(const Json& object, const char* path) {
  const auto key = KeyPath(path);
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

/// A picture on one time axis: rows of bars, which the page styles and moves. Measures are units of
/// its width, 960.
class TimePicture {
 public:
  TimePicture(double from_ns, double to_ns)
      : from_(from_ns), span_(std::max(to_ns - from_ns, 1.0)) {}

  void AddRow(std::string_view name, double height = 14) {
    y_ += height_ + 4;
    height_ = height;
    names_ += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y_ + height - 3,
                          XmlEscaped(Shortened(name, 36)));
  }
  /// @param share of the row's height
  void AddBar(std::string_view classes, double from_ns, double to_ns, std::string_view what,
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

  double At(double ns) const { return kBars * std::clamp((ns - from_) / span_, 0.0, 0.999); }

  const double from_, span_;   // ns
  double y_ = 0, height_ = 0;  // of the row
  std::string names_, bars_;
};

/// Draws a session: packets written and lost, how far ring buffers reach back, reads, flushes and
/// clones, and each sequence with gaps, from the documents of gaps, info and sweep.
std::string SessionPicture(const Json& gaps, const Json& info, const Json& sweep) {
  const double end = NumberAt(info, "last_time_ns");
  TimePicture picture(NumberAt(info, "start_ns"), end);
  if (const Json over = gaps.value("over_time", Json::object()); !over.empty()) {
    const std::vector<uint64_t> written = over.at("written"), lost = over.at("lost");
    const auto most = static_cast<double>(std::max<uint64_t>(std::ranges::max(written), 1));
    picture.AddRow("packets, lost ones red", 60);
    double at = NumberAt(over, "first_ns");
    for (size_t i = 0; i < written.size(); ++i, at += NumberAt(over, "interval_ns")) {
      const std::string what = fmt::format("{} of {} packets lost", lost[i], written[i]);
      for (const auto& [classes, count] : {std::pair("written", written[i]), {"all", lost[i]}})
        picture.AddBar(classes, at, at + NumberAt(over, "interval_ns"), what,
                       static_cast<double>(count) / most);
    }
  }
  for (const Json& buffer : gaps.at("buffers"))
    for (const Json& tried : sweep.value("configurations", Json::array()))
      for (const Json& each : tried.at("buffers"))
        if (buffer.at("policy") == "ring_buffer" && each.at("buffer") == buffer.at("buffer") &&
            each.at("size") == buffer.at("size")) {
          picture.AddRow(fmt::format("buffers[{}] reaches back", TextOf(buffer, "index")));
          picture.AddBar("reach", end - NumberAt(each, "history_ns"), end,
                         "reaches back so far when it is read");
        }
  picture.AddRow("reads, flushes, clones");
  for (const Json& event : info.at("events")) {
    const std::string name = event.at("event");
    if (name != "read" && !name.starts_with("flush") && !name.starts_with("clone")) continue;
    // A read without a time is one after the last record that has one.
    const double at = event.contains("time_ns") ? NumberAt(event, "time_ns") : end;
    picture.AddBar(name == "read" ? "read" : "mark", at, at, name);
  }
  size_t shown = 0;
  for (const Json& sequence : gaps.at("sequences")) {
    if (NumberAt(sequence, "gaps") == 0 || shown++ == kSequencesDrawn) continue;
    picture.AddRow(sequence.at("title").get<std::string>());
    for (const Json& gap : gaps.at("gaps")) {
      if (gap.at("title") != sequence.at("title") || gap.at("buffer") != sequence.at("buffer"))
        continue;
      const Json& cause = gap.at("causes").front();
      picture.AddBar("lost " + TextOf(cause, "fate"), NumberAt(gap, "written.from_ns"),
                     NumberAt(gap, "written.to_ns"),
                     fmt::format("{} packets lost: {}", TextOf(gap, "packets"),
                                 cause.at("text").get<std::string>()));
      if (const double unusable = NumberAt(gap, "next.unusable.packets"); unusable > 0)
        picture.AddBar("unusable", NumberAt(gap, "next.unusable.from_ns"),
                       NumberAt(gap, "next.unusable.to_ns"),
                       fmt::format("{} packets need state that was lost", unusable));
    }
  }
  return picture.Finish();
}

/// The sessions of a log over time; empty: of a trace.
std::string PicturesHtml(const Json& data) {
  const auto sessions = [&](const char* command) {
    return data.value(command, Json::object()).value("sessions", Json::array());
  };
  const Json gaps = sessions("gaps"), infos = sessions("info"), sweeps = sessions("sweep");
  std::string html;
  for (size_t i = 0; i < std::min(gaps.size(), infos.size()); ++i)
    html += SessionPicture(gaps[i], infos[i], i < sweeps.size() ? sweeps[i] : Json::object());
  return html;
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

std::string PageOf(const Json& data, const std::string& path) {
  const std::string pictures = PicturesHtml(data);
  std::string words;
  for (const Word& word : Words())
    words += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word.word, XmlEscaped(word.meaning));
  std::string json = JsonText(data);
  // Nothing in it can end the element that it is in.
  for (size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at + 1))
    json.replace(at, 1, "\\u003c");
  // Scripts run if they have this word, which nothing in the data can know.
  const XXH128_hash_t hash = XXH3_128bits(json.data(), json.size());
  return Filled(ReportPage(), {{"title", XmlEscaped(path)},
                               {"nonce", fmt::format("{:016x}{:016x}", hash.high64, hash.low64)},
                               {"answers", AnswersHtml(data.value("doctor", Json::object()))},
                               {"pictures", pictures},
                               {"no_pictures", pictures.empty() ? "hidden" : ""},
                               {"words", words},
                               {"gaps", GapRowsHtml(data.value("gaps", Json::object()))},
                               {"data", json}});
}

void SetUp(CLI::App& app, ReportArgs& args) {
  AddLogs(app, args.input.paths, Traces::kExamined);
  AddSession(app, args.input.only);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType, "Write to this file; - for standard output");
  AddForce(app, args.force);
  AddFlag(app, "--quick", args.quick,
          "Leave out what takes many replays: the sweep over buffer sizes, and the advice");
}

Result<ExitCode> RunReport(const ReportArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a page", {".html", ".htm"}));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<OutputFile> file,
      CreateOutput(context, args.output.empty() ? "-" : args.output, kPageOutput, args.force));
  OtherCommands commands(context, args);
  if (args.input.IsReadOnce()) RS_RETURN_IF_ERROR(commands.Spool());
  const std::string input = Shortened(args.input.paths);
  commands.data()["input"] = input;
  commands.data()["tool"] = ToolVersion();
  commands.data()["problems"] = Json::array();
  // Of traces, the doctor says all that they prove; the other commands need a log. The sweep, which
  // takes most memory, is alone and first. The doctor's error would be the last.
  std::vector<const char*> names = {"doctor"};
  if (args.input.paths.size() == 1 &&
      !SessionReader(context, args.input, "").recording().HasTraces()) {
    names = {"gaps", "info", "advise", "doctor"};
    if (args.quick) std::erase(names, std::string_view("advise"));
    if (!args.quick) commands.Run({"sweep"});
  }
  commands.Run(names);
  if (!commands.data().contains("doctor"))
    return Fail(ErrorCode::kCorrupt, commands.data()["problems"].back().get<std::string>());
  KeepLargestGaps(commands.data());
  RS_RETURN_IF_ERROR(file->Write(PageOf(commands.data(), input)));
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return commands.has_notice() ? ExitCode::kNotice : ExitCode::kClean;
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
