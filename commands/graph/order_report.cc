#include "commands/graph/order_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "commands/view/table.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

/// More steps than this are shown only if all are asked for.
constexpr size_t kMaxSteps = 40;

bool IsChosen(const OrderReport& report, SequenceKey sequence) {
  return report.sequences.empty() || std::find(report.sequences.begin(), report.sequences.end(),
                                               sequence) != report.sequences.end();
}

/// How the pass goes, in sentences.
std::string RuleText(const ReadWalk& walk) {
  switch (walk.order) {
    case ReadOrder::kByBuffer:
      return fmt::format(
          "A read pass starts at the write cursor, {:#x}, and follows the buffer from chunk to "
          "chunk. At each chunk it reads the sequence from its oldest chunk up to this one.",
          walk.write_cursor);
    case ReadOrder::kBySequence:
      return "A read pass takes the sequences by producer and writer, and reads each from its "
             "oldest chunk on. It leaves a sequence where a chunk id is missing.";
    case ReadOrder::kUnknown:
      break;
  }
  return "The order is what a copy of the buffer returned; the engine does not state its rule.";
}

/// "#4", "#4-#7"
std::string ChunksText(const ReadStep& step) {
  if (step.first_chunk == step.last_chunk) return fmt::format("#{}", Raw(step.first_chunk));
  return fmt::format("#{}-#{}", Raw(step.first_chunk), Raw(step.last_chunk));
}

std::string StepsText(const OrderReport& report, const ReadWalk& walk) {
  const bool by_buffer = walk.order == ReadOrder::kByBuffer;
  std::vector<Column> columns = {{"step", Align::kRight}};
  if (by_buffer) columns.push_back({"reached at", Align::kRight});
  columns.insert(columns.end(), {{"sequence", Align::kLeft},
                                 {"packets begin in", Align::kLeft},
                                 {"packets", Align::kRight},
                                 {"bytes", Align::kRight}});
  Table table(columns);
  size_t shown = 0;
  size_t chosen = 0;
  for (size_t i = 0; i < walk.steps.size(); ++i) {
    const ReadStep& step = walk.steps[i];
    if (!IsChosen(report, step.sequence)) continue;
    ++chosen;
    if (!report.full && shown == kMaxSteps) continue;
    ++shown;
    std::vector<Cell> row = {CountCell(i + 1)};
    if (by_buffer) row.emplace_back(fmt::format("{:#x}", step.offset));
    row.insert(row.end(), {ToString(step.sequence), ChunksText(step),
                           CountCell(step.packets.packets), BytesCell(step.packets.bytes)});
    table.AddRow(std::move(row));
  }
  std::string text = table.Text(2);
  if (shown < chosen)
    text += fmt::format("  and {} (--full shows all)\n", Count(chosen - shown, "further step"));
  return text;
}

std::string WalkText(const OrderReport& report, const ReadWalk& walk, const GraphClock& clock) {
  std::string text = fmt::format("buffer {} ({}) after record {}", Raw(walk.buffer), walk.engine,
                                 WithCommas(walk.at.record.value_or(0)));
  if (walk.at.time_ns) text += fmt::format(" ({})", clock.At(walk.at));
  text += "\n" + Wrap(RuleText(walk), 2) + "\n";
  if (walk.steps.empty())
    text += "  Nothing is left to read here; choose another moment with --at.\n";
  else
    text += StepsText(report, walk);
  for (const ReadStall& stall : walk.stalls) {
    if (!IsChosen(report, stall.chunk.sequence)) continue;
    text +=
        fmt::format("  {} stays: {} from #{} on, waiting for {}\n", ToString(stall.chunk.sequence),
                    Count(stall.chunks, "chunk"), Raw(stall.chunk.chunk),
                    WaitsFor(stall.reason, fmt::format("#{}", Raw(stall.waits_for))));
  }
  return text;
}

Json StepJson(const ReadStep& step, size_t number) {
  Json json = {{"step", number},
               {"sequence", ToString(step.sequence)},
               {"first_chunk", Raw(step.first_chunk)},
               {"last_chunk", Raw(step.last_chunk)},
               {"packets", step.packets.packets},
               {"bytes", step.packets.bytes}};
  if (step.target) {
    json["target_chunk"] = Raw(*step.target);
    json["offset"] = step.offset;
  }
  return json;
}

}  // namespace

std::string OrderText(const OrderReport& report, const GraphClock& clock) {
  if (report.walks.empty())
    return "\nNo buffer is left at this moment; choose an earlier one with --at.\n";
  std::string text;
  for (const ReadWalk& walk : report.walks) text += "\n" + WalkText(report, walk, clock);
  return text;
}

Json OrderJson(const OrderReport& report) {
  Json json = Json::array();
  for (const ReadWalk& walk : report.walks) {
    Json buffer = {{"buffer", Raw(walk.buffer)}, {"engine", walk.engine},
                   {"order", Name(walk.order)},  {"record", walk.at.record},
                   {"time_ns", walk.at.time_ns}, {"write_cursor", walk.write_cursor},
                   {"steps", Json::array()},     {"stalls", Json::array()}};
    for (size_t i = 0; i < walk.steps.size(); ++i)
      if (IsChosen(report, walk.steps[i].sequence))
        buffer["steps"].push_back(StepJson(walk.steps[i], i + 1));
    for (const ReadStall& stall : walk.stalls)
      if (IsChosen(report, stall.chunk.sequence))
        buffer["stalls"].push_back({{"sequence", ToString(stall.chunk.sequence)},
                                    {"chunk", Raw(stall.chunk.chunk)},
                                    {"reason", Name(stall.reason)},
                                    {"waits_for", Raw(stall.waits_for)},
                                    {"chunks", stall.chunks}});
    json.push_back(std::move(buffer));
  }
  return json;
}

}  // namespace ringscope
