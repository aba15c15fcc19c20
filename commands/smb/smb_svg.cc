#include "commands/smb/smb_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/shell/text.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"
#include "formats/draw/svg_text.h"

namespace ringscope {
namespace {

// All measures are pixels.
constexpr double kSmbMargin = 24;
constexpr double kSmbLabel = 56;  // of the page numbers
constexpr double kSmbMapWidth = 1024;
constexpr double kSmbWidth = kSmbMargin + kSmbLabel + kSmbMapWidth + kSmbMargin;
constexpr double kSmbLine = 18;
constexpr size_t kWritersDrawn = 40;
constexpr size_t kRunsNamed = 6;  // of a writer's chunk ids

/// A chunk is drawn so wide at least, as far as that is possible.
constexpr double kSmbLeastChunk = 4;

/// How pages are drawn: the fewer, the larger.
struct CellSize {
  size_t columns;
  double height;
  double width() const { return kSmbMapWidth / static_cast<double>(columns); }
};
/// @param chunks that a page is divided into, at most
CellSize CellSizeFor(size_t pages, size_t chunks) {
  CellSize cell = pages <= 64    ? CellSize{8, 30}
                  : pages <= 512 ? CellSize{16, 22}
                                 : CellSize{64, 14};
  while (cell.columns > 8 && cell.width() < kSmbLeastChunk * static_cast<double>(chunks))
    cell.columns /= 2;
  return cell;
}

/// "#3 to #8, #12"
std::string ChunksText(std::vector<uint32_t> ids) {
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> runs;
  for (size_t i = 0; i < ids.size();) {
    size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    if (runs.size() == kRunsNamed) {
      runs.push_back(fmt::format("and {} more", ids.size() - i));
      break;
    }
    runs.push_back(end - i == 1 ? fmt::format("#{}", ids[i])
                                : fmt::format("#{} to #{}", ids[i], ids[end - 1]));
    i = end;
  }
  return Joined(runs);
}

class MemoryDrawing {
 public:
  MemoryDrawing(const SmbProducers& producers, uint64_t start_ns)
      : producers_(producers), start_ns_(start_ns) {}

  void Draw(const smb::MemoryFollower& memory) {
    svg_.Text(kSmbMargin, y_ + 14, PictureHeading(memory, producers_, start_ns_), "heading");
    svg_.Text(
        kSmbMargin, y_ + 32,
        MemoryLayoutText(memory.use()) + "; in a chunk, where it fits: its writer and its number",
        "soft");
    y_ += 46;
    DrawKey(*memory.seen());
    DrawPages(memory);
    DrawWriters(memory);
    y_ += kSmbLine;
  }
  void DrawRemark(const std::string& text) {
    for (const std::string& line : SvgTextLines(text, kSmbWidth - 2 * kSmbMargin, "soft")) {
      svg_.Text(kSmbMargin, y_ + 10, line, "soft");
      y_ += kSmbLine;
    }
    y_ += 4;
  }
  std::string Finish() {
    return svg_.Finish(kSmbWidth, y_ + 8, "shared memory of producers", SvgStyle());
  }

 private:
  static const char* ClassOf(SeenChunk state) {
    switch (state) {
      case SeenChunk::kFree:
        return "unused";
      case SeenChunk::kBeingWritten:
        return "s0";
      case SeenChunk::kHeldBack:
        return "s4";
      case SeenChunk::kWaiting:
        return "s1";
      case SeenChunk::kBeingRead:
        return "s2";
      case SeenChunk::kBad:
        return "s9";
    }
    return "";
  }

  void DrawKey(const smb::SeenMemory& seen) {
    double x = kSmbMargin;
    const auto add = [&](SeenChunk state, uint64_t count, const std::string& more) {
      const std::string text =
          fmt::format("{}: {}{}", SeenChunkText(state), WithCommas(count), more);
      svg_.Box({x, y_, 12, 12}, ClassOf(state), 2);
      svg_.Text(x + 18, y_ + 10, text, "");
      x += 18 + SvgTextWidth(text, "") + 24;
    };
    add(SeenChunk::kBeingWritten, seen.counts.being_written,
        fmt::format(", by {}", Count(seen.writers, "writer")));
    add(SeenChunk::kHeldBack, seen.held_back(), "");
    add(SeenChunk::kWaiting, seen.committed, "");
    if (seen.counts.being_read > 0) add(SeenChunk::kBeingRead, seen.counts.being_read, "");
    add(SeenChunk::kFree, seen.counts.free, "");
    if (seen.counts.bad_pages > 0) add(SeenChunk::kBad, seen.counts.bad_pages, "");
    y_ += kSmbLine + 6;
  }

  void DrawPages(const smb::MemoryFollower& memory) {
    const auto& pages = memory.picture().pages();
    size_t chunks = 1;
    for (const smb::MemoryPicture::Page& page : pages)
      chunks = std::max(chunks, page.bitmap().chunks());
    const CellSize cell = CellSizeFor(pages.size(), chunks);
    const double gap = chunks > 1 ? 4 : 2;  // between pages
    for (size_t row = 0; row < pages.size(); row += cell.columns) {
      svg_.Text(kSmbMargin + kSmbLabel - 8, y_ + cell.height / 2 + 4, WithCommas(row),
                "soft small right");
      for (size_t page = row; page < std::min(pages.size(), row + cell.columns); ++page)
        DrawPage(memory, page,
                 {kSmbMargin + kSmbLabel + static_cast<double>(page - row) * cell.width(), y_,
                  cell.width() - gap, cell.height - 2});
      y_ += cell.height;
    }
    y_ += 12;
  }

