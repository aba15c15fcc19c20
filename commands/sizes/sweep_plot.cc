#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands/shell/text.h"
#include "commands/sizes/sweep_report.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"
#include "formats/draw/svg_text.h"

namespace ringscope {

const char* const kSweepPlotStyle = R"(
.grid { stroke: var(--line); stroke-width: 0.5; }
.axis { stroke: var(--soft); }
.own { stroke: var(--soft); stroke-dasharray: 2 3; }
.target { stroke: var(--lost); stroke-width: 1.5; stroke-dasharray: 7 4; }
.mark { stroke: var(--page); stroke-width: 1; }
.l0 { stroke: var(--s0); } .l1 { stroke: var(--s1); } .l2 { stroke: var(--s2); }
.l3 { stroke: var(--s3); } .l4 { stroke: var(--s4); } .l5 { stroke: var(--s5); }
.l6 { stroke: var(--s6); } .l7 { stroke: var(--s7); } .l8 { stroke: var(--s8); }
.l9 { stroke: var(--s9); }
.d0, .d1, .d2, .d3 { stroke-width: 2; }
.d1 { stroke-dasharray: 10 5; }
.d2 { stroke-dasharray: 4 4; }
.d3 { stroke-dasharray: 12 4 2 4; }
)";

namespace {

// All measures are pixels.
constexpr double kLeft = 76;
constexpr double kTop = 24;
constexpr double kWidth = 560;
constexpr double kRight = 60;  // for names of targets
constexpr double kHeight = 170;
constexpr double kBetween = 62;  // panels, with the sizes and the next heading
constexpr double kOwnLine = 12;
constexpr double kLegendLine = 20;
constexpr size_t kColours = 10;
/// Series differ in colour, dashes and shape of marks. Only the first, which the others are drawn
/// over, has no dashes.
constexpr size_t kDashes = 4;
constexpr size_t kShapes = 4;

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
  explicit Plot(const SweepReport& report) : report_(report) {
    const std::vector<SweepSeries> all = SeriesOf(report);
    for (const SweepSeries& series : all) several_buffers_ |= series.buffer != all.front().buffer;
    for (const SweepSeries& series : all) AddSeries(series);
    double smallest = std::numeric_limits<double>::max(), largest = 0;
    for (const SweepSeries& series : series_) {
      for (const SweepRow* row : series.rows) {
        smallest = std::min(smallest, static_cast<double>(row->size));
        largest = std::max(largest, static_cast<double>(row->size));
        max_loss_ = std::max(max_loss_, Loss(*row));
      }
    }
    if (series_.empty()) return;
    first_ = std::log2(smallest);
    last_ = std::log2(largest);
    if (last_ - first_ < 1) first_ -= 0.5, last_ += 0.5;
  }

  std::string Draw() {
    FindOwnSizes();
    double y = kTop;
    const auto lines = [&](const std::string& text, const char* classes, double height) {
      for (const std::string& line : SvgTextLines(text, kWidth + kRight, classes)) {
        svg_.Text(kLeft, y, line, classes);
        y += height;
      }
    };
    lines("Loss and history by buffer size", "title", 20);
    lines(fmt::format("{}, session {}: {} over {}", Name(), report_.session,
                      Count(report_.result.records, "record"),
                      HumanDuration(report_.result.duration_ns())),
          "soft", 15);
    y += 22 + kOwnLine * static_cast<double>(own_lines_);
    DrawLoss(y);
    y += kHeight + kBetween;
    DrawHistory(y);
    y += kHeight + kBetween;
    DrawShortest(y);
    y += kHeight + 36;
    svg_.Text(kLeft + kWidth / 2, y, "buffer size", "id middle");
    return svg_.Finish(kLeft + kWidth + kRight, DrawLegend(y + 14), "loss and history by size",
                       SvgStyle(kSweepPlotStyle));
  }

