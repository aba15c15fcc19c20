#include <fmt/format.h>

#include <algorithm>

#include "commands/graph/layout_report.h"
#include "commands/replays/log_answer.h"
#include "commands/report/page_sections.h"
#include "commands/shell/text.h"
#include "commands/sizes/advise_report.h"
#include "commands/sizes/sweep_report.h"

namespace ringscope {
namespace {

constexpr size_t kPlotBytes = 90'000;
constexpr size_t kLayoutBytes = 170'000;
constexpr size_t kAdviceBytes = 30'000;
constexpr size_t kSweepBytes = 20'000;

void WriteSweep(PageWriter& out, const SweepReport& sweep) {
  PageBudget budget(kPlotBytes);
  out.Heading("Loss and history by buffer size");
  if (!out.Picture(SweepSvg(sweep), "Loss and history by buffer size; the log's own size is marked",
                   budget))
    out.Note("The picture is too large for this page.");
  out.Open("details");
  out.Element("summary", "The figures of the picture");
  out.BeginTable("What buffers of other sizes keep",
                 {{"buffer"},
                  {"size", true},
                  {""},
                  {"packets", true},
                  {"lost", true},
                  {"share lost", true},
                  {"history", true}},
                 /*sortable=*/true);
  const size_t start = out.size();
  size_t rows = 0, all = 0;
  for (const SweepSeries& series : SeriesOf(sweep)) {
    for (const SweepRow* row : series.rows) {
      ++all;
      if (out.size() - start > kSweepBytes) continue;
      ++rows;
      out.Row({fmt::format("{}, {}", Raw(series.buffer), SettingText(*series.setting, *row)),
               SizeCellOf(row->size), row->size == OwnSize(sweep, series.buffer) ? "today's" : "",
               CountCellOf(row->written.packets), CountCellOf(row->lost_packets()),
               ShareText(row->lost_packets(), row->written.packets),
               PageCell(HumanDuration(row->history_ns), row->history_ns)});
    }
  }
  out.EndTable();
  out.LeftOut(all - rows, "further row", "sweep");
  out.Close();
  out.Reproduce("sweep");
}

void WriteAdvice(PageWriter& out, const AdviceReport& advice) {
  out.Heading("Advice");
  const bool any = AnyToDo(advice.advice);
  out.Paragraph(fmt::format("Wanted: {}.", WishText(advice)));
  if (!any) out.Paragraph("There is nothing to change.");
  std::vector<const Advice*> items;
  for (const Advice& item : advice.advice) items.push_back(&item);
  std::stable_sort(items.begin(), items.end(),
                   [](const Advice* a, const Advice* b) { return a->to_do && !b->to_do; });
  out.Open("ul", {{"class", "advice"}});
  const size_t start = out.size();
  size_t listed = 0;
  for (const Advice* one : items) {
    if (out.size() - start > kAdviceBytes) break;
    ++listed;
    const Advice& item = *one;
    out.Open("li");
    out.Element("strong",
                fmt::format("{}{}:", item.to_do ? "To do. " : "", AdviceHeading(item.topic)));
    out.Text(" " + HtmlShortened(AdviceText(item, advice), 1000));
    out.Close();
  }
  out.Close();
  out.LeftOut(items.size() - listed, "further item of advice", "advise");
  if (any) {
    out.Heading("Trace config that follows the advice");
    out.Config(ConfigText(advice), "Trace config that follows the advice", kAdviceBytes);
  }
  out.Reproduce("advise");
}

void WriteEstimate(PageWriter& out, const TraceAdvice& estimate) {
  out.Paragraph(
      "No replay can try sizes, as the trace lacks what its buffers lost. These are estimates from "
      "its statistics; the trace config below has them. A log of such a session would prove them.");
  out.BeginTable("Buffers by the statistics of the trace", {{"buffer"},
                                                            {"size", true},
                                                            {"written", true},
                                                            {"lost", true},
                                                            {"holds", true},
                                                            {"size then", true},
                                                            {"holds then", true}});
  const auto time = [](const std::optional<uint64_t>& ns) {
    return ns ? PageCell(HumanDuration(*ns), *ns) : PageCell("-");
  };
  for (const EstimatedBuffer& buffer : estimate.sizes.buffers)
    out.Row({fmt::format("{}, {}", buffer.index, Name(buffer.policy)), SizeCellOf(buffer.size),
             buffer.written ? SizeCellOf(*buffer.written) : PageCell("-"),
             buffer.written ? PageCell(ShareText(buffer.lost, *buffer.written)) : PageCell("-"),
             time(buffer.reach_ns), SizeCellOf(buffer.planned), time(buffer.planned_reach_ns)});
  out.EndTable();
  const WriterShares& shares = estimate.writers;
  out.BeginTable(
      shares.of_all ? "Who filled the buffers, lost or not" : "Who wrote what is in the trace",
      {{"sequence"},
       {"writer"},
       {"bytes", true},
       {"of all", true},
       {"packets left", true},
       {"unusable", true}},
      /*sortable=*/true);
  const size_t start = out.size();
  size_t rows = 0;
  for (const WriterShare& writer : shares.writers) {
    if (out.size() - start > kSweepBytes) break;
    ++rows;
    out.Row({std::to_string(writer.sequence), CellText(writer.name), SizeCellOf(writer.bytes),
             ShareText(writer.bytes, shares.bytes), CountCellOf(writer.packets_left),
             CountCellOf(writer.unusable)});
  }
  out.EndTable();
  out.LeftOut(shares.writers.size() - rows, "further sequence", "advise --format json");
  out.Reproduce("advise");
}

}  // namespace

void WriteSizes(PageWriter& out, const PageResults& page) {
  out.BeginSection("sizes", "What would help");
  if (page.estimate) {
    WriteEstimate(out, *page.estimate);
    return out.EndSection();
  }
  const std::vector<std::string> remedies = RemedyTexts(page.remedies);
  if (!remedies.empty()) {
    out.Open("ul");
    for (const std::string& sentence : remedies) out.Element("li", sentence);
    out.Close();
  }
  if (page.quick) {
    out.Note("This page was made with --quick: there are neither a sweep over sizes nor advice.");
  } else {
    if (page.sweep)
      WriteSweep(out, *page.sweep);
    else
      out.Note("No sweep over sizes: " + page.sweep.error().message);
    if (page.advice)
      WriteAdvice(out, *page.advice);
    else
      out.Note("No advice: " + page.advice.error().message);
  }
  out.EndSection();
}

void WriteLayouts(PageWriter& out, const PageResults& page) {
  if (page.layouts.empty()) return;
  constexpr size_t kLayoutBuffers = 3;  // of each moment
  out.BeginReplaySection("layouts", "Who has the bytes of the buffers");
  PageBudget budget(kLayoutBytes);
  for (const PageLayout& layout : page.layouts) {
    out.Heading(fmt::format("The buffers {}", layout.when));
    // Those that lost most come first.
    std::vector<BufferLayout> buffers = layout.buffers;
    const auto lost = [&](const BufferLayout& buffer) {
      const auto totals = page.totals.find(buffer.buffer);
      return totals == page.totals.end() ? 0 : totals->second.lost().packets;
    };
    std::stable_sort(buffers.begin(), buffers.end(),
                     [&](const auto& a, const auto& b) { return lost(a) > lost(b); });
    size_t drawn = 0;
    for (const BufferLayout& buffer : buffers) {
      if (drawn == kLayoutBuffers) break;
      if (!out.Picture(LayoutSvg({buffer}, GraphClock(page.outcome.first_time_ns), page.notes,
                                 {.cells = 1536, .shares = 12}),
                       fmt::format("Bytes of buffer {} {}", Raw(buffer.buffer), layout.when),
                       budget))
        break;
      ++drawn;
    }
    const std::string at = layout.at.empty() ? "" : " --at " + layout.at;
    out.LeftOut(buffers.size() - drawn, "further buffer", "graph --layout" + at);
    out.Reproduce("graph --layout" + at);
  }
  out.EndSection();
}

}  // namespace ringscope
