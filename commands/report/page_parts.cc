#include "commands/report/page_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "formats/draw/svg.h"

namespace ringscope {

namespace {

constexpr size_t kCellCharacters = 240;
constexpr size_t kPathCharacters = 300;

}  // namespace

PageCell CountCellOf(uint64_t count) { return {WithCommas(count), count}; }
PageCell SizeCellOf(uint64_t bytes) { return {HumanSize(bytes), bytes}; }

std::string CellText(const std::string& text) { return HtmlShortened(text, kCellCharacters); }

void PageWriter::BeginSection(const char* id, const std::string& title) {
  const std::string heading = fmt::format("{}-title", id);
  Open("section", {{"id", id}, {"aria-labelledby", heading}});
  Element("h2", title, {{"id", heading}});
  contents_.push_back({id, title});
}

void PageWriter::BeginReplaySection(const char* id, const std::string& title) {
  BeginSection(id, title);
  if (results_.estimate)
    Note("Only packets in the trace are counted: what its buffers lost is not in it.");
}

std::string PageWriter::CommandLine(const std::string& words) const {
  return fmt::format(
      "ringscope {}{} {}", words,
      results_.session > 1 ? fmt::format(" --session {}", results_.session) : std::string(),
      HtmlShortened(ShellWord(results_.path), kPathCharacters));
}

void PageWriter::LeftOut(uint64_t count, const char* noun, const std::string& command) {
  if (count == 0) return;
  Open("p", {{"class", "note"}});
  Text(fmt::format("{} left out of this page: ",
                   Count(count, noun) + (count == 1 ? " is" : " are")));
  Element("code", CommandLine(command));
  Close();
}

void PageWriter::Reproduce(const std::string& words) {
  Open("p", {{"class", "command"}});
  Element("span", "The same by ", {});
  Element("code", CommandLine(words));
  Close();
}

void PageWriter::BeginScroll(const std::string& name) {
  Open("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", name}, {"tabindex", "0"}});
}

void PageWriter::BeginTable(const std::string& caption, const std::vector<PageColumn>& columns,
                            bool sortable) {
  BeginScroll(caption);
  Open("table", sortable ? HtmlAttributes{{"class", "sortable"}} : HtmlAttributes{});
  Element("caption", caption);
  Open("thead");
  Open("tr");
  for (const PageColumn& column : columns) {
    HtmlAttributes attributes = {{"scope", "col"}};
    if (column.is_number) attributes.emplace_back("class", "number");
    Element("th", column.title, attributes);
  }
  Close();
  Close();
  Open("tbody");
  columns_ = columns;
}

void PageWriter::Cells(const std::vector<PageCell>& cells, const std::vector<PageColumn>& columns) {
  Open("tr");
  for (size_t i = 0; i < cells.size(); ++i) {
    HtmlAttributes attributes;
    if (i == 0) attributes.emplace_back("scope", "row");
    if (i < columns.size() && columns[i].is_number) attributes.emplace_back("class", "number");
    if (cells[i].value) attributes.emplace_back("data-value", std::to_string(*cells[i].value));
    Element(i == 0 ? "th" : "td", CellText(cells[i].text), attributes);
  }
  Close();
}

void PageWriter::Row(const std::vector<PageCell>& cells) { Cells(cells, columns_); }

void PageWriter::EndTable() {
  Close();
  Close();
  EndScroll();
}

void PageWriter::Config(const std::string& config, const std::string& name, size_t limit) {
  BeginScroll(name);
  Open("pre", {{"class", "config"}});
  bool is_changed = false;
  size_t at = 0;
  const size_t start = size();
  while (at < config.size() && size() - start < limit) {
    const size_t end = std::min(config.find('\n', at), config.size());
    const std::string line = HtmlShortened(config.substr(at, end - at), kCellCharacters);
    const size_t text = line.find_first_not_of(' ');
    const bool is_comment = text != std::string::npos && line[text] == '#';
    if (is_comment)
      Element("span", line, {{"class", "reason"}});
    else if (is_changed)
      Element("mark", line);
    else
      Element("span", line);
    Text("\n");
    is_changed = is_comment;
    at = end + 1;
  }
  Close();
  EndScroll();
  if (at < config.size()) Note("The config is longer: the rest is left out of this page.");
}

bool PageWriter::Picture(const std::string& svg, const std::string& name, PageBudget& budget) {
  const std::string inlined = InlineSvg(svg, name);
  if (!budget.Take(inlined.size())) return false;
  BeginScroll(name);
  Html(inlined);
  EndScroll();
  return true;
}

}  // namespace ringscope
