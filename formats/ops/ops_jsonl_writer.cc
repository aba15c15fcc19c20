#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/wire.h"
#include "core/engine/engine.h"
#include "core/perfetto/commit_request.h"
#include "formats/json/json.h"
#include "formats/log/record_fields.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

/// A request with more chunks and patches is written as bytes: readers bound the values of a line.
constexpr size_t kMaxEntries = 10'000;

void Optional(JsonObjectWriter& line, std::string_view key, const std::optional<uint64_t>& value) {
  if (value) line.Uint(key, *value);
}

/// Writes a record's fields as keys of its line.
class LineFieldWriter {
 public:
  explicit LineFieldWriter(JsonObjectWriter& line) : line_(line) {}

  template <typename T>
  void operator()(RecordField field, const std::optional<T>& value) {
    if (value)
      Put(field, *value);
    else if (field.in_line == RecordField::InLine::kBufferOrAll)
      line_.Name(field.key, "all");
  }
  void operator()(RecordField field, const std::vector<RecordingVerdict>& verdicts) {
    if (verdicts.empty()) return;
    line_.Objects(field.key, verdicts,
                  [](JsonObjectWriter& entry, const RecordingVerdict& verdict) {
                    LineFieldWriter fields(entry);
                    Fields(fields, verdict);
                  });
  }
  template <typename T>
  void operator()(RecordField field, const T& value) {
    if (!field.is_optional() || value != T{}) Put(field, value);
  }

 private:
  template <typename T>
  void Put(RecordField field, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.is_hex())
        line_.Hex(field.key, wire::AsBytes(value));
      else
        line_.Text(field.key, value);
    } else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
      line_.Uints(field.key, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      line_.Bool(field.key, value);
    } else if constexpr (std::is_same_v<T, int32_t>) {
      line_.Int(field.key, value);
    } else if constexpr (NamedEnum<T>) {
      line_.Name(field.key, Name(value));
    } else {
      line_.Uint(field.key, static_cast<uint64_t>(value));
    }
  }

  JsonObjectWriter& line_;
};

/// The request in the canonical encoding of what the parser understood of it.
void EncodeCanonically(const CommitRequestParser& parser, std::string& out) {
  CommitRequestBuilder builder(out);
  for (const ChunkToMove& chunk : parser.chunks()) builder.AddChunk(chunk);
  for (const ChunkToPatch& patch : parser.patches()) builder.AddPatch(patch);
  if (parser.flush_request_id()) builder.SetFlushRequestId(*parser.flush_request_id());
}

size_t CountEntries(const CommitRequestParser& parser) {
  size_t entries = parser.chunks().size();
  for (const ChunkToPatch& patch : parser.patches()) entries += 1 + patch.patches.size();
  return entries;
}

/// Formats one record.
struct OpFormatter {
  const Op& op;
  CommitRequestParser& parser;  // scratch
  std::string& canonical;       // likewise
  std::string& out;

  template <typename Record>
  void operator()(const Record& record) {
    JsonObjectWriter line = Begin(OpKindName(op.body.index()));
    LineFieldWriter fields(line);
    Fields(fields, record);
    line.Close();
  }
  void operator()(const Commit& commit) {
    const bool well_formed = parser.Parse(commit.request);
    canonical.clear();
    if (well_formed && CountEntries(parser) <= kMaxEntries) EncodeCanonically(parser, canonical);
    const bool as_bytes = wire::AsText(commit.request) != canonical;
    if (as_bytes || !IsPlain(commit)) return Request(commit, as_bytes);
    const bool is_chunk = !parser.chunks().empty();
    JsonObjectWriter line = Begin(is_chunk ? "commit" : "patch");
    line.Uint("buffer", is_chunk ? *parser.chunks().front().target_buffer
                                 : *parser.patches().front().target_buffer);
    Sender(line, commit);
    if (is_chunk)
      Chunk(line, parser.chunks().front());
    else
      Patch(line, parser.patches().front());
    OriginIfAny(line, commit);
    line.Close();
  }

  JsonObjectWriter Begin(const char* name) const {
    JsonObjectWriter line(out);
    line.Name("op", name);
    Optional(line, "ts", op.time_ns);
    return line;
  }

  static bool IsWhole(const Commit& commit) {
    return commit.number == 0 && commit.part == 0 && commit.last;
  }

