#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "commands/shell/text.h"
#include "commands/sweep/sweep_report.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"

namespace ringscope {

const char* const kSweepPlotStyle = R"(
.grid { stroke: var(--line); stroke-width: 0.5; }
.axis { stroke: var(--soft); }
.own { stroke: var(--soft); stroke-dasharray: 2 3; }
.target { stroke: var(--lost); stroke-width: 1.5; stroke-dasharray: 7 4; }
.dashed { stroke-dasharray: 4 4; }
text.middle { text-anchor: middle; }
.l0 { stroke: var(--s0); } .l1 { stroke: var(--s1); } .l2 { stroke: var(--s2); }
.l3 { stroke: var(--s3); } .l4 { stroke: var(--s4); } .l5 { stroke: var(--s5); }
.l6 { stroke: var(--s6); } .l7 { stroke: var(--s7); } .l8 { stroke: var(--s8); }
.l9 { stroke: var(--s9); }
.w0 { stroke-width: 2; }
.w1 { stroke-width: 4; }
.w2 { stroke-width: 6; }
.w3 { stroke-width: 8; }
)";

namespace {

// All measures are pixels.
constexpr double kLeft = 86;
constexpr double kTop = 66;
constexpr double kWidth = 560;
constexpr double kHeight = 220;
constexpr double kBetween = 46;  // panels
constexpr double kLegend = 30;   // right of the panels
constexpr double kLegendWidth = 330;
constexpr double kLegendLine = 20;
constexpr size_t kColours = 10;

double Loss(const SweepRow& row) {
  return row.written.packets == 0 ? 0
                                  : 100.0 * static_cast<double>(row.lost_packets()) /
                                        static_cast<double>(row.written.packets);
}
double InSeconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

/// The next of 1, 2, 5, 10, ... that is not below.
double NiceStep(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string SeriesName(const SweepSeries& series, bool several_buffers) {
  std::string name = SettingText(*series.setting, *series.rows.front());
  if (several_buffers) name = fmt::format("buffer {}: {}", Raw(series.buffer), name);
  return name;
}

class Plot {
 public:
  explicit Plot(const SweepReport& report) : report_(report), series_(SeriesOf(report)) {
    double smallest = std::numeric_limits<double>::max(), largest = 0;
    for (const SweepSeries& series : series_) {
      for (const SweepRow* row : series.rows) {
        smallest = std::min(smallest, static_cast<double>(row->size));
        largest = std::max(largest, static_cast<double>(row->size));
        max_loss_ = std::max(max_loss_, Loss(*row));
      }
      several_buffers_ |= series.buffer != series_.front().buffer;
    }
    if (series_.empty()) return;
    first_ = std::log2(smallest);
    last_ = std::log2(largest);
    if (last_ - first_ < 1) first_ -= 0.5, last_ += 0.5;
  }

  std::string Draw() {
    svg_.Text(kLeft, 28, fmt::format("What buffers of other sizes keep of {}", Name()), "title");
    svg_.Text(kLeft, 46,
              fmt::format("session {}: {} over {}", report_.session,
                          Count(report_.result.records, "record"),
                          HumanDuration(report_.result.duration_ns())),
              "soft");
    DrawLoss();
    DrawHistory();
    svg_.Text(kLeft + kWidth / 2, kTop + 2 * kHeight + kBetween + 50, "buffer size", "id middle");
    const double legend_end = DrawLegend();
    return svg_.Finish(kLeft + kWidth + kLegend + kLegendWidth,
                       std::max(kTop + 2 * kHeight + kBetween + 66, legend_end),
                       "loss and history against size", SvgStyle(kSweepPlotStyle));
  }

 private:
  struct Panel {
    double top;
    double max;  // at its upper edge

    double Y(double value) const { return top + kHeight - std::min(value / max, 1.0) * kHeight; }
  };

  /// The file with its folder: captures are often called alike.
  std::string Name() const {
    const std::string& path = report_.path;
    size_t slash = path.rfind('/');
    if (slash != std::string::npos && slash > 0) slash = path.rfind('/', slash - 1);
    return Printable(slash == std::string::npos ? path : path.substr(slash + 1));
  }
  /// Of a line: later ones are thinner, so that none hides another that is the same.
  std::string Classes(size_t series) const {
    return fmt::format("l{} w{}", series % kColours,
                       std::min<size_t>(series_.size() - 1 - series, 3));
  }
  double X(uint64_t size) const {
    return kLeft + (std::log2(static_cast<double>(size)) - first_) / (last_ - first_) * kWidth;
  }

  void DrawFrame(const Panel& panel, double step, const char* title, const char* unit) {
    svg_.Text(kLeft, panel.top - 8, title, "heading");
    const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    for (int i = 0; i * step <= panel.max * (1 + 1e-9); ++i) {
      const double y = panel.Y(i * step);
      svg_.Line(kLeft, y, kLeft + kWidth, y, i == 0 ? "axis" : "grid");
      svg_.Text(kLeft - 8, y + 4, fmt::format("{:.{}f}{}", i * step, decimals, unit), "soft right");
    }
    const auto from = static_cast<int>(std::ceil(first_ - 1e-9));
    const auto to = static_cast<int>(std::floor(last_ + 1e-9));
    const int every = (to - from) / 10 + 1;
    for (int power = from; power <= to; power += every) {
      const double x = X(uint64_t{1} << power);
      svg_.Line(x, panel.top, x, panel.top + kHeight, "grid");
      svg_.Text(x, panel.top + kHeight + 16, HumanSize(uint64_t{1} << power), "soft middle");
    }
    DrawOwnSizes(panel);
  }

  void DrawOwnSizes(const Panel& panel) {
    for (const auto& [id, buffer] : report_.facts.buffers) {
      if (buffer.size == 0) continue;
      const double x = X(buffer.size);
      if (x < kLeft - 0.5 || x > kLeft + kWidth + 0.5) continue;
      svg_.BeginGroup(
          fmt::format("the log's own size of buffer {}: {}", Raw(id), HumanSize(buffer.size)));
      svg_.Line(x, panel.top - 4, x, panel.top + kHeight, "own");
      const std::string label =
          report_.facts.buffers.size() > 1 ? fmt::format("own, {}", Raw(id)) : "log's own";
      svg_.Text(x, panel.top - 7, label, "small soft middle");
      svg_.EndGroup();
    }
  }

  void DrawTarget(const Panel& panel, double value, const std::string& text) {
    if (value > panel.max) return;
    svg_.BeginGroup("target: " + text);
    svg_.Line(kLeft, panel.Y(value), kLeft + kWidth, panel.Y(value), "target");
    svg_.Text(kLeft + kWidth + 4, panel.Y(value) + 4, "target", "lost small");
    svg_.EndGroup();
  }

  template <typename Value>
  void DrawLines(const Panel& panel, const Value& value, bool marks) {
    for (size_t i = 0; i < series_.size(); ++i) {
      std::string path;
      for (const SweepRow* row : series_[i].rows)
        path += fmt::format("{} {} {} ", path.empty() ? "M" : "L", SvgNumber(X(row->size)),
                            SvgNumber(panel.Y(value(*row))));
      path.pop_back();
      svg_.Path(path, marks ? Classes(i) : fmt::format("l{} w0 dashed", i % kColours));
    }
    if (!marks) return;
    for (size_t i = 0; i < series_.size(); ++i) {
      for (const SweepRow* row : series_[i].rows) {
        svg_.BeginGroup(Tip(series_[i], *row));
        const double half = series_[i].rows.size() > 16 ? 3 : 4;
        svg_.Box({X(row->size) - half, panel.Y(value(*row)) - half, 2 * half, 2 * half},
                 fmt::format("s{}", i % kColours), half);
        svg_.EndGroup();
      }
    }
  }

  std::string Tip(const SweepSeries& series, const SweepRow& row) const {
    std::string tip =
        fmt::format("{}\n{}: {} of {} lost ({} overwritten, {} discarded)\nhistory {}",
                    SeriesName(series, several_buffers_), HumanSize(row.size),
                    ShareText(row.lost_packets(), row.written.packets),
                    Count(row.written.packets, "packet"), WithCommas(row.overwritten.packets),
                    WithCommas(row.discarded.packets), HumanDuration(row.history_ns));
    if (row.shortest_sequence)
      tip += fmt::format("; the shortest {}, of {}", HumanDuration(row.shortest_history_ns),
                         ToString(*row.shortest_sequence));
    return tip;
  }

  void DrawLoss() {
    const double step = NiceStep(std::max(max_loss_, 0.01) / 5);
    const Panel panel{kTop + 14, step * std::ceil(std::max(max_loss_, 0.01) / step - 1e-9)};
    DrawFrame(panel, step, "packets lost", "%");
    for (const SweepTarget& target : report_.targets)
      if (target.loss_millionths)
        DrawTarget(panel, static_cast<double>(*target.loss_millionths) / 1e4, target.text);
    DrawLines(panel, Loss, true);
  }

  void DrawHistory() {
    double max = InSeconds(report_.result.duration_ns());
    for (const SweepTarget& target : report_.targets)
      if (target.keep_ns) max = std::max(max, std::min(InSeconds(*target.keep_ns), 2 * max));
    if (max == 0) max = 1;
    const double step = NiceStep(max / 5);
    const Panel panel{kTop + 14 + kHeight + kBetween, step * std::ceil(max / step - 1e-9)};
    DrawFrame(panel, step, "history", " s");
    for (const SweepTarget& target : report_.targets)
      if (target.keep_ns) DrawTarget(panel, InSeconds(*target.keep_ns), target.text);
    DrawLines(
        panel, [](const SweepRow& row) { return InSeconds(row.shortest_history_ns); }, false);
    DrawLines(
        panel, [](const SweepRow& row) { return InSeconds(row.history_ns); }, true);
  }

  /// @return where it ends
  double DrawLegend() {
    const double x = kLeft + kWidth + kLegend + 14;
    double y = kTop + 20;
    const auto entry = [&](const std::string& classes, const std::string& text) {
      svg_.Path(fmt::format("M {} {} L {} {}", SvgNumber(x), SvgNumber(y - 4), SvgNumber(x + 26),
                            SvgNumber(y - 4)),
                classes);
      svg_.Text(x + 34, y, text, "");
      y += kLegendLine;
    };
    for (size_t i = 0; i < series_.size(); ++i)
      entry(Classes(i), SeriesName(series_[i], several_buffers_));
    y += 8;
    entry("axis dashed", "shortest history of a sequence");
    entry("own", "the log's own size");
    if (!report_.targets.empty()) entry("target", "target " + TargetsText(report_));
    for (const FoundSize& found : report_.found) {
      if (!found.point) continue;
      svg_.Text(x, y, "met from " + SizesText(report_.result.rows[*found.point]), "soft");
      y += kLegendLine;
    }
    return y + 10;
  }

  const SweepReport& report_;
  const std::vector<SweepSeries> series_;
  bool several_buffers_ = false;
  double first_ = 0, last_ = 1;  // log2 of the sizes at the ends of the axis
  double max_loss_ = 0;          // percent
  SvgWriter svg_;
};

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

std::string HtmlRow(const SweepReport& report, const SweepRow& row) {
  const uint64_t kept = row.kept_packets();
  const double share = row.written.packets == 0 ? 0
                                                : 100.0 * static_cast<double>(kept) /
                                                      static_cast<double>(row.written.packets);
  const bool own = row.size == OwnSize(report, row.id);
  return fmt::format(
      "<tr{}><td>{}</td><td class=\"kept\"><span class=\"bar\"><i "
      "style=\"width:{:.1f}%\"></i></span>{}</td>"
      "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      own ? " class=\"own\" title=\"the log's own size\"" : "", HumanSize(row.size), share,
      XmlEscaped(ShareText(kept, row.written.packets)), WithCommas(kept),
      HumanSize(row.read.bytes + row.unread.bytes), WithCommas(row.overwritten.packets),
      WithCommas(row.discarded.packets), HumanDuration(row.history_ns),
      row.shortest_sequence ? fmt::format("{} ({})", HumanDuration(row.shortest_history_ns),
                                          ToString(*row.shortest_sequence))
                            : "",
      HumanSize(row.used_bytes));
}

}  // namespace

std::string SweepSvg(const SweepReport& report) { return Plot(report).Draw(); }

std::string SweepHtml(const SweepReport& report) {
  std::string svg = SweepSvg(report);
  if (const size_t start = svg.find("<svg"); start != std::string::npos) svg.erase(0, start);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<!-- {} -->\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>sweep of {}</title>\n<style>{}</style>\n</head>\n<body>\n{}",
      kDrawnMark, XmlEscaped(Printable(report.path)), kPageStyle, svg);
  for (const SweepSeries& all : SeriesOf(report)) {
    const SweepSeries series = AroundFound(report, all);
    page += fmt::format(
        "<h3>buffer {}: {}</h3>\n<p>{}, {} written by {}</p>\n<table>\n"
        "<tr><th>size</th><th>kept</th><th>packets</th><th>bytes</th><th>overwritten</th>"
        "<th>discarded</th><th>history</th><th>shortest (sequence)</th><th>memory</th></tr>\n",
        Raw(series.buffer), XmlEscaped(SettingText(*series.setting, *series.rows.front())),
        Count(series.rows.front()->written.packets, "packet"),
        HumanSize(series.rows.front()->written.bytes),
        Count(series.rows.front()->sequences.size(), "sequence"));
    for (const SweepRow* row : series.rows) page += HtmlRow(report, *row);
    page += "</table>\n";
  }
  for (const FoundSize& found : report.found)
    if (found.point)
      page += fmt::format("<p>Smallest size for {}: {}</p>\n", XmlEscaped(TargetsText(report)),
                          XmlEscaped(SizesText(report.result.rows[*found.point])));
  return page + "</body>\n</html>\n";
}

}  // namespace ringscope
