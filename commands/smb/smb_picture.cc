#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "commands/shell/text.h"
#include "commands/smb/smb_report.h"

namespace ringscope {
namespace {

using smb::MemoryFollower;
using smb::MemoryPicture;

constexpr size_t kPictureIndent = 2;
/// Letters on a line of a picture, and holders that it lists.
constexpr size_t kLettersOnALine = 64;
/// So many lines that are the same are written as one.
constexpr size_t kFewestSameLines = 3;
constexpr size_t kHoldersListed = 32;

/// "swh." of chunks.
char LetterOf(SeenChunk state) {
  switch (state) {
    case SeenChunk::kFree:
      return '.';
    case SeenChunk::kBeingWritten:
      return 'w';
    case SeenChunk::kHeldBack:
      return 'h';
    case SeenChunk::kWaiting:
      return 's';
    case SeenChunk::kBeingRead:
      return 'r';
    case SeenChunk::kBad:
      return '?';
  }
  return '?';
}

/// "w", or "[wh..]" of a page that is divided.
std::string PageText(const MemoryFollower& memory, size_t page) {
  const size_t chunks = memory.picture().pages()[page].bitmap().chunks();
  std::string text;
  for (size_t chunk = 0; chunk < std::max<size_t>(chunks, 1); ++chunk)
    text += LetterOf(SeenChunkOf(memory, {page, chunk}));
  return text.size() == 1 ? text : "[" + text + "]";
}

/// The chunks that most pages are divided into.
size_t MostChunks(const MemoryPicture& picture) {
  size_t most = 1;
  for (const MemoryPicture::Page& page : picture.pages())
    most = std::max(most, page.bitmap().chunks());
  return most;
}

/// A letter for each chunk; a grid of pages, as many in a line as there is space for.
std::string PictureText(const MemoryFollower& memory) {
  const size_t pages = memory.picture().pages().size();
  const size_t most = MostChunks(memory.picture());
  const size_t width = most == 1 ? 1 : most + 2;
  const size_t on_a_line = std::bit_floor(kLettersOnALine / width);
  std::vector<std::string> lines;
  for (size_t first = 0; first < pages; first += on_a_line) {
    std::string line;
    for (size_t page = first; page < std::min(pages, first + on_a_line); ++page)
      line += fmt::format("{:<{}}", PageText(memory, page), width);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  std::string text;
  for (size_t i = 0; i < lines.size();) {
    size_t end = i + 1;
    while (end < lines.size() && lines[end] == lines[i]) ++end;
    const bool is_short = end - i < kFewestSameLines;
    if (is_short) end = i + 1;
    text += fmt::format("  {:>5}  {}\n", WithCommas(i * on_a_line), lines[i]);
    if (!is_short)
      text += fmt::format("         the same up to page {}\n",
                          WithCommas(std::min(end * on_a_line, pages) - 1));
    i = end;
  }
  return text;
}

Json PageJson(const MemoryFollower& memory, size_t page) {
  const MemoryPicture::Page& seen = memory.picture().pages()[page];
  Json chunks = Json::array();
  for (size_t chunk = 0; chunk < seen.bitmap().chunks(); ++chunk) {
    Json json = {{"state", Name(seen.bitmap().StateOf(chunk))}};
    if (seen.bitmap().HasHeader(chunk)) {
      json["writer"] = Raw(seen.holders[chunk].writer);
      json["chunk"] = Raw(seen.holders[chunk].chunk);
      json["committed"] = memory.IsCommitted({page, chunk});
    }
    chunks.push_back(std::move(json));
  }
  return {{"page", page}, {"layout", seen.bitmap().layout()}, {"chunks", std::move(chunks)}};
}

void ReportHolders(Report& report, const MemoryFollower& memory) {
  Table table({{"page", Align::kRight},
               {"index", Align::kRight},
               {"state"},
               {"writer", Align::kRight},
               {"chunk", Align::kRight}});
  size_t held = 0;
  for (size_t page = 0; page < memory.picture().pages().size(); ++page) {
    const MemoryPicture::Page& seen = memory.picture().pages()[page];
    for (size_t chunk = 0; chunk < seen.bitmap().chunks(); ++chunk) {
      if (!seen.bitmap().HasHeader(chunk) || ++held > kHoldersListed) continue;
      const smb::ChunkHolder holder = seen.holders[chunk];
      const bool is_known = holder != smb::ChunkHolder{};
      table.AddRow({NumberCell(page), NumberCell(chunk),
                    SeenChunkText(SeenChunkOf(memory, {page, chunk})),
                    is_known ? NumberCell(Raw(holder.writer)) : Cell("?"),
                    is_known ? Cell(fmt::format("#{}", Raw(holder.chunk))) : Cell("?")});
    }
  }
  report.Section("", table, kPictureIndent);
  if (held > kHoldersListed)
    report.Paragraph(fmt::format("and {} more", WithCommas(held - kHoldersListed)), kPictureIndent);
}

}  // namespace

void ReportPicture(Report& report, const MemoryFollower& memory, const SmbProducers& producers,
                   uint64_t start_ns) {
  const smb::MemoryUse& use = memory.use();
  if (!memory.seen()) return;
  const smb::SeenMemory& seen = *memory.seen();
  Json pages = Json::array();
  for (size_t page = 0; page < memory.picture().pages().size(); ++page)
    if (!memory.picture().pages()[page].bitmap().is_undivided())
      pages.push_back(PageJson(memory, page));
  report.AddItem("pictures", [&] {
    report.Data(
        {{"producer", Raw(use.producer)}, {"look", SeenJson(seen)}, {"pages", std::move(pages)}});
    return 0;
  });
  report.Heading(PictureHeading(memory, producers, start_ns));
  report.Print(PictureText(memory));
  report.Print("  . free, w being written, h held back, s waiting for the service, r being read\n");
  if (MostChunks(memory.picture()) > 1)
    report.Print("  [ ] the chunks of a page; one that is not divided counts as one free chunk\n");
  ReportHolders(report, memory);
}

}  // namespace ringscope