  /// Returns true if a "commit" or "patch" line can express it; then parser holds one chunk or
  /// patched chunk, and nothing else.
  bool IsPlain(const Commit& commit) const {
    const auto fits = [](const std::optional<uint64_t>& id) { return id && *id <= UINT16_MAX; };
    const auto& chunks = parser.chunks();
    const auto patches = parser.patches();
    if (!IsWhole(commit) || parser.flush_request_id() || chunks.size() + patches.size() != 1)
      return false;
    if (!chunks.empty()) {
      const ChunkToMove& chunk = chunks.front();
      const auto header = chunk.header();
      return header && !chunk.page && !chunk.index && fits(chunk.target_buffer) &&
             chunk.data->size() <= kMaxChunkData &&
             (Raw(commit.producer) != 0 || Raw(header->writer) != 0);
    }
    const ChunkToPatch& patch = patches.front();
    return fits(patch.target_buffer) && fits(patch.writer) && patch.chunk &&
           *patch.chunk <= UINT32_MAX && (Raw(commit.producer) != 0 || *patch.writer != 0) &&
           std::ranges::all_of(
               patch.patches, [](const PatchSpan& span) { return span.data.size() == kPatchSize; });
  }

  static void Sender(JsonObjectWriter& line, const Commit& commit) {
    LineFieldWriter fields(line);
    SenderFields(fields, commit);
  }
  static void OriginIfAny(JsonObjectWriter& line, const Commit& commit) {
    if (commit.origin != Origin::kImported) line.Name("origin", Name(commit.origin));
  }

  static void Chunk(JsonObjectWriter& entry, const ChunkToMove& chunk) {
    const auto header = chunk.header();
    if (header) {
      entry.Uint("writer", Raw(header->writer));
      entry.Uint("chunk", Raw(header->chunk));
      entry.Uint("fragments", header->fragments);
      entry.Uint("flags", header->flags);
    }
    entry.Bool("complete", !chunk.incomplete);
    if (header)
      entry.Hex("payload", chunk.data->subspan(kChunkHeaderSize));
    else if (chunk.data)
      entry.Hex("data", *chunk.data);
  }

  static void Patch(JsonObjectWriter& entry, const ChunkToPatch& patch) {
    Optional(entry, "writer", patch.writer);
    Optional(entry, "chunk", patch.chunk);
    entry.Objects("patches", patch.patches, [](JsonObjectWriter& place, const PatchSpan& span) {
      place.Uint("offset", span.offset);
      place.Hex("data", span.data);
    });
    entry.Bool("more", patch.more);
  }

  /// Writes a request in its raw form: spelled out, or, where that would change its bytes, as it
  /// is.
  void Request(const Commit& commit, bool as_bytes) {
    JsonObjectWriter line = Begin("request");
    Sender(line, commit);
    OriginIfAny(line, commit);
    if (!IsWhole(commit)) {
      LineFieldWriter fields(line);
      PartFields(fields, commit);
    }
    if (as_bytes) {
      line.Hex("raw", commit.request);
      return line.Close();
    }
    if (!parser.chunks().empty())
      line.Objects("chunks", parser.chunks(),
                   [](JsonObjectWriter& entry, const ChunkToMove& chunk) {
                     Optional(entry, "page", chunk.page);
                     Optional(entry, "index", chunk.index);
                     Optional(entry, "buffer", chunk.target_buffer);
                     Chunk(entry, chunk);
                   });
    if (!parser.patches().empty())
      line.Objects("patches", parser.patches(),
                   [](JsonObjectWriter& entry, const ChunkToPatch& patch) {
                     Optional(entry, "buffer", patch.target_buffer);
                     Patch(entry, patch);
                   });
    Optional(line, "flush", parser.flush_request_id());
    line.Close();
  }
};

}  // namespace

void OpLineWriter::Append(const Op& op, std::string& out) {
  std::visit(OpFormatter{op, parser_, canonical_, out}, op.body);
}

std::string FormatOp(const Op& op) {
  std::string line;
  OpLineWriter().Append(op, line);
  return line;
}

std::string FormatLog(const std::string& note, const std::vector<StoredOp>& ops) {
  std::string text = FormatOp({.time_ns = {}, .body = Note{note}}) + "\n";
  for (const StoredOp& op : ops) text += FormatOp(op.op()) + "\n";
  return text;
}

}  // namespace ringscope
