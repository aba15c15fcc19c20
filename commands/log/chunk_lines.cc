#include "commands/log/chunk_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/shell/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr size_t kBytesOnALine = 16;
/// Different fields of a fragment that are named.
constexpr size_t kFieldsNamed = 12;

/// "timestamp, 2 x interned_data, track_event (continues)"
/// @param lacks_sizes patches will bring sizes of messages in it; what is there until then is
/// chance, as writers do not clear it
std::string FieldsText(Bytes message, bool is_whole, bool lacks_sizes,
                       const Descriptors& descriptors) {
  std::vector<uint32_t> order;
  std::map<uint32_t, uint64_t> counts;
  wire::FieldReader fields(message);
  size_t read = 0;  // bytes
  bool is_unknown = false;
  while (const auto field = fields.Next()) {
    if (++counts[field->number] == 1) order.push_back(field->number);
    read += field->whole.size();
    is_unknown = lacks_sizes && field->type == wire::Type::kBytes;
    if (is_unknown) break;
  }
  const auto name = [&](uint32_t number) {
    const std::string known = descriptors.FieldName("TracePacket", number);
    return known.empty() ? fmt::format("field {}", number) : known;
  };
  std::vector<std::string> names;
  for (const uint32_t number : order) {
    if (names.size() == kFieldsNamed) {
      names.push_back(fmt::format("and {} more", order.size() - kFieldsNamed));
      break;
    }
    names.push_back(counts[number] == 1 ? name(number)
                                        : fmt::format("{} x {}", counts[number], name(number)));
  }
  if (is_unknown) {
    names.emplace_back("and what its size, which may be patched, leaves");
  } else if (!fields.ok() && is_whole) {
    names.push_back("then malformed bytes");
  } else if (!fields.ok()) {
    const wire::Varint tag = wire::ReadVarint(message.subspan(read));
    const uint64_t number = tag.size == 0 ? 0 : tag.value >> 3;
    names.push_back(number == 0 || number > UINT32_MAX
                        ? std::string("then a field that continues")
                        : name(static_cast<uint32_t>(number)) + " (continues)");
  }
  return Joined(names);
}

/// What follows the last fragment.
void AddRest(const WrittenChunk& written, std::vector<std::string>& lines) {
  if (written.end == ChunkEnd::kAborted)
    lines.push_back(
        fmt::format("at {}: the marker of a packet that its writer aborted", written.bytes));
  else if (written.end == ChunkEnd::kBroken)
    lines.push_back(fmt::format("at {}: {} that are not a fragment", written.bytes,
                                Count(written.broken_bytes, "byte")));
  else if (written.unfinished_bytes > 0)
    lines.push_back(fmt::format("at {}: {} of a fragment that may still grow", written.bytes,
                                Count(written.unfinished_bytes, "byte")));
}

}  // namespace

std::string_view FragmentNote(FragmentKind kind) {
  switch (kind) {
    case FragmentKind::kBegin:
      return "of a packet that continues in the next chunk";
    case FragmentKind::kContinue:
      return "of a packet that began before and continues in the next chunk";
    case FragmentKind::kEnd:
      return "of a packet that began in a chunk before";
    case FragmentKind::kWhole:
      break;
  }
  return "";
}

std::vector<std::string> HexLines(Bytes bytes) {
  std::vector<std::string> lines;
  for (size_t offset = 0; offset < bytes.size(); offset += kBytesOnALine) {
    const Bytes row = bytes.subspan(offset, std::min(kBytesOnALine, bytes.size() - offset));
    std::string hex, characters;
    for (size_t i = 0; i < row.size(); ++i) {
      hex += fmt::format("{}{:02x}", i == kBytesOnALine / 2 ? "  " : i == 0 ? "" : " ", row[i]);
      characters += row[i] >= 0x20 && row[i] < 0x7F ? static_cast<char>(row[i]) : '.';
    }
    lines.push_back(fmt::format("{:04x}  {:<{}}  {}", offset, hex, 3 * kBytesOnALine, characters));
  }
  return lines;
}

std::vector<std::string> FragmentLines(const ChunkCommit& commit, const WrittenChunk& written,
                                       const Descriptors& descriptors) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < written.fragments.size(); ++i) {
    const WrittenFragment& fragment = written.fragments[i];
    const std::optional<Bytes> body = BodyAt(commit.payload, fragment.offset);
    if (!body) break;
    std::string text =
        fmt::format("fragment {} at {}: {}", i, fragment.offset, Count(fragment.size, "byte"));
    const bool is_whole = fragment.kind == FragmentKind::kWhole;
    if (is_whole && fragment.size == 0)
      text += ", empty";
    else
      text += is_whole ? std::string(", a whole packet")
                       : fmt::format(" {}", FragmentNote(fragment.kind));
    if (fragment.size > 0 && (is_whole || fragment.kind == FragmentKind::kBegin))
      text += ": " + FieldsText(*body, is_whole, !is_whole && (commit.flags & kNeedsPatching) != 0,
                                descriptors);
    lines.push_back(std::move(text));
  }
  AddRest(written, lines);
  return lines;
}

}  // namespace ringscope
