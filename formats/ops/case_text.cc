#include "formats/ops/case_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/compare/shrink.h"
#include "core/perfetto/commit_fragments.h"

namespace ringscope {
namespace {

/// "[ a20 | b12-> ]": a chunk's fragments, with their sizes in the chunk.
std::string Drawing(const StreamStep& step, const PlainStep& plain) {
  ChunkCommit commit = step.commit;
  commit.payload = wire::AsBytes(plain.payload);
  WrittenChunk written;
  ReadWrittenChunk(commit, written);
  std::vector<std::string> fragments;
  uint32_t end = 0;
  for (const WrittenFragment& fragment : written.fragments) {
    const bool begun =
        fragment.kind == FragmentKind::kEnd || fragment.kind == FragmentKind::kContinue;
    const bool goes_on =
        fragment.kind == FragmentKind::kBegin || fragment.kind == FragmentKind::kContinue;
    end = fragment.offset + static_cast<uint32_t>(WithSizeVarint(fragment.size));
    const char letter =
        LetterOf(std::string_view(plain.payload).substr(end - fragment.size, fragment.size));
    fragments.push_back(fmt::format("{}{}{}{}", begun ? "->" : "", letter == 0 ? '*' : letter,
                                    WithSizeVarint(fragment.size), goes_on ? "->" : ""));
  }
  if (written.end == ChunkEnd::kAborted) fragments.emplace_back("abort marker");
  if (written.end == ChunkEnd::kBroken) fragments.emplace_back("broken");
  std::string notes;
  if (!step.commit.complete) notes += " scraped";
  if ((step.commit.flags & kNeedsPatching) != 0) notes += " needs patching";
  return fmt::format("{}#{} [{}{} ]{}", ToString(step.commit.sequence), Raw(step.commit.chunk),
                     fragments.empty() ? "" : " ", fmt::join(fragments, " | "), notes);
}

}  // namespace

size_t WithSizeVarint(size_t bytes) { return bytes + wire::VarintSize(bytes); }

char LetterOf(std::string_view bytes) {
  if (bytes.empty() || std::isalnum(static_cast<unsigned char>(bytes[0])) == 0) return 0;
  return FragmentBytes(bytes.size(), bytes[0]) == bytes ? bytes[0] : '\0';
}

std::string ByteList(std::string_view bytes) {
  std::string list;
  for (const char byte : bytes)
    list += fmt::format("{}0x{:02x}", list.empty() ? "" : ", ", static_cast<uint8_t>(byte));
  return list;
}

std::string CppLiteral(std::string_view bytes) {
  constexpr size_t kInLine = 48;
  if (bytes.size() > kInLine)
    return CppLiteral(bytes.substr(0, kInLine)) + "\n        " + CppLiteral(bytes.substr(kInLine));
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\')
      text += fmt::format("\\{}", byte);
    else if (code >= 0x20 && code < 0x7f && byte != '?')
      text += byte;
    else
      text += fmt::format("\\{:03o}", code);  // always three digits: what follows is apart
  }
  return '"' + text + '"';
}

const char* UnsignedSuffix(uint64_t number) {
  return number > UINT32_MAX ? "ull" : number > INT32_MAX ? "u" : "";
}

std::string CaseText::CauseName() const {
  std::string name;
  bool upper = true;
  const size_t rule = case_.cause.find(':');  // of "v2@58:relocates_completed_chunk"
  for (const char c : case_.cause.substr(rule == std::string::npos ? 0 : rule + 1)) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isalnum(code) != 0) name += static_cast<char>(upper ? std::toupper(code) : c);
    upper = std::isalnum(code) == 0;
  }
  return name;
}

void CaseText::CommentLine(std::string_view content) {
  const std::string wrapped = Wrap(Printable(content), size_t{0}, kTextColumns - 3);
  size_t begin = 0;
  while (begin <= wrapped.size()) {
    const size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
    Line("// {}", std::string_view(wrapped).substr(begin, end - begin));
    begin = end + 1;
  }
}

void CaseText::Comment() {
  using Kind = StreamStep::Kind;
  CommentLine(fmt::format("{}: {}.", case_.cause, case_.what));
  const auto buffer = [](const BufferSetting& shape) {
    return fmt::format(" with a buffer of {} bytes ({})", shape.size, Name(shape.policy));
  };
  const auto& of_b = case_.buffer_of_b;
  CommentLine(fmt::format("Expected is what {}{} gives; {}{} gives something else.",
                          engines_.a->name,
                          of_b ? buffer({case_.stream.size, case_.stream.policy}) : "",
                          engines_.b->name, of_b ? buffer(*of_b) : ""));
  Line("//");
  for (const auto& step : case_.stream.steps) {
    switch (step->step.kind) {
      case Kind::kCommit:
        CommentLine(Drawing(step->step, *step));
        break;
      case Kind::kPatch:
        CommentLine(fmt::format("{}#{} is patched", ToString(step->step.patches.sequence),
                                Raw(step->step.patches.chunk)));
        break;
      case Kind::kRead:
        CommentLine(step->step.max_packets == UINT64_MAX
                        ? "read"
                        : "read of at most " + Count(step->step.max_packets, "packet"));
        break;
      case Kind::kClone:
        CommentLine("clone");
        break;
    }
  }
  Line("//");
  Line("// The buffer before the last read, in bytes:");
  for (const Side side : kSides) {
    const std::string& map = answers_[side].map;
    CommentLine(fmt::format("{}: {}", engines_[side]->name, map.empty() ? "not reported" : map));
  }
}

}  // namespace ringscope