  void DrawPage(const smb::MemoryFollower& memory, size_t page, const SvgBox& box) {
    const smb::PageBitmap bitmap = memory.picture().pages()[page].bitmap();
    const size_t chunks = std::max<size_t>(bitmap.chunks(), 1);
    const double width = box.width / static_cast<double>(chunks);
    for (size_t chunk = 0; chunk < chunks; ++chunk) {
      const SeenChunk state = SeenChunkOf(memory, {page, chunk});
      const SvgBox part{box.x + static_cast<double>(chunk) * width, box.y,
                        width > 5 && chunk + 1 < chunks ? width - 1 : width, box.height};
      std::string title = fmt::format("page {} index {}: {}", page, chunk, SeenChunkText(state));
      std::string name;
      if (bitmap.HasHeader(chunk) && chunk < bitmap.chunks()) {
        const smb::ChunkHolder holder = memory.picture().pages()[page].holders[chunk];
        const bool is_known = holder != smb::ChunkHolder{};
        name = is_known ? fmt::format("{} #{}", Raw(holder.writer), Raw(holder.chunk)) : "?";
        title += is_known
                     ? fmt::format(", chunk {} of writer {}", Raw(holder.chunk), Raw(holder.writer))
                     : std::string(", its header is not written yet");
      }
      svg_.BeginGroup(title);
      svg_.Box(part, ClassOf(state), 2);
      DrawName(name, part);
      svg_.EndGroup();
    }
  }

  void DrawName(const std::string& name, const SvgBox& box) {
    const double needed = SvgTextWidth(name, "small") + 8;
    if (name.empty() || needed + 4 > box.width || box.height < 16) return;
    const double x = box.x + (box.width - needed) / 2;
    const double middle = box.y + box.height / 2;
    svg_.Box({x, middle - 7.5, needed, 15}, "page", 2);
    svg_.Text(x + 4, middle + 4, name, "small");
  }

  /// Which writers had the chunks, those with most of them first.
  void DrawWriters(const smb::MemoryFollower& memory) {
    struct Held {
      std::map<SeenChunk, std::vector<uint32_t>> chunks;
      size_t count = 0;
    };
    std::map<uint16_t, Held> writers;
    const auto& pages = memory.picture().pages();
    for (size_t page = 0; page < pages.size(); ++page) {
      for (size_t chunk = 0; chunk < pages[page].bitmap().chunks(); ++chunk) {
        if (!pages[page].bitmap().HasHeader(chunk)) continue;
        const smb::ChunkHolder holder = pages[page].holders[chunk];
        Held& held = writers[Raw(holder.writer)];
        held.chunks[SeenChunkOf(memory, {page, chunk})].push_back(Raw(holder.chunk));
        ++held.count;
      }
    }
    std::vector<std::pair<uint16_t, const Held*>> order;
    for (const auto& [writer, held] : writers) order.emplace_back(writer, &held);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second->count > b.second->count;
    });
    for (size_t i = 0; i < std::min(order.size(), kWritersDrawn); ++i) {
      const auto& [writer, held] = order[i];
      std::string text = writer == 0 ? std::string("a writer whose header is not written yet")
                                     : fmt::format("writer {}", writer);
      text += fmt::format(": {}", Count(held->count, "chunk"));
      for (const auto& [state, ids] : held->chunks)
        text += writer == 0 ? fmt::format("; {} {}", ids.size(), SeenChunkText(state))
                            : fmt::format("; {} {} ({})", ids.size(), SeenChunkText(state),
                                          ChunksText(ids));
      for (const std::string& line : SvgTextLines(text, kSmbWidth - 2 * kSmbMargin, "")) {
        svg_.Text(kSmbMargin, y_ + 10, line, "");
        y_ += kSmbLine;
      }
    }
    if (order.size() > kWritersDrawn) {
      svg_.Text(kSmbMargin, y_ + 10,
                fmt::format("and {}", Count(order.size() - kWritersDrawn, "further writer")),
                "soft");
      y_ += kSmbLine;
    }
  }

  const SmbProducers& producers_;
  const uint64_t start_ns_;
  SvgWriter svg_;
  double y_ = kSmbMargin;
};

}  // namespace

std::string MemorySvg(const std::vector<const smb::MemoryFollower*>& memories,
                      const SmbProducers& producers, uint64_t start_ns) {
  MemoryDrawing drawing(producers, start_ns);
  for (const smb::MemoryFollower* const memory : memories)
    if (memory->seen()) drawing.Draw(*memory);
  drawing.DrawRemark(memories.empty() ? "The log has no look at this memory up to then."
                                      : "As the last look up to then showed it; what happens "
                                        "between two looks is not seen.");
  return drawing.Finish();
}

}  // namespace ringscope
