#include "formats/inputs/input_kind.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/wire.h"
#include "formats/io/byte_stream.h"
#include "formats/io/inflate_source.h"
#include "formats/io/line_reader.h"
#include "formats/io/zstd_source.h"
#include "formats/json/json_keys.h"
#include "formats/log/commit_log_reader.h"

namespace ringscope {
namespace {

/// What is looked at: comments and blank lines may precede the first operation.
constexpr size_t kLookedAt = size_t{64} << 10;

/// The first line that is neither blank nor a comment; empty: none.
std::string_view FirstLine(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!IsBlankOrComment(line)) return line.substr(line.find_first_not_of(" \t\r"));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

InputKind KindOfText(std::string_view text) {
  const std::string_view line = FirstLine(text);
  if (!line.starts_with('{')) return InputKind::kOther;
  // A long line may be cut off; the kind is at its start.
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

/// Up to kLookedAt bytes from a source's start, fewer where it ends or is damaged before: whoever
/// reads it will report where.
std::string ReadableStart(ByteSource& source) {
  std::string start(kLookedAt, '\0');
  size_t done = 0;
  static_cast<void>(
      ReadFully(source, {reinterpret_cast<uint8_t*>(start.data()), start.size()}, done));
  start.resize(done);
  return start;
}

}  // namespace

InputKind KindOfStart(std::string start) {
  if (commit_log::LooksLikeCommitLog(wire::AsBytes(start))) return InputKind::kLog;
  const bool is_zstd = IsZstd(wire::AsBytes(start)), is_gzip = IsGzip(wire::AsBytes(start));
  if (is_zstd || is_gzip) {
    std::unique_ptr<ByteSource> source = MakeMemorySource(std::move(start));
    if (is_zstd)
      source = ZstdSource::Make(std::move(source));
    else
      source = MakeInflateSource(std::move(source));
    start = ReadableStart(*source);
    if (commit_log::LooksLikeCommitLog(wire::AsBytes(start))) return InputKind::kLog;
  }
  start.resize(std::min(start.size(), kLookedAt));
  if (IsTrace(wire::AsBytes(start))) return InputKind::kTrace;
  return KindOfText(start);
}

Result<KnownInput> FindInputKind(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kKindBytes));
  const InputKind kind = KindOfStart(start);
  return KnownInput{kind, MakePrefixedSource(std::move(start), std::move(source))};
}

}  // namespace ringscope
