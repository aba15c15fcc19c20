#include <fmt/format.h>

#include <algorithm>

#include "commands/report/page_sections.h"
#include "commands/shell/text.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

constexpr uint64_t kBurstNs = 100'000'000;
constexpr size_t kProducerBytes = 30'000;
constexpr size_t kUseBytes = 45'000;
constexpr size_t kUseDrawn = 6;  // producers
constexpr double kUseHeight = 100;
constexpr double kFullHeight = 5;  // of the marks at the top

using smb::UseChart;
using smb::UseInterval;

/// What is drawn, from the bottom up.
struct UseLayer {
  double UseInterval::*chunk_ns;
  const char* tone;
  const char* name;
};
constexpr UseLayer kUseLayers[] = {
    {&UseInterval::being_written, "s0", "being written"},
    {&UseInterval::held_back, "s4", "complete, held back by the producer"},
    {&UseInterval::waiting, "s1", "complete, waiting for the service"},
};

/// The area up to the sum of the layers up to this one, in steps.
std::string AreaUpTo(const UseChart& chart, size_t layer) {
  const double scale = kUseHeight / static_cast<double>(std::max<uint64_t>(chart.chunks(), 1));
  const auto top = [&](const UseInterval& interval) {
    double sum = 0;
    for (size_t below = 0; below <= layer; ++below)
      sum += interval.Mean(kUseLayers[below].chunk_ns);
    return SvgNumber(kUseHeight - sum * scale);
  };
  std::string path = fmt::format("M0 {}", SvgNumber(kUseHeight));
  const auto& intervals = chart.intervals();
  for (size_t i = 0; i < intervals.size();) {
    const std::string height = top(intervals[i]);
    size_t end = i + 1;
    while (end < intervals.size() && top(intervals[end]) == height) ++end;
    path += fmt::format("V{}h{}", height, end - i);
    i = end;
  }
  return path + fmt::format("V{}z", SvgNumber(kUseHeight));
}

/// Marks where a look showed no chunk free.
std::string FullMarks(const UseChart& chart) {
  std::string path;
  const auto& intervals = chart.intervals();
  for (size_t i = 0; i < intervals.size();) {
    size_t end = i + 1;
    while (end < intervals.size() && intervals[end].full == intervals[i].full) ++end;
    if (intervals[i].full) path += fmt::format("M{} 0V{}H{}V0z", i, SvgNumber(kFullHeight), end);
    i = end;
  }
  return path;
}

/// "at most 60 of 64 chunks in use; no chunk free, by the last look, in 3 of 480 intervals"
std::string UseSum(const UseChart& chart) {
  const auto& intervals = chart.intervals();
  const auto full = std::count_if(intervals.begin(), intervals.end(),
                                  [](const UseInterval& interval) { return interval.full; });
  return fmt::format(
      "at most {} of {} in use; {}", WithCommas(chart.most_used()), Count(chart.chunks(), "chunk"),
      full == 0 ? std::string("a chunk was free in every look")
                : fmt::format("no chunk free, by the last look, in {} of {} intervals", full,
                              intervals.size()));
}

std::string UseSvg(const UseChart& chart, const std::string& name) {
  std::string svg =
      fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img">)"
                  "<title>{}: {}</title>",
                  chart.intervals().size(), SvgNumber(kUseHeight), HtmlEscaped(name),
                  HtmlEscaped(UseSum(chart)));
  // Each area covers what is below it of the one before.
  for (size_t layer = std::size(kUseLayers); layer-- > 0;)
    svg +=
        fmt::format(R"(<path class="{}" d="{}"/>)", kUseLayers[layer].tone, AreaUpTo(chart, layer));
  if (const std::string full = FullMarks(chart); !full.empty())
    svg += fmt::format(R"(<path class="lost" d="{}"/>)", full);
  return svg + "</svg>";
}

/// Those whose memory was fullest, first.
std::vector<std::pair<ProducerId, const UseChart*>> FullestFirst(const PageResults& page) {
  std::vector<std::pair<ProducerId, const UseChart*>> charts;
  for (const auto& [producer, chart] : page.memories->charts())
    charts.emplace_back(producer, &chart);
  const auto rank = [](const UseChart& chart) {
    double full = 0, used = 0;
    for (const UseInterval& interval : chart.intervals()) {
      full += interval.full ? 1 : 0;
      for (const UseLayer& layer : kUseLayers) used += interval.Mean(layer.chunk_ns);
    }
    return std::pair(full, used / static_cast<double>(std::max<uint64_t>(chart.chunks(), 1)));
  };
  std::stable_sort(charts.begin(), charts.end(),
                   [&](const auto& a, const auto& b) { return rank(*a.second) > rank(*b.second); });
  return charts;
}