 private:
  /// A size that buffers have in the log.
  struct Own {
    double x = 0;
    std::string name;
    double name_x = 0;
    size_t line = 0;  // of the name, counted from the panel up
    std::string title;
  };
  struct Panel {
    double top;
    double max;  // at its upper edge

    double Y(double value) const { return top + kHeight - std::min(value / max, 1.0) * kHeight; }
  };

  /// What is drawn of two series that are equal is there once, with both names.
  void AddSeries(const SweepSeries& series) {
    const auto points = [](const SweepSeries& of) {
      std::vector<std::tuple<uint64_t, double, uint64_t, uint64_t>> values;
      for (const SweepRow* row : of.rows)
        values.emplace_back(row->size, Loss(*row), row->history_ns, row->shortest_history_ns);
      return values;
    };
    const std::string name = SeriesName(series, several_buffers_);
    for (size_t i = 0; i < series_.size(); ++i) {
      if (points(series_[i]) != points(series)) continue;
      names_[i].push_back(name);
      return;
    }
    series_.push_back(series);
    names_.push_back({name});
  }

  /// The file with its folder: captures are often called alike.
  std::string Name() const {
    const std::string& path = report_.path;
    size_t slash = path.rfind('/');
    if (slash != std::string::npos && slash > 0) slash = path.rfind('/', slash - 1);
    return Printable(slash == std::string::npos ? path : path.substr(slash + 1));
  }
  static std::string Classes(size_t series) {
    const size_t dashes = series == 0 ? 0 : 1 + (series - 1) % (kDashes - 1);
    return fmt::format("l{} d{}", series % kColours, dashes);
  }
  double X(uint64_t size) const {
    return kLeft + (std::log2(static_cast<double>(size)) - first_) / (last_ - first_) * kWidth;
  }

  void DrawFrame(const Panel& panel, double step, const char* title, const char* unit) {
    const bool is_first = !std::exchange(has_panel_, true);
    const double own_lines = is_first ? kOwnLine * static_cast<double>(own_lines_) : 0;
    svg_.Text(kLeft, panel.top - 11 - own_lines, title, "heading");
    const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    for (int i = 0; i * step <= panel.max * (1 + 1e-9); ++i) {
      const double y = panel.Y(i * step);
      svg_.Line(kLeft, y, kLeft + kWidth, y, i == 0 ? "axis" : "grid");
      svg_.Text(kLeft - 12, y + 4, fmt::format("{:.{}f}{}", i * step, decimals, unit),
                "soft right");
    }
    const auto from = static_cast<int>(std::ceil(first_ - 1e-9));
    const auto to = static_cast<int>(std::floor(last_ + 1e-9));
    const int every = (to - from) / 10 + 1;
    for (int power = from; power <= to; power += every) {
      const double x = X(uint64_t{1} << power);
      svg_.Line(x, panel.top, x, panel.top + kHeight, "grid");
      svg_.Text(x, panel.top + kHeight + 19, HumanSize(uint64_t{1} << power), "soft middle");
    }
    for (const Own& own : own_) DrawOwnSize(panel, own, is_first);
  }

  /// The sizes that the log's buffers had, and where their names are.
  void FindOwnSizes() {
    std::map<uint64_t, std::vector<std::string>> buffers;
    for (const auto& [id, buffer] : report_.facts.buffers) {
      if (buffer.size == 0) continue;
      const double x = X(buffer.size);
      if (x < kLeft - 0.5 || x > kLeft + kWidth + 0.5) continue;
      buffers[buffer.size].push_back(std::to_string(Raw(id)));
    }
    std::vector<double> ends;  // of the names in each line
    for (const auto& [size, ids] : buffers) {
      Own own{.x = X(size), .name = "own size"};
      if (report_.facts.buffers.size() > 1)
        own.name += fmt::format(" of {} {}", ids.size() > 1 ? "buffers" : "buffer",
                                Shortened(Joined(ids), 24));
      own.title = fmt::format("{}: {}", own.name, HumanSize(size));
      const double width = SvgTextWidth(own.name, "small");
      own.name_x = std::clamp(own.x - width / 2, kLeft, kLeft + kWidth - width);
      while (own.line < ends.size() && ends[own.line] > own.name_x) ++own.line;
      if (own.line == ends.size()) ends.emplace_back();
      ends[own.line] = own.name_x + width + 8;
      own_.push_back(std::move(own));
    }
    own_lines_ = ends.size();
  }

