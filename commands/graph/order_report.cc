#include "commands/graph/order_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "commands/view/json_fields.h"
#include "commands/view/table.h"
#include "core/session/buffer_event.h"

namespace ringscope {

template <typename Io>
void ListFields(Io& io, ReadStep& step) {
  io("step", step.number, "sequence", step.sequence, "first_chunk", step.first_chunk, "last_chunk",
     step.last_chunk);
  ListFields(io, step.packets);
}

template <typename Io>
void ListFields(Io& io, ReadStall& stall) {
  io("sequence", stall.chunk.sequence, "chunk", stall.chunk.chunk, "reason", stall.reason,
     "waits_for", stall.waits_for, "chunks", stall.chunks);
}

template <typename Io>
void ListFields(Io& io, ReadWalk& walk) {
  io("buffer", walk.buffer, "engine", walk.engine, "order", walk.order, "record", walk.at.record,
     "time_ns", walk.at.time_ns, "write_cursor", walk.write_cursor, "steps", walk.steps, "stalls",
     walk.stalls);
}

namespace {

/// By ReadOrder; {} is the write cursor.
constexpr std::array kOrderTexts = {
    "The order is what a copy of the buffer returned; the engine does not state its rule.",
    "A read pass starts at the write cursor, {:#x}, and follows the buffer from chunk to chunk. At "
    "each chunk it reads the sequence from its oldest chunk up to this one.",
    "A read pass takes the sequences by producer and writer, and reads each from its oldest chunk "
    "on. It leaves a sequence where a chunk id is missing."};

std::string StepsText(const ReadWalk& walk, bool full) {
  constexpr size_t kMaxSteps = 40;  // more are shown only if all are asked for
  Table table({{"step", Align::kRight},
               {"sequence", Align::kLeft},
               {"packets begin in", Align::kLeft},
               {"packets", Align::kRight},
               {"bytes", Align::kRight}});
  const size_t shown = full ? walk.steps.size() : std::min(walk.steps.size(), kMaxSteps);
  for (size_t i = 0; i < shown; ++i) {
    const ReadStep& step = walk.steps[i];
    std::string chunks = fmt::format("#{}", Raw(step.first_chunk));
    if (step.first_chunk != step.last_chunk) chunks += fmt::format("-#{}", Raw(step.last_chunk));
    table.AddRow({CountCell(step.number), ToString(step.sequence), std::move(chunks),
                  CountCell(step.packets.packets), BytesCell(step.packets.bytes)});
  }
  std::string text = table.Text(2);
  if (shown < walk.steps.size())
    text += fmt::format("  and {} (--full shows all)\n",
                        Count(walk.steps.size() - shown, "further step"));
  return text;
}

std::string WalkText(const ReadWalk& walk, bool full, const GraphClock& clock) {
  std::string text =
      fmt::format("buffer {} ({}) {}\n", Raw(walk.buffer), walk.engine, clock.After(walk.at));
  text += Wrap(fmt::format(fmt::runtime(kOrderTexts.at(static_cast<size_t>(walk.order))),
                           walk.write_cursor),
               2) +
          "\n";
  if (walk.steps.empty())
    text += "  Nothing is left to read here; choose another moment with --at.\n";
  else
    text += StepsText(walk, full);
  for (const ReadStall& stall : walk.stalls)
    text +=
        fmt::format("  {} stays: {} from #{} on, waiting for {}\n", ToString(stall.chunk.sequence),
                    Count(stall.chunks, "chunk"), Raw(stall.chunk.chunk),
                    WaitsFor(stall.reason, fmt::format("#{}", Raw(stall.waits_for))));
  return text;
}

}  // namespace

std::string OrderText(const std::vector<ReadWalk>& walks, bool full, const GraphClock& clock) {
  if (walks.empty())
    return "\nNo buffer is left at this moment; choose an earlier one with --at.\n";
  std::string text;
  for (const ReadWalk& walk : walks) text += "\n" + WalkText(walk, full, clock);
  return text;
}

Json OrderJson(const std::vector<ReadWalk>& walks) { return FieldsToJson(walks); }

}  // namespace ringscope