std::string ProducerName(const PageResults& page, ProducerId id) {
  for (const ProducerConnected& producer : page.summary.producers)
    if (producer.producer == id) return fmt::format("{} {}", Raw(id), producer.name);
  return std::to_string(Raw(id));
}

void WriteUse(PageWriter& out, const PageResults& page) {
  const TimelineAxis& axis = page.memory_axis;
  out.Heading("How full it was");
  out.Open("p");
  out.Text(fmt::format(
      "Chunks in use, on average over {} each, as the recorder's last look showed them; "
      "what happens between two looks is not seen. From the bottom: ",
      HumanDuration(axis.length() / kPageIntervals)));
  for (const UseLayer& layer : kUseLayers) {
    out.Element("span", layer.name, {{"class", fmt::format("key key-{}", layer.tone)}});
    out.Text(", ");
  }
  out.Text("free; ");
  out.Element("span", "at the top: no chunk free", {{"class", "key key-full"}});
  out.Text(".");
  out.Close();
  const auto charts = FullestFirst(page);
  PageBudget budget(kUseBytes);
  size_t drawn = 0;
  for (const auto& [producer, chart] : charts) {
    if (drawn == kUseDrawn) break;
    const std::string name = CellText(ProducerName(page, producer));
    const std::string svg = UseSvg(*chart, name);
    if (!budget.Take(svg.size())) break;
    ++drawn;
    out.Open("figure", {{"class", "lane memory"}});
    out.Open("figcaption");
    out.Element("span", name, {{"class", "lane-name"}});
    out.Text(" ");
    out.Element("span", UseSum(*chart), {{"class", "lane-sum"}});
    out.Close();
    out.Html(svg);
    out.Close();
  }
  if (drawn > 0) {
    out.Open("div", {{"class", "chart-axis"}, {"aria-hidden", "true"}});
    for (uint64_t i = 0; i <= 4; ++i) out.Element("span", HumanDuration(axis.length() / 4 * i));
    out.Close();
  }
  out.LeftOut(charts.size() - drawn, "further producer", "smb");
  out.Reproduce("smb");
}

void WriteBursts(PageWriter& out, const std::vector<AdviceProducer>& producers) {
  out.Paragraph(
      "The most that a producer committed within a tenth of a second, beside the size of its "
      "shared "
      "memory: a writer that finds no free chunk in it drops packets.");
  out.BeginTable("Producers and their shared memory",
                 {{"producer"},
                  {"shared memory", true},
                  {"most in 100 ms", true},
                  {"of the memory", true},
                  {"packets aborted", true},
                  {"packets that report a loss", true}},
                 /*sortable=*/true);
  const size_t start = out.size();
  size_t rows = 0;
  for (const AdviceProducer& producer : producers) {
    if (out.size() - start > kProducerBytes) break;
    ++rows;
    const uint64_t peak = producer.rate.PeakIn(kBurstNs);
    out.Row({fmt::format("{} {}", Raw(producer.id), producer.name),
             producer.smb_size ? SizeCellOf(*producer.smb_size) : PageCell("not logged"),
             SizeCellOf(peak),
             producer.smb_size.value_or(0) == 0
                 ? PageCell("-")
                 : PageCell(fmt::format("{:.0f}%", 100.0 * static_cast<double>(peak) /
                                                       static_cast<double>(*producer.smb_size)),
                            peak * 1000 / *producer.smb_size),
             CountCellOf(producer.aborted), CountCellOf(producer.flagged)});
  }
  out.EndTable();
  out.LeftOut(producers.size() - rows, "further producer", "advise");
  out.Reproduce("advise");
}

}  // namespace

void WriteSharedMemory(PageWriter& out, const PageResults& page) {
  const bool has_use = page.memories && !page.memories->charts().empty();
  const std::vector<AdviceProducer> none;
  const std::vector<AdviceProducer>& producers = page.advice ? page.advice->facts.producers : none;
  const bool is_logged =
      std::any_of(producers.begin(), producers.end(), [](const AdviceProducer& producer) {
        return producer.smb_size.has_value() || producer.aborted > 0;
      });
  if (!is_logged && !has_use) return;
  out.BeginSection("memory", "Shared memory of the producers");
  if (has_use) WriteUse(out, page);
  if (is_logged) WriteBursts(out, producers);
  out.EndSection();
}

}  // namespace ringscope