  void DrawOwnSize(const Panel& panel, const Own& own, bool named) {
    const double name_y = panel.top - 8 - kOwnLine * static_cast<double>(own.line);
    svg_.BeginGroup(own.title);
    svg_.Line(own.x, named ? name_y + 2 : panel.top, own.x, panel.top + kHeight, "own");
    if (named) svg_.Text(own.name_x, name_y, own.name, "small soft");
    svg_.EndGroup();
  }

  void DrawTarget(const Panel& panel, double value, const std::string& text) {
    if (value > panel.max) return;
    svg_.BeginGroup("target: " + text);
    svg_.Line(kLeft, panel.Y(value), kLeft + kWidth, panel.Y(value), "target");
    svg_.Text(kLeft + kWidth + 4, panel.Y(value) + 4, "target", "lost small");
    svg_.EndGroup();
  }

  template <typename Value>
  void DrawLines(const Panel& panel, const Value& value) {
    for (size_t i = 0; i < series_.size(); ++i) {
      std::string path;
      for (const SweepRow* row : series_[i].rows)
        path += fmt::format("{} {} {} ", path.empty() ? "M" : "L", SvgNumber(X(row->size)),
                            SvgNumber(panel.Y(value(*row))));
      path.pop_back();
      svg_.Path(path, Classes(i));
    }
    for (size_t i = 0; i < series_.size(); ++i) {
      for (const SweepRow* row : series_[i].rows) {
        svg_.BeginGroup(Tip(Joined(names_[i], "\n"), *row));
        DrawMark(X(row->size), panel.Y(value(*row)), i, HalfMark(i));
        svg_.EndGroup();
      }
    }
  }

  /// Marks of earlier series are larger, so that all show where they are at one place.
  double HalfMark(size_t series) const {
    const double least = series_[series].rows.size() > 16 ? 3 : 4;
    return least + static_cast<double>(std::min<size_t>(series_.size() - 1 - series, 3));
  }

  void DrawMark(double x, double y, size_t series, double half) {
    const std::string classes = fmt::format("s{} mark", series % kColours);
    const auto polygon = [&](const char* form) {
      svg_.Polygon(fmt::format(fmt::runtime(form), SvgNumber(x), SvgNumber(y), SvgNumber(x - half),
                               SvgNumber(x + half), SvgNumber(y - half), SvgNumber(y + half)),
                   classes);
    };
    switch (series % kShapes) {
      case 0:
        svg_.Box({x - half, y - half, 2 * half, 2 * half}, classes, half);
        return;
      case 1:
        svg_.Box({x - half, y - half, 2 * half, 2 * half}, classes);
        return;
      case 2:
        polygon("{0},{4} {3},{5} {2},{5}");
        return;
      default:
        polygon("{0},{4} {3},{1} {0},{5} {2},{1}");
        return;
    }
  }

  static std::string Tip(const std::string& name, const SweepRow& row) {
    std::string tip = fmt::format(
        "{}\n{}: {} of {} lost ({} overwritten, {} discarded, {} otherwise)\nhistory {}", name,
        HumanSize(row.size), ShareText(row.lost_packets(), row.written.packets),
        Count(row.written.packets, "packet"), WithCommas(row.overwritten.packets),
        WithCommas(row.discarded.packets), WithCommas(row.lost_otherwise()),
        HumanDuration(row.history_ns));
    if (row.shortest_sequence)
      tip += fmt::format("; the shortest {}, of {}", HumanDuration(row.shortest_history_ns),
                         ToString(*row.shortest_sequence));
    return tip;
  }

