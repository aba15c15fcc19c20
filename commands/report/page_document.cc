#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands/report/page_sections.h"
#include "commands/report/page_sources.h"
#include "commands/shell/context.h"
#include "commands/shell/text.h"
#include "core/base/sha256.h"
#include "formats/draw/svg_style.h"

namespace ringscope {
namespace {

/// What the page may use: its own style and script, known by their digests, and nothing else.
std::string PolicyOf(std::string_view style, std::string_view script) {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; "
      "form-action 'none'",
      Sha256Base64(style), Sha256Base64(script));
}

/// A section, and the bytes that it may take; with the command that has all of it.
struct PageSection {
  void (*write)(PageWriter&, const PageResults&);
  size_t limit;
  const char* command;
};

constexpr PageSection kSections[] = {
    {WriteAnswer, 60'000, "gaps"},        {WriteFates, 60'000, "gaps --summary"},
    {WriteTimeline, 320'000, "timeline"}, {WriteEvictions, 60'000, "gaps"},
    {WriteGapGroups, 80'000, "gaps"},     {WriteGapRows, 600'000, "gaps"},
    {WriteSizes, 200'000, "advise"},      {WriteLayouts, 180'000, "graph --layout"},
    {WriteSharedMemory, 89'000, "smb"},   {WriteFindings, 90'000, "doctor"},
    {WriteStory, 90'000, "info"},         {WriteConfig, 70'000, "info"},
    {WriteEnvironment, 40'000, "info"},
};
/// Of all else: the head with style and script, the contents.
constexpr size_t kFrameBytes = 60'000;

constexpr size_t SumOfLimits() {
  size_t sum = kFrameBytes;
  for (const PageSection& section : kSections) sum += section.limit;
  return sum;
}
static_assert(SumOfLimits() < kMaxPageBytes);

/// The section. Its lists have limits of their own; should it be larger than its limit all the
/// same, it only refers to the command.
/// @param contents gets its entry
std::string SectionHtml(const PageSection& section, const PageResults& page,
                        std::vector<PageWriter::Entry>& contents) {
  PageWriter out(page);
  section.write(out, page);
  if (out.contents().empty()) return {};
  const PageWriter::Entry entry = out.contents().front();
  contents.push_back(entry);
  std::string html = out.Take();
  if (html.size() <= section.limit) return html;
  PageWriter shorter(page);
  shorter.BeginSection(entry.id.c_str(), entry.title);
  shorter.Note("This is too large for the page.");
  shorter.Reproduce(section.command);
  shorter.EndSection();
  return shorter.Take();
}

void WriteHead(HtmlWriter& out, const std::string& title, const std::string& style) {
  out.Open("head");
  out.Void("meta", {{"charset", "utf-8"}});
  out.Void("meta",
           {{"http-equiv", "Content-Security-Policy"}, {"content", PolicyOf(style, PageScript())}});
  out.Void("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.Void("meta", {{"name", "generator"}, {"content", ToolVersion()}});
  out.Element("title", title);
  out.Open("style");
  out.Html(style);
  out.Close();
  out.Close();
}

}  // namespace

std::string PageHtml(const PageResults& page) {
  std::vector<PageWriter::Entry> contents;
  std::string body;
  for (const PageSection& section : kSections) body += SectionHtml(section, page, contents);

  const std::string name = HtmlShortened(page.path, 300);
  const std::string title = fmt::format("{}, session {}: ringscope report", name, page.session);
  const std::string style = PageToneStyle(kSweepPlotStyle).append(PageStyleSheet());
  HtmlWriter out;
  out.Html(fmt::format("<!DOCTYPE html>\n<!-- {} -->\n", kDrawnMark));
  out.Open("html", {{"lang", "en"}});
  WriteHead(out, title, style);
  out.Open("body");
  out.Element("a", "Skip to the report", {{"class", "skip"}, {"href", "#main"}});
  out.Open("header");
  out.Element("h1", "Trace buffer report");
  out.Element(
      "p",
      fmt::format(
          "{}, session {}{}", name, page.session,
          page.outcome.duration_ns() > 0 ? ", " + HumanDuration(page.outcome.duration_ns()) : ""),
      {{"class", "subject"}});
  out.Element("button", "Colours: as the system",
              {{"type", "button"}, {"id", "colours"}, {"hidden", ""}});
  out.Close();
  out.Open("nav", {{"aria-label", "Contents"}});
  out.Open("ul");
  for (const PageWriter::Entry& entry : contents) {
    out.Open("li");
    out.Element("a", entry.title, {{"href", "#" + entry.id}});
    out.Close();
  }
  out.Close();
  out.Close();
  out.Open("main", {{"id", "main"}, {"tabindex", "-1"}});
  out.Html(body);
  out.Close();
  out.Open("footer");
  out.Element("p", fmt::format("Made by {}. The page needs nothing from elsewhere; without "
                               "JavaScript all of it can be read.",
                               ToolVersion()));
  out.Close();
  out.Open("script");
  out.Html(PageScript());
  out.Close();
  out.Close();
  out.Close();
  return out.Take();
}

}  // namespace ringscope
