#include <fmt/format.h>

#include <algorithm>

#include "commands/graph/graph_report.h"
#include "commands/view/table.h"
#include "core/session/replay_listener.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const LayoutExtent& extent) {
  io("kind", extent.kind, "offset", extent.offset, "size", extent.size);
  if (extent.kind == LayoutExtent::Kind::kChunk)
    io("sequence", extent.chunk.sequence, "chunk", extent.chunk.chunk, "payload_size",
       extent.payload_size, "consumed", extent.consumed, "incomplete", extent.incomplete,
       "needs_patching", extent.needs_patch);
}

void ListFields(JsonFieldWriter& io, const BufferLayout& layout) {
  io("buffer", layout.buffer, "engine", layout.engine, "policy", layout.policy, "size", layout.size,
     "record", layout.at.record, "time_ns", layout.at.time_ns, "before_read", layout.before_read,
     "write_cursor", layout.write_cursor, "wraps", layout.wraps, "extents", layout.extents);
}

void ListFields(JsonFieldWriter& io, const ReadStep& step) {
  io("step", step.number, "sequence", step.sequence, "first_chunk", step.first_chunk, "last_chunk",
     step.last_chunk);
  ListFields(io, step.packets);
}

void ListFields(JsonFieldWriter& io, const ReadStall& stall) {
  io("sequence", stall.chunk.sequence, "chunk", stall.chunk.chunk, "reason", stall.reason,
     "waits_for", stall.waits_for, "chunks", stall.chunks);
}

void ListFields(JsonFieldWriter& io, const ReadWalk& walk) {
  io("buffer", walk.buffer, "engine", walk.engine, "order", walk.order, "record", walk.at.record,
     "time_ns", walk.at.time_ns, "write_cursor", walk.write_cursor, "steps", walk.steps, "stalls",
     walk.stalls);
}

namespace {

/// "buffers[0] (v2@58, 256 KiB, ring_buffer) after record 4,734 (1.836718 s)"
std::string LayoutHeading(const BufferLayout& layout, const GraphClock& clock,
                          const SessionNotes& notes) {
  return fmt::format(
      "{} ({}, {}, {}) {}", notes.NameOf(layout.buffer), layout.engine, HumanSize(layout.size),
      Name(layout.policy),
      clock.After(layout.at, layout.before_read ? "before its last read, at" : "after"));
}

/// "2:2 (app/render): 120 chunks, 64 KiB, 60 KiB unread"
std::string ShareLine(const LayoutShare& share, const SessionNotes& notes) {
  if (share.kind == LayoutExtent::Kind::kPadding)
    return fmt::format("padding of consumed or cleared chunks: {}", HumanSize(share.bytes));
  if (share.kind == LayoutExtent::Kind::kUnused)
    return fmt::format("never written: {}", HumanSize(share.bytes));
  return fmt::format("{}: {}, {}, {} unread", notes.NameOf(share.sequence),
                     Count(share.chunks, "chunk"), HumanSize(share.bytes), HumanSize(share.unread));
}

constexpr size_t kTextCellsInRow = 64;
constexpr size_t kMaxTextCells = 32 * kTextCellsInRow;

/// Returns the sign of a cell: "A" unread, "a" consumed, beyond 26 sequences "@" and "o".
std::string Symbol(const LayoutShare& share, size_t index, bool consumed) {
  if (share.kind == LayoutExtent::Kind::kPadding) return "·";
  if (share.kind == LayoutExtent::Kind::kUnused) return " ";
  if (index >= 26) return consumed ? "o" : "@";
  return std::string(1, static_cast<char>((consumed ? 'a' : 'A') + static_cast<int>(index)));
}

std::string MapText(const BufferLayout& layout, const SessionNotes& notes) {
  const LayoutGrid grid = MakeGrid(layout, kMaxTextCells);
  std::string text = fmt::format(
      "  write cursor {:#x}; {} per character, {} per line\n"
      "  letters where chunks and lines begin: A== unread, a-- read\n",
      layout.write_cursor, HumanSize(grid.bytes_per_cell),
      HumanSize(grid.bytes_per_cell * kTextCellsInRow));
  for (size_t row = 0; row < grid.cells.size(); row += kTextCellsInRow) {
    const size_t end = std::min(row + kTextCellsInRow, grid.cells.size());
    std::string line;
    for (size_t i = row; i < end; ++i) {
      const LayoutCell& cell = grid.cells[i];
      const LayoutShare& share = grid.shares[cell.share];
      const bool continues = i > row && !cell.starts && cell.share == grid.cells[i - 1].share &&
                             share.kind == LayoutExtent::Kind::kChunk;
      line += continues ? (cell.consumed ? "-" : "=") : Symbol(share, cell.share, cell.consumed);
    }
    text += fmt::format("  {:#010x} │{}│\n", row * grid.bytes_per_cell, line);
  }
  for (size_t i = 0; i < grid.shares.size(); ++i)
    text += fmt::format("  {}  {}\n", Symbol(grid.shares[i], i, false),
                        ShareLine(grid.shares[i], notes));
  return text;
}

std::string StepsText(const ReadWalk& walk, bool full, size_t width) {
  constexpr size_t kMaxSteps = 40;  // more are shown only if all are asked for
  Table table({{"step", Align::kRight},
               {"writer", Align::kLeft},
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
  std::string text = table.Text(2, width);
  if (shown < walk.steps.size())
    text += fmt::format("  and {} (--full shows all)\n",
                        Count(walk.steps.size() - shown, "further step"));
  return text;
}

std::string WalkText(const ReadWalk& walk, bool full, const GraphClock& clock,
                     const SessionNotes& notes, size_t width) {
  std::string text =
      fmt::format("{} ({}) {}\n", notes.NameOf(walk.buffer), walk.engine, clock.After(walk.at));
  text +=
      Wrap(fmt::format(fmt::runtime(RowOf(walk.order).text), walk.write_cursor), 2, width) + "\n";
  if (walk.steps.empty())
    text += "  Nothing is left to read here; choose another moment with --at.\n";
  else
    text += StepsText(walk, full, width);
  for (const ReadStall& stall : walk.stalls)
    text +=
        fmt::format("  {} stays: {} from #{} on, waiting for {}\n", ToString(stall.chunk.sequence),
                    Count(stall.chunks, "chunk"), Raw(stall.chunk.chunk),
                    WaitsFor(stall.reason, fmt::format("#{}", Raw(stall.waits_for))));
  return text;
}

}  // namespace

std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                       const SessionNotes& notes, size_t width) {
  std::string text;
  for (const BufferLayout& layout : layouts)
    text += "\n" + Wrap(LayoutHeading(layout, clock, notes), "", 0, width) + "\n" +
            MapText(layout, notes);
  return text;
}

std::string OrderText(const std::vector<ReadWalk>& walks, bool full, const GraphClock& clock,
                      const SessionNotes& notes, size_t width) {
  if (walks.empty())
    return "\nNo buffer is left at this moment; choose an earlier one with --at.\n";
  std::string text;
  for (const ReadWalk& walk : walks) text += "\n" + WalkText(walk, full, clock, notes, width);
  return text;
}

}  // namespace ringscope