  void DrawLoss(double top) {
    const double step = NiceStep(std::max(max_loss_, 0.01) / 5);
    const Panel panel{top, step * std::ceil(std::max(max_loss_, 0.01) / step - 1e-9)};
    DrawFrame(panel, step, "packets lost", "%");
    for (const SweepTarget& target : report_.targets)
      if (target.loss_millionths)
        DrawTarget(panel, static_cast<double>(*target.loss_millionths) / 1e4, target.text);
    DrawLines(panel, Loss);
  }

  void DrawHistory(double top) {
    DrawTimes(top, "history of the buffer", false,
              [](const SweepRow& row) { return InSeconds(row.history_ns); });
  }
  /// Of the sequence that has the shortest one, which is what a target is about.
  void DrawShortest(double top) {
    DrawTimes(top, "history of the sequence that has the shortest", true,
              [](const SweepRow& row) { return InSeconds(row.shortest_history_ns); });
  }

  template <typename Value>
  void DrawTimes(double top, const char* title, bool targets, const Value& value) {
    double max = InSeconds(report_.result.duration_ns());
    for (const SweepTarget& target : report_.targets)
      if (target.keep_ns) max = std::max(max, std::min(InSeconds(*target.keep_ns), 2 * max));
    if (max == 0) max = 1;
    const double step = NiceStep(max / 5);
    const Panel panel{top, step * std::ceil(max / step - 1e-9)};
    DrawFrame(panel, step, title, " s");
    for (const SweepTarget& target : report_.targets)
      if (targets && target.keep_ns) DrawTarget(panel, InSeconds(*target.keep_ns), target.text);
    DrawLines(panel, value);
  }

  /// @param y where it begins
  /// @return where it ends
  double DrawLegend(double y) {
    constexpr double kSign = 34;
    constexpr double kTextX = kLeft + kSign + 8;
    const auto text = [&](const std::string& words, const char* classes) {
      for (const std::string& line : SvgTextLines(words, kWidth - kSign - 8, classes)) {
        y += kLegendLine;
        svg_.Text(kTextX, y, line, classes);
      }
    };
    const auto sign = [&](const std::string& classes) {
      svg_.Path(fmt::format("M {} {} H {}", SvgNumber(kLeft), SvgNumber(y + kLegendLine - 4),
                            SvgNumber(kLeft + kSign)),
                classes);
    };
    for (size_t i = 0; i < series_.size(); ++i) {
      sign(Classes(i));
      DrawMark(kLeft + kSign / 2, y + kLegendLine - 4, i, 4);
      for (const std::string& name : names_[i])
        text(name == names_[i].front() ? name : "the same: " + name, "");
    }
    if (!own_.empty()) {
      sign("own");
      text("the log's own size", "");
    }
    if (!report_.targets.empty()) {
      sign("target");
      text("target " + TargetsText(report_), "");
    }
    for (const FoundSize& found : report_.found)
      if (found.point) text("met from " + SizesText(report_.result.rows[*found.point]), "soft");
    return y + 20;
  }

  const SweepReport& report_;
  std::vector<SweepSeries> series_;
  std::vector<std::vector<std::string>> names_;  // of each of these, one or more
  bool several_buffers_ = false;
  double first_ = 0, last_ = 1;  // log2 of the sizes at the ends of the axis
  double max_loss_ = 0;          // percent
  std::vector<Own> own_;         // by size
  size_t own_lines_ = 0;         // that their names take
  bool has_panel_ = false;       // one was drawn
  SvgWriter svg_;
};

}  // namespace

std::string SweepSvg(const SweepReport& report) { return Plot(report).Draw(); }

}  // namespace ringscope
