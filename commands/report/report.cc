#include <fmt/format.h>
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/replays/further_replays.h"
#include "commands/replays/input_notes.h"
#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/help.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

using PageData = nlohmann::ordered_json;

constexpr size_t kStaticGaps = 20;   // listed where there is no JavaScript
constexpr size_t kGapsInData = 100;  // the largest ones
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

  /// Runs `ringscope NAME --format json INPUT...`, as many at a time as there are cores. A command
  /// that fails leaves its message among the problems of the page in place of its document.
  void Run(const std::vector<const char*>& names) {
    std::vector<Result<PageData>> documents(names.size());
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

  /// True if an input that was read was damaged.
  bool found_damage() const { return found_damage_; }
  PageData& data() { return data_; }

 private:
  Result<PageData> Document(const char* name, bool shows_progress) {
    std::vector<std::string> options = {"--format", "json"};
    const SessionSelection& input = args_.input;
    if (input.only) options.insert(options.end(), {"--session", std::to_string(*input.only)});
    options.insert(options.end(), input.paths.begin(), input.paths.end());
    KeptText out, messages;
    Streams streams{out, messages, context_.console.streams().open_input, true};
    Console console(streams);
    if (shows_progress) console.ShowProgressOn(context_.console);
    Context inner{console, context_.threads, context_.files};
    RS_ASSIGN_OR_RETURN(const ExitCode code, RunNamed(name, std::move(options), inner));
    RS_RETURN_IF_ERROR(console.Flush());
    PageData document = PageData::parse(out.text, nullptr, /*allow_exceptions=*/false);
    // What 'info' finds is damage; the others also find losses. Of a trace, 'doctor' finds it.
    if (std::string_view(name) == "info" && code == ExitCode::kNotice) found_damage_ = true;
    for (const char* rule : {"\"trace.empty\"", "\"trace.corrupt\"", "\"trace.cut_off\""})
      if (out.text.find(rule) != std::string::npos) found_damage_ = true;
    if (!document.is_discarded()) return document;
    return Fail(ErrorCode::kCorrupt, "it printed no document");
  }

  Context& context_;
  const ReportArgs& args_;
  std::atomic<bool> found_damage_ = false;
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

/// The answers for each trace or session of the input; of several with the same findings, the
/// first. The worst ones first.
std::string AnswersHtml(const PageData& doctor) {
  const PageData traces = doctor.value("traces", PageData::array());
  const PageData groups = doctor.value("groups", PageData::array());
  std::string html;
  const auto add = [&html](const PageData& trace, size_t others) {
    const PageData answer = trace.value("answer", PageData::object());
    const std::string session = TextOf(trace, "session"), change = TextOf(answer, "change");
    html +=
        fmt::format("<p class=\"subject\">{}{}{}</p>\n<p class=\"headline {}\">{}</p>\n<dl>\n",
                    TextOf(trace, "input"), session.empty() ? "" : ": session " + session,
                    others == 0 ? "" : fmt::format(" and {} more with the same findings", others),
                    TextOf(answer, "severity"), TextOf(answer, "headline"));
    if (!change.empty())
      html += fmt::format("<dt>Change</dt><dd><strong>{}</strong></dd>\n", change);
    for (const PageData& line : answer.value("lines", PageData::array()))
      if (line.value("label", "") != "Over time")  // a picture has that
        html +=
            fmt::format("<dt>{}</dt><dd>{}</dd>\n", TextOf(line, "label"), TextOf(line, "text"));
    html += "</dl>\n";
  };
  for (const PageData& trace : traces)
    if (groups.empty()) add(trace, 0);
  for (const PageData& group : groups)
    add(traces.at(group.at("first").get<size_t>()), group.at("files").size() - 1);
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
  return Filled(ReportPage(), {{"title", Escaped(path)},
                               {"nonce", fmt::format("{:016x}{:016x}", hash.high64, hash.low64)},
                               {"answers", AnswersHtml(data.value("doctor", PageData::object()))},
                               {"words", WordsHtml()},
                               {"gaps", GapRowsHtml(data.value("gaps", PageData::object()))},
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
  std::unique_ptr<SpooledInput> standard_input;
  if (args.input.IsReadOnce()) {
    RS_ASSIGN_OR_RETURN(standard_input, SpooledInput::Read(context));
  }
  OtherCommands commands(context, args);
  const std::string input = Shortened(args.input.paths);
  commands.data()["input"] = input;
  commands.data()["tool"] = ToolVersion();
  commands.data()["problems"] = PageData::array();
  // Of traces, the doctor says all that they prove; the other commands need a log. The sweep, which
  // takes most memory, is alone and first. The doctor's error would be the last.
  std::vector<const char*> names = {"doctor"};
  if (args.input.paths.size() == 1 && !HasTraces(context, args.input)) {
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
  return commands.found_damage() ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace

Command ReportCommand() {
  return {
      "report",
      "Explain",
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
      {.clean = "Done; the file was written."}};
}

}  // namespace ringscope
