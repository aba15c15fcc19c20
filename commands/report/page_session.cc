#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "commands/log/story_text.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/story_words.h"
#include "commands/replays/verdict_words.h"
#include "commands/report/page_sections.h"
#include "commands/shell/context.h"
#include "commands/shell/text.h"
#include "commands/view/answer_report.h"
#include "core/base/wire.h"
#include "core/doctor/finding.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

constexpr size_t kStoryRows = 250;
constexpr size_t kStoryBytes = 50'000;
constexpr size_t kFindingsBytes = 50'000;
constexpr size_t kConfigBytes = 60'000;
constexpr size_t kListBytes = 12'000;  // of each list of sentences

/// Sentences as a list. @return how many there was space for
size_t WriteList(PageWriter& out, const std::vector<std::string>& texts) {
  const size_t start = out.size();
  size_t listed = 0;
  out.Open("ul");
  for (const std::string& text : texts) {
    if (out.size() - start > kListBytes) break;
    out.Element("li", HtmlShortened(text, 600));
    ++listed;
  }
  out.Close();
  return listed;
}

/// The session's trace configs, the last of each tracing session.
std::vector<std::string> ConfigsOf(const SessionSummary& summary) {
  std::map<std::optional<uint64_t>, std::string> configs;
  for (const LifeEvent& event : summary.life)
    if (event.Is<TraceConfigRecord>())
      configs[event.session] =
          Descriptors::BuiltIn().Text("TraceConfig", wire::AsBytes(event.detail));
  std::vector<std::string> texts;
  for (auto& [session, text] : configs) texts.push_back(std::move(text));
  return texts;
}

}  // namespace

void WriteStory(PageWriter& out, const PageResults& page) {
  StoryText story(page.summary, page.story);
  const std::vector<StoryLine> lines = story.Tell();
  if (lines.empty() && page.story.findings.empty()) return;
  out.BeginSection("story", "What happened when");
  if (!lines.empty()) {
    out.BeginTable("The session's events", {{"seconds", true}, {"what happened"}});
    PageBudget budget(kStoryBytes);
    size_t rows = 0;
    for (const StoryLine& line : lines) {
      const size_t before = out.size();
      if (rows == kStoryRows) break;
      out.Row({line.seconds, line.text});
      ++rows;
      if (!budget.Take(out.size() - before)) break;
    }
    out.EndTable();
    out.LeftOut(lines.size() - rows, "further event", "info");
  }
  if (!page.story.findings.empty()) {
    out.Heading("Without data");
    std::vector<std::string> texts;
    for (const SourceFinding& finding : page.story.findings) texts.push_back(FindingText(finding));
    out.LeftOut(texts.size() - WriteList(out, texts), "further finding", "info");
  }
  out.Reproduce("info");
  out.EndSection();
}

void WriteFindings(PageWriter& out, const PageResults& page) {
  out.BeginSection("findings", "What is wrong with the trace");
  if (!page.diagnosis) {
    out.Note("Not examined: " + page.diagnosis.error().message);
    return out.EndSection();
  }
  const DoctorTrace& trace = *page.diagnosis;
  out.Paragraph(HtmlShortened(trace.verdict, 1000));
  if (trace.replay) out.Paragraph(fmt::format("Based on a replay with {}.", *trace.replay));
  const size_t start = out.size();
  size_t shown = 0;
  for (const DoctorFinding& finding : trace.findings) {
    if (out.size() - start > kFindingsBytes) break;
    ++shown;
    out.Open("article", {{"class", "finding"}});
    out.Open("h3");
    out.Element("span", HarmText(finding.severity),
                {{"class", fmt::format("badge harm-{}", Name(finding.severity))}});
    out.Text(" " + finding.title);
    out.Close();
    out.Open("dl");
    const auto line = [&](const char* title, const std::string& text) {
      if (text.empty()) return;
      out.Element("dt", title);
      out.Element("dd", HtmlShortened(text, 800));
    };
    line("What", finding.what);
    line("Where", finding.where);
    line("Cause", finding.cause);
    line("Proof", finding.proof);
    line("Remedy", finding.remedy);
    line("Rule", finding.rule);
    out.Close();
    out.Close();
  }
  out.LeftOut(trace.findings.size() - shown, "further finding", "doctor --limit 0");
  const auto list = [&](const char* title, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out.Open("details");
    out.Element("summary", title);
    out.LeftOut(texts.size() - WriteList(out, texts), "further sentence", "doctor");
    out.Close();
  };
  list("Checked: no problem", trace.well);
  list("Not known", trace.unknown);
  out.Reproduce("doctor");
  out.EndSection();
}

