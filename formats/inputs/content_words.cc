#include "formats/inputs/content_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/wire.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {
namespace {

using namespace std::string_view_literals;

/// Bytes at a place by which a format is known.
struct Magic {
  std::string_view bytes;
  const char* words;
  size_t offset = 0;
};

constexpr std::array kMagics = {
    Magic{"\x89PNG\r\n"sv, "a PNG image"},
    Magic{"\xFF\xD8\xFF"sv, "a JPEG image"},
    Magic{"GIF8"sv, "a GIF image"},
    Magic{"WEBP"sv, "a WebP image", 8},
    Magic{"%PDF-"sv, "a PDF document"},
    Magic{"\x7F"
          "ELF"sv,
          "an ELF program"},
    Magic{"MZ"sv, "a Windows program"},
    Magic{"PK\x03\x04"sv, "a zip archive"},
    Magic{"PK\x05\x06"sv, "a zip archive"},
    Magic{"ustar"sv, "a tar archive", 257},
    Magic{"\xFD"
          "7zXZ\0"sv,
          "a file compressed by xz"},
    Magic{"BZh"sv, "a file compressed by bzip2"},
    Magic{"\x04\x22\x4D\x18"sv, "a file compressed by lz4"},
    Magic{"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive"},
    Magic{"SQLite format 3\0"sv, "a SQLite database"},
    Magic{"PERFILE2"sv, "a recording of perf"},
    Magic{"!<arch>\n"sv, "an archive of object files"},
};

bool IsTextByte(char c) {
  return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' ||
         c == '\x1B';
}

/// Of a text: what it is, by how it begins.
std::string TextWords(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string_view head = text.substr(0, 1024);
  if (head.starts_with("<!DOCTYPE html") || head.starts_with("<!doctype html") ||
      head.starts_with("<html"))
    return "an HTML page";
  if (head.starts_with("<svg") ||
      (head.starts_with("<?xml") && head.find("<svg") != std::string_view::npos))
    return "an SVG picture";
  if (head.starts_with("<?xml")) return "an XML document";
  if (head.starts_with("digraph ") || head.starts_with("// drawn by")) return "a Graphviz graph";
  if (head.starts_with("#!")) return "a script";
  if (head.starts_with('{') || head.starts_with('[')) return "a JSON text";
  return "a text file";
}

}  // namespace

std::string ContentWords(std::string_view start) {
  if (start.empty()) return "an empty file";
  const InputStart known = LookAtStart(std::string(start));
  const std::string_view content = known.content;
  const auto with_compression = [&](std::string words) {
    return known.is_compressed ? words + ", compressed" : words;
  };
  switch (known.kind) {
    case InputKind::kLog:
      return with_compression("a log");
    case InputKind::kEvents:
      return with_compression("a file of events of a replay");
    case InputKind::kTrace:
      return with_compression("a Perfetto trace");
    case InputKind::kOther:
      break;
  }
  for (const Magic& magic : kMagics)
    if (content.size() >= magic.offset && content.substr(magic.offset).starts_with(magic.bytes))
      return with_compression(magic.words);
  if (content.empty()) return "a compressed file without content";
  if (std::ranges::all_of(content, IsTextByte)) return with_compression(TextWords(content));
  return known.is_compressed ? "a compressed file of an unknown format" : "";
}

Result<std::string> ReadText(ByteSource& source, size_t max_bytes, std::string_view needed,
                             std::string expected) {
  RS_ASSIGN_OR_RETURN(std::string text, ReadAll(source, max_bytes));
  const std::string_view start = std::string_view(text).substr(0, kKindBytes);
  if (!std::ranges::all_of(start, IsTextByte) || start.empty())
    return tl::unexpected<Error>(WrongContent(start, source.path(), needed, std::move(expected)));
  return text;
}

Error WrongContent(std::string_view start, const std::string& path, std::string_view needed,
                   std::string expected) {
  const std::string words = ContentWords(start);
  return {ErrorCode::kCorrupt,
          words.empty() ? fmt::format("this is not {}", needed)
                        : fmt::format("this is {}, not {}", words, needed),
          {path, {}, {}},
          std::move(expected)};
}

}  // namespace ringscope
