#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "commands/shell/text.h"
#include "commands/sizes/sweep_report.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

constexpr const char* kPageStyle = R"(
body { font: 14px "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; margin: 24px;
  color: #1c1e21; background: #ffffff; }
table { border-collapse: collapse; margin: 8px 0 24px; }
th, td { padding: 3px 12px; text-align: right; border-bottom: 1px solid #b6bcc4; }
th { border-bottom-width: 2px; }
.own { font-weight: bold; }
td.kept { text-align: left; }
svg { max-width: 100%; height: auto; }
.bar { display: inline-block; width: 100px; height: 10px; background: #cc3340; margin-right: 8px; }
.bar i { display: block; height: 10px; background: #3f8f5b; }
@media (prefers-color-scheme: dark) { body { color: #e8eaed; background: #16181c; } }
)";

/// @param folded whether there is a column of folded packets
std::string HtmlRow(const SweepReport& report, const SweepRow& row, bool folded) {
  const uint64_t kept = row.kept_packets();
  const double share = row.written.packets == 0 ? 0
                                                : 100.0 * static_cast<double>(kept) /
                                                      static_cast<double>(row.written.packets);
  const bool own = row.size == OwnSize(report, row.id);
  return fmt::format(
      "<tr{}><td>{}</td><td class=\"kept\"><span class=\"bar\"><i "
      "style=\"width:{:.1f}%\"></i></span>{}</td>"
      "<td>{}</td><td>{}</td><td>{}</td>{}<td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      own ? " class=\"own\" title=\"the log's own size\"" : "", HumanSize(row.size), share,
      XmlEscaped(ShareText(kept, row.written.packets)), WithCommas(kept),
      HumanSize(row.read.bytes + row.unread.bytes), WithCommas(row.overwritten.packets),
      folded ? fmt::format("<td>{}</td>", WithCommas(row.folded.packets)) : "",
      WithCommas(row.discarded.packets), HumanDuration(row.history_ns),
      row.shortest_sequence ? fmt::format("{} ({})", HumanDuration(row.shortest_history_ns),
                                          ToString(*row.shortest_sequence))
                            : "",
      HumanSize(row.used_bytes));
}

}  // namespace

std::string SweepHtml(const SweepReport& report) {
  std::string svg = SweepSvg(report);
  if (const size_t start = svg.find("<svg"); start != std::string::npos) svg.erase(0, start);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<!-- {} -->\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>sweep of {}</title>\n<style>{}</style>\n</head>\n<body>\n{}",
      kDrawnMark, XmlEscaped(Printable(report.path)), kPageStyle, svg);
  for (const SweepSeries& all : SeriesOf(report)) {
    const SweepSeries series = AroundFound(report, all);
    const bool folded = std::ranges::any_of(
        series.rows, [](const SweepRow* row) { return row->folded.packets > 0; });
    page += fmt::format(
        "<h3>buffer {}: {}</h3>\n<p>{}, {} written by {}</p>\n<table>\n"
        "<tr><th>size</th><th>kept</th><th>packets</th><th>bytes</th><th>overwritten</th>{}"
        "<th>discarded</th><th>history</th><th>shortest (sequence)</th><th>memory</th></tr>\n",
        Raw(series.buffer), XmlEscaped(SettingText(*series.setting, *series.rows.front())),
        Count(series.rows.front()->written.packets, "packet"),
        HumanSize(series.rows.front()->written.bytes),
        Count(series.rows.front()->sequences.size(), "sequence"),
        folded ? "<th>folded into states</th>" : "");
    for (const SweepRow* row : series.rows) page += HtmlRow(report, *row, folded);
    page += "</table>\n";
  }
  for (const FoundSize& found : report.found)
    if (found.point)
      page += fmt::format("<p>Smallest size for {}: {}</p>\n", XmlEscaped(TargetsText(report)),
                          XmlEscaped(SizesText(report.result.rows[*found.point])));
  return page + "</body>\n</html>\n";
}

}  // namespace ringscope
