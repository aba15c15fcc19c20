#include <fmt/format.h>
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/shell/embedded_file.h"
#include "commands/shell/help.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/registry.h"
#include "core/base/wire.h"
#include "core/perfetto/fill_policy.h"

// With places {{title}}, {{nonce}}, {{answers}}, {{timeline}}, {{gaps}}, {{words}} and {{data}}.
RS_EMBED_FILE(PageTemplate, RS_PAGE)

namespace ringscope {
namespace {

using PageData = nlohmann::ordered_json;

constexpr size_t kStaticGaps = 20;   // listed where there is no JavaScript
constexpr size_t kGapsInData = 100;  // the largest ones
constexpr std::string_view kPageMark = "<!doctype html>\n<!-- Written by ringscope report. -->";

const OutputKind kPageOutput = {
    "a page", true, [](Bytes start) { return wire::AsText(start).starts_with(kPageMark); }};

struct ReportArgs {
  std::string path;
  std::optional<uint64_t> session;
  std::string output;  // empty: standard output
  bool force = false;
  bool quick = false;
};

/// Keeps all that a command prints.
class KeptOutput : public OutputStream {
 public:
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    text += wire::AsText(bytes);
    return {};
  }
  std::string text;
};

/// Runs other commands on the input of the report, and keeps the documents that they print.
class OtherCommands {
 public:
  OtherCommands(Context& context, const ReportArgs& args) : context_(context), args_(args) {}

  /// Runs `ringscope NAME --format json OPTIONS FILE`. A command that fails leaves its message
  /// among the problems of the page in place of its document.
  void Run(const char* name, std::vector<std::string> options = {}) {
    Result<PageData> document = Document(name, std::move(options));
    if (document) {
      data_[name] = *std::move(document);
    } else {
      data_["problems"].push_back(fmt::format("{}: {}", name, document.error().ToString()));
    }
  }

  /// True if an input that was read was damaged.
  bool found_damage() const { return found_damage_; }
  PageData& data() { return data_; }

 private:
  Result<PageData> Document(const char* name, std::vector<std::string> options) {
    options.insert(options.end(), {"--format", "json"});
    if (args_.session) options.insert(options.end(), {"--session", std::to_string(*args_.session)});
    options.push_back(args_.path);
    KeptOutput out, messages;
    Streams streams{out, messages, context_.console.streams().open_input, true};
    Console console(streams);
    console.ShowProgressOn(context_.console);
    Context inner{console, context_.threads, context_.files};
    RS_ASSIGN_OR_RETURN(const ExitCode code, RunNamed(name, std::move(options), inner));
    RS_RETURN_IF_ERROR(console.Flush());
    // What 'info' finds is damage; the others also find losses.
    found_damage_ |= std::string_view(name) == "info" && code == ExitCode::kNotice;
    PageData document = PageData::parse(out.text, nullptr, /*allow_exceptions=*/false);
    // Of a trace, 'doctor' finds it.
    for (const char* rule : {"\"trace.empty\"", "\"trace.corrupt\"", "\"trace.cut_off\""})
      found_damage_ |= out.text.find(rule) != std::string::npos;
    if (!document.is_discarded()) return document;
    return Fail(ErrorCode::kCorrupt, "it printed no document");
  }