void WriteConfig(PageWriter& out, const PageResults& page) {
  const std::optional<std::string> changed = page.diagnosis ? page.diagnosis->config : std::nullopt;
  const std::vector<std::string> configs = ConfigsOf(page.summary);
  out.BeginSection("config", "The trace config");
  // One config to follow is enough: that of the advice, where there is one.
  const bool advised = !page.estimate && page.advice && AnyToDo(page.advice->advice);
  if (changed && !advised) {
    out.Paragraph(
        "With the changes that the findings call for: changed lines have a plus sign, and the "
        "reason "
        "before them.");
    out.Config(*changed, "Trace config with changes", kConfigBytes);
    out.Reproduce("doctor");
  } else if (!configs.empty()) {
    if (advised) out.Paragraph("As the session had it; the advice has the config to use instead.");
    constexpr size_t kConfigs = 1;
    for (size_t i = 0; i < kConfigs; ++i) out.Config(configs[i], "Trace config", kConfigBytes);
    out.LeftOut(configs.size() - kConfigs, "further trace config", "info --format json");
    out.Reproduce("info --format json");
  } else {
    out.Note("The input has no trace config.");
  }
  out.EndSection();
}

void WriteEnvironment(PageWriter& out, const PageResults& page) {
  const LogHeader& header = page.summary.header;
  const ReplayOutcome& outcome = page.outcome;
  out.BeginSection("environment", "Where this comes from");
  out.Open("dl");
  const auto line = [&](const char* title, const std::string& text) {
    if (text.empty()) return;
    out.Element("dt", title);
    out.Element("dd", HtmlShortened(text, 600));
  };
  line("Page made by", ToolVersion());
  line("Input", page.path);
  line("Session",
       fmt::format("{}{}", page.session, header.uuid.empty() ? "" : ", uuid " + header.uuid));
  line("Records",
       fmt::format(
           "{}{}", WithCommas(outcome.records),
           outcome.duration_ns() > 0 ? ", over " + HumanDuration(outcome.duration_ns()) : ""));
  line("Clock", header.clock);
  line("Source", fmt::format("{}{}", Name(header.source),
                             header.description.empty() ? "" : ", " + header.description));
  line("Written by", header.tool);
  line("Machine", header.host);
  if (page.diagnosis) line("Tracing service", page.diagnosis->service_version);
  std::set<std::string> sdks;
  for (const ProducerConnected& producer : page.summary.producers)
    if (!producer.sdk.empty()) sdks.insert(producer.sdk);
  if (sdks.size() > 8) sdks.erase(std::next(sdks.begin(), 8), sdks.end());
  line("Producers' SDK", fmt::format("{}", fmt::join(sdks, "; ")));
  std::set<std::string> engines;
  for (const BufferOutcome& buffer : outcome.buffers) engines.insert(buffer.engine);
  line("Buffer versions", fmt::format("{}", fmt::join(engines, ", ")));
  line("Buffers read", ReadsText(outcome.reads));
  line("Exactness", InexactText(outcome.verdicts));
  if (outcome.recorder_gaps > 0) line("Gaps of the recording", WithCommas(outcome.recorder_gaps));
  out.Close();
  const auto list = [&](const char* title, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out.Heading(title);
    out.LeftOut(texts.size() - WriteList(out, texts), "further sentence", "info");
  };
  std::vector<std::string> assumed = page.assumptions;
  if (const std::string notes = ReadsNotes(outcome.reads); !notes.empty()) assumed.push_back(notes);
  list("What was assumed", assumed);
  list("What is not complete", page.problems);
  if (!outcome.clones.empty())
    out.Note(
        fmt::format("The session has {}: this page is what its own consumer has. See "
                    "'ringscope gaps --clone 1'.",
                    Count(outcome.clones.size(), "clone")));
  out.Reproduce("info");
  out.EndSection();
}

}  // namespace ringscope
