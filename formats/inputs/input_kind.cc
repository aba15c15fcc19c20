#include "formats/inputs/input_kind.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/wire.h"
#include "formats/io/byte_stream.h"
#include "formats/io/compressed_source.h"
#include "formats/io/line_reader.h"
#include "formats/json/json_keys.h"
#include "formats/log/commit_log_reader.h"

namespace ringscope {
namespace {

/// What is looked at: comments and blank lines may precede the first operation.
constexpr size_t kLookedAt = size_t{64} << 10;

/// Of a line of JSON, which may be cut off: its kind is at its start.
InputKind KindOfLine(std::string_view line) {
  line.remove_prefix(line.find_first_not_of(" \t\r"));
  if (!line.starts_with('{')) return InputKind::kOther;
  const auto has_key = [&](std::string_view key) {
    const size_t at = line.find(key);
    return at != std::string_view::npos && line.find_first_of(",}") > at;
  };
  if (has_key("\"event\"")) return InputKind::kEvents;
  if (has_key("\"op\"")) return InputKind::kLog;
  const Result<Json> parsed = ParseJson(line);
  if (!parsed || !parsed->is_object()) return InputKind::kOther;
  if (parsed->contains("op")) return InputKind::kLog;
  return parsed->contains("event") ? InputKind::kEvents : InputKind::kOther;
}

/// By the first lines that are neither blank nor comments: some may be damaged.
InputKind KindOfText(std::string_view text) {
  constexpr int kLines = 100;
  for (int lines = 0; !text.empty() && lines < kLines;) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!IsBlankOrComment(line)) {
      const InputKind kind = KindOfLine(line);
      if (kind != InputKind::kOther) return kind;
      ++lines;
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return InputKind::kOther;
}

/// Whether the bytes begin with a Trace message's packet whose own first field is well-formed.
bool IsTrace(Bytes bytes) {
  constexpr uint8_t kPacketTag = 0x0A;
  if (bytes.empty() || bytes[0] != kPacketTag) return false;
  const wire::Varint size = wire::ReadVarint(bytes.subspan(1));
  if (size.size == 0) return false;
  const Bytes packet = bytes.subspan(1 + size.size);
  if (size.value > packet.size()) return packet.size() + 1 + size.size >= kLookedAt;
  wire::FieldReader fields(packet.first(static_cast<size_t>(size.value)));
  while (fields.Next()) {
  }
  return fields.ok();
}

}  // namespace

std::string ReadableStart(ByteSource& source, size_t size) {
  std::string start(size, '\0');
  size_t done = 0;
  static_cast<void>(
      ReadFully(source, {reinterpret_cast<uint8_t*>(start.data()), start.size()}, done));
  start.resize(done);
  return start;
}

InputStart LookAtStart(std::string start) {
  InputStart known;
  known.content = std::move(start);
  if (commit_log::LooksLikeCommitLog(wire::AsBytes(known.content))) {
    known.kind = InputKind::kLog;
    return known;
  }
  if (IsZstd(wire::AsBytes(known.content)) || IsGzip(wire::AsBytes(known.content))) {
    std::unique_ptr<ByteSource> source = MakeMemorySource(known.content);
    source = MakeSourceFor(wire::AsBytes(known.content), source);
    known.is_compressed = true;
    known.content = ReadableStart(*source, kLookedAt);
  }
  known.content.resize(std::min(known.content.size(), kLookedAt));
  const Bytes bytes = wire::AsBytes(known.content);
  if (commit_log::LooksLikeCommitLog(bytes))
    known.kind = InputKind::kLog;
  else if (IsTrace(bytes))
    known.kind = InputKind::kTrace;
  else
    known.kind = KindOfText(known.content);
  return known;
}

InputKind KindOfStart(std::string start) { return LookAtStart(std::move(start)).kind; }

Result<KnownInput> FindInputKind(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kKindBytes));
  const InputKind kind = KindOfStart(start);
  auto whole = MakePrefixedSource(start, std::move(source));
  return KnownInput{kind, std::move(start), std::move(whole)};
}

}  // namespace ringscope