  Context& context_;
  const ReportArgs& args_;
  bool found_damage_ = false;
  PageData data_ = PageData::object();
};

std::string Escaped(std::string_view text) {
  constexpr std::pair<char, const char*> kEntities[] = {
      {'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
  std::string out;
  for (const char c : text) {
    const auto* const entity =
        std::ranges::find(kEntities, c, &std::pair<char, const char*>::first);
    out += entity == std::end(kEntities) ? std::string(1, c) : entity->second;
  }
  return out;
}

/// The text of a value, as HTML; an absent one is empty.
std::string TextOf(const PageData& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return Escaped(found->is_string() ? found->get<std::string>() : found->dump());
}

/// The answers for each trace or session of the input.
std::string AnswersHtml(const PageData& doctor) {
  std::string html;
  for (const PageData& trace : doctor.value("traces", PageData::array())) {
    const PageData answer = trace.value("answer", PageData::object());
    html +=
        fmt::format("<p class=\"subject\">{}</p>\n<p class=\"headline {}\">{}</p>\n<dl>\n",
                    TextOf(trace, "input"), TextOf(answer, "severity"), TextOf(answer, "headline"));
    const std::string change = TextOf(answer, "change");
    if (!change.empty())
      html += fmt::format("<dt>Change</dt><dd><strong>{}</strong></dd>\n", change);
    for (const PageData& line : answer.value("lines", PageData::array()))
      if (line.value("label", "") != "Over time")  // a picture has that
        html +=
            fmt::format("<dt>{}</dt><dd>{}</dd>\n", TextOf(line, "label"), TextOf(line, "text"));
    html += "</dl>\n";
  }
  return html;
}

/// The largest gaps as rows of a table, for readers without JavaScript.
std::string GapRowsHtml(const PageData& gaps) {
  std::string html;
  size_t rows = 0;
  for (const PageData& session : gaps.value("sessions", PageData::array())) {
    for (const PageData& gap : session.value("gaps", PageData::array())) {
      if (rows++ == kStaticGaps) return html;
      std::string causes;
      for (const PageData& cause : gap.value("causes", PageData::array()))
        causes += (causes.empty() ? "" : "; ") + TextOf(cause, "text");
      html += fmt::format(
          "<tr><th>{}</th><td>{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n",
          TextOf(gap, "sequence"), TextOf(gap, "producer"), TextOf(gap, "packets"), causes);
    }
  }
  return html;
}

/// Keeps the gaps of each session that lost most packets.
void KeepLargestGaps(PageData& data) {
  if (!data.contains("gaps")) return;
  for (PageData& session : data["gaps"]["sessions"]) {
    auto& gaps = session["gaps"].get_ref<PageData::array_t&>();
    std::ranges::stable_sort(gaps, std::ranges::greater(),
                             [](const PageData& gap) { return gap.value("packets", uint64_t{0}); });
    gaps.resize(std::min(gaps.size(), kGapsInData));
  }
}

/// A session on one time axis, as a picture: bars in rows, each with a name and a text for the
/// mouse.
class TimelinePicture {
 public:
  /// @param from_ns, to_ns of the session
  TimelinePicture(uint64_t from_ns, uint64_t to_ns)
      : from_ns_(from_ns), span_ns_(static_cast<double>(std::max<uint64_t>(to_ns - from_ns, 1))) {}

  /// Begins a row. @param name as HTML
  void Row(const std::string& name, double height = 14) {
    y_ += height_ + 4;
    height_ = height;
    names_ += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>\n", y_ + height_ - 3, name);
  }
  /// @param share of the row's height, from 0 to 1; @param what as HTML
  void Bar(const char* kind, uint64_t from_ns, uint64_t to_ns, const std::string& what,
           double share = 1) {
    const double x = At(from_ns), width = std::max(At(to_ns) - x, 1.0);
    bars_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"><title>{}</title></rect>\n",
        kind, x, y_ + height_ * (1 - share), width, height_ * share, what);
  }
  /// @return the picture; bars are in the group "bars", which a script may move and stretch
  std::string Svg() const {
    constexpr int kTicks = 4;
    const double end = y_ + height_ + 18;
    std::string ticks;
    for (int i = 0; i <= kTicks; ++i)
      ticks += fmt::format(
          "<text class=\"tick\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{:.3f} s</text>\n",
          kLeft + (kRight - kLeft) * i / kTicks, end,
          i == 0       ? "start"
          : i < kTicks ? "middle"
                       : "end",
          span_ns_ / 1e9 * i / kTicks);
    return fmt::format(
        "<svg class=\"timeline\" role=\"img\" viewBox=\"0 0 {} {:.0f}\" data-seconds=\"{}\">\n"
        "<title>The session over time</title>\n{}<svg x=\"{}\" width=\"{}\" height=\"{:.0f}\">"
        "<g class=\"bars\">\n{}</g></svg>\n{}</svg>\n",
        kRight, end + 6, span_ns_ / 1e9, names_, kLeft, kRight - kLeft, end - 14, bars_, ticks);
  }

 private:
  static constexpr double kLeft = 190, kRight = 960;

  double At(uint64_t ns) const {
    const double since = ns < from_ns_ ? 0 : static_cast<double>(ns - from_ns_);
    return (kRight - kLeft) * std::min(since / span_ns_, 0.999);
  }

  const uint64_t from_ns_;
  const double span_ns_;
  double y_ = 0, height_ = 0;
  std::string names_, bars_;
};

uint64_t NumberOf(const PageData& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

/// "5 (1:4) demo-app": a sequence as its trace and its log name it.
std::string NameOf(const PageData& sequence) {
  const uint64_t id = NumberOf(sequence, "sequence_id");
  return fmt::format("{}{} {}", id == 0 ? "" : fmt::format("{}, ", id),
                     TextOf(sequence, "sequence"), TextOf(sequence, "producer"));
}

/// Adds the packets lost and written in each interval.
void AddLosses(const PageData& over, TimelinePicture& picture) {
  const PageData written = over.value("written", PageData::array());
  const PageData lost = over.value("lost", PageData::array());
  uint64_t most = 1;
  for (const PageData& count : written) most = std::max(most, count.get<uint64_t>());
  if (written.empty()) return;
  picture.Row("packets, lost ones red", 60);
  const uint64_t first = NumberOf(over, "first_ns"), interval = NumberOf(over, "interval_ns");
  for (size_t i = 0; i < written.size(); ++i) {
    const auto all = written[i].get<uint64_t>(), gone = lost[i].get<uint64_t>();
    const std::string what = fmt::format("{} of {} packets lost", gone, all);
    const auto share = [&](uint64_t part) {
      return static_cast<double>(part) / static_cast<double>(most);
    };
    picture.Bar("written", first + i * interval, first + (i + 1) * interval, what, share(all));
    picture.Bar("lost", first + i * interval, first + (i + 1) * interval, what, share(gone));
  }
}

/// What a session's sequences lost, and what is unusable of them, with its reads, flushes and
/// clones and how far its buffers reach back.
std::string TimelineSvg(const PageData& gaps, const PageData& info, const PageData& sweep) {
  constexpr size_t kSequencesShown = 24;
  const uint64_t end = NumberOf(info, "last_time_ns");
  TimelinePicture picture(NumberOf(info, "start_ns"), end);
  AddLosses(gaps.value("over_time", PageData::object()), picture);
  for (const PageData& buffer : gaps.value("buffers", PageData::array())) {
    if (buffer.value("policy", "") != Name(FillPolicy::kRingBuffer)) continue;
    picture.Row(fmt::format("buffers[{}] reaches back", TextOf(buffer, "index")));
    for (const PageData& row : sweep.value("configurations", PageData::array()))
      for (const PageData& tried : row.value("buffers", PageData::array()))
        if (tried.value("buffer", PageData()) == buffer.value("buffer", PageData()) &&
            tried.value("size", PageData()) == buffer.value("size", PageData()))
          picture.Bar("reach", end - std::min(end, NumberOf(tried, "history_ns")), end,
                      "reaches back so far when it is read");
  }
  picture.Row("reads, flushes, clones");
  for (const PageData& event : info.value("events", PageData::array())) {
    const std::string kind = event.value("event", "");
    const bool is_read = kind == "read";
    if (!is_read && !kind.starts_with("flush") && !kind.starts_with("clone")) continue;
    // A read without a time is one after the last record that has one.
    const uint64_t at = event.contains("time_ns") ? NumberOf(event, "time_ns") : end;
    picture.Bar(is_read ? "read" : "mark", at, at, Escaped(kind));
  }
  size_t shown = 0;
  for (const PageData& sequence : gaps.value("sequences", PageData::array())) {
    if (NumberOf(sequence, "gaps") == 0 || shown == kSequencesShown) continue;
    ++shown;
    picture.Row(NameOf(sequence));
    for (const PageData& gap : gaps.value("gaps", PageData::array())) {
      if (gap.value("sequence", "") != sequence.value("sequence", "") ||
          gap.value("buffer", PageData()) != sequence.value("buffer", PageData()))
        continue;
      const PageData written = gap.value("written", PageData::object());
      const PageData causes = gap.value("causes", PageData::array());
      picture.Bar("lost", NumberOf(written, "from_ns"), NumberOf(written, "to_ns"),
                  fmt::format("{} packets lost: {}", TextOf(gap, "packets"),
                              causes.empty() ? "" : TextOf(causes.front(), "text")));
      const auto next = gap.find("next");
      if (next == gap.end() || !next->is_object()) continue;
      const PageData unusable = next->value("unusable", PageData::object());
      if (NumberOf(unusable, "packets") > 0)
        picture.Bar("unusable", NumberOf(unusable, "from_ns"), NumberOf(unusable, "to_ns"),
                    fmt::format("{} packets unusable: they need state that was lost",
                                TextOf(unusable, "packets")));
    }
  }
  return picture.Svg();
}

/// The sessions of a log over time.
std::string TimelinesHtml(const PageData& data) {
  const auto sessions = [&](const char* command) {
    return data.value(command, PageData::object()).value("sessions", PageData::array());
  };
  const PageData gaps = sessions("gaps"), info = sessions("info"), sweep = sessions("sweep");
  std::string html;
  for (size_t i = 0; i < std::min(gaps.size(), info.size()); ++i)
    html += "<div class=\"scroll\" tabindex=\"0\">" +
            TimelineSvg(gaps[i], info[i], i < sweep.size() ? sweep[i] : PageData::object()) +
            "</div>\n";
  return html.empty()
             ? ""
             : "<section id=\"time\">\n<h2>The session over time</h2>\n" + html + "</section>\n";
}

std::string WordsHtml() {
  std::string html;
  for (const Word& word : Words())
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word.word, Escaped(word.meaning));
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

std::string PageOf(const PageData& data, const std::string& path) {
  std::string json = data.dump(-1, ' ', false, PageData::error_handler_t::replace);
  // Nothing in it can end the element that it is in.
  for (size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at + 1))
    json.replace(at, 1, "\\u003c");
  // Scripts run if they have this word, which nothing in the data can know.
  const XXH128_hash_t hash = XXH3_128bits(json.data(), json.size());
  return Filled(PageTemplate(), {{"title", Escaped(path)},
                                 {"nonce", fmt::format("{:016x}{:016x}", hash.high64, hash.low64)},
                                 {"answers", AnswersHtml(data.value("doctor", PageData::object()))},
                                 {"timeline", TimelinesHtml(data)},
                                 {"words", WordsHtml()},
                                 {"gaps", GapRowsHtml(data.value("gaps", PageData::object()))},
                                 {"data", json}});
}

void SetUp(CLI::App& app, ReportArgs& args) {
  AddLog(app, args.path, Traces::kExamined);
  AddSession(app, args.session);
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
  std::unique_ptr<SpooledInput> standard_input;
  if (args.path == "-") {
    RS_ASSIGN_OR_RETURN(standard_input, SpooledInput::Read(context));
  }
  OtherCommands commands(context, args);
  commands.data()["input"] = args.path;
  commands.data()["tool"] = ToolVersion();
  commands.data()["problems"] = PageData::array();
  commands.Run("doctor");
  const PageData doctor = commands.data().value("doctor", PageData::object());
  if (doctor.empty())
    return Fail(ErrorCode::kCorrupt, commands.data()["problems"].front().get<std::string>());
  const PageData traces = doctor.value("traces", PageData::array());
  // What follows needs a log: of a trace alone, the doctor says all that it proves.
  if (std::any_of(traces.begin(), traces.end(),
                  [](const PageData& trace) { return trace.contains("replay"); })) {
    commands.Run("gaps");
    KeepLargestGaps(commands.data());
    commands.Run("info");
    if (!args.quick) {
      commands.Run("sweep");
      commands.Run("advise");
    }
  }
  RS_RETURN_IF_ERROR(file->Write(PageOf(commands.data(), args.path)));
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return commands.found_damage() ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace

Command ReportCommand() {
  return {
      "report",
      "Explain",
      "Write a page on a session to attach to a bug",
      "Writes one HTML file on a session of a log or a Perfetto trace: the answer, what to change, "
      "loss over time, the sequences, the largest gaps, buffer sizes, what is wrong with the "
      "trace, and what happened when. It shows what doctor, gaps, info, sweep and advise print "
      "with '--format json', and has their documents in it. The file needs nothing from elsewhere; "
      "without JavaScript it has the answer and the largest gaps.",
      {{"ringscope report session.tblog -o report.html", "A page for a bug report"},
       {"ringscope report trace.pftrace -o report.html", "The same of a trace alone"},
       {"ringscope report --quick session.tblog -o report.html",
        "The same without what takes many replays"}},
      Bind(SetUp, RunReport),
      {.clean = "Done; the file was written."}};
}

}  // namespace ringscope
