#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/wire.h"
#include "core/engine/engine.h"
#include "core/perfetto/commit_request.h"
#include "formats/json/json_writer.h"
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
    const bool is_optional = field.in_line == RecordField::InLine::kOptional ||
                             field.in_line == RecordField::InLine::kOptionalHex;
    if (!is_optional || value != T{}) Put(field, value);
  }

 private:
  template <typename T>
  void Put(RecordField field, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.in_line == RecordField::InLine::kHex ||
          field.in_line == RecordField::InLine::kOptionalHex)
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
class OpFormatter {
 public:
  /// @param parser scratch; @param canonical scratch
  OpFormatter(const Op& op, CommitRequestParser& parser, std::string& canonical, std::string& out)
      : kind_(op.body.index()),
        time_ns_(op.time_ns),
        parser_(parser),
        canonical_(canonical),
        out_(out) {}

  template <typename Record>
  void operator()(const Record& record) {
    JsonObjectWriter line = Begin(OpKindName(kind_));
    LineFieldWriter fields(line);
    Fields(fields, record);
    line.Close();
  }
  void operator()(const Commit& commit) {
    const bool well_formed = parser_.Parse(commit.request);
    canonical_.clear();
    if (well_formed && CountEntries(parser_) <= kMaxEntries) EncodeCanonically(parser_, canonical_);
    if (wire::AsText(commit.request) != canonical_) return Request(commit, true);
    if (IsPlainChunk(commit)) return PlainChunk(commit);
    if (IsPlainPatch(commit)) return PlainPatch(commit);
    Request(commit, false);
  }

 private:
  JsonObjectWriter Begin(const char* op) {
    JsonObjectWriter line(out_);
    line.Name("op", op);
    Optional(line, "ts", time_ns_);
    return line;
  }

  static bool FitsBuffer(const std::optional<uint64_t>& id) { return id && *id <= UINT16_MAX; }
  static bool IsWhole(const Commit& commit) {
    return commit.number == 0 && commit.part == 0 && commit.last;
  }

  /// Returns true if a "commit" line can express it; then parser_ holds one chunk and nothing else.
  bool IsPlainChunk(const Commit& commit) const {
    if (!IsWhole(commit) || parser_.chunks().size() != 1 || !parser_.patches().empty() ||
        parser_.flush_request_id())
      return false;
    const ChunkToMove& chunk = parser_.chunks().front();
    if (chunk.page || chunk.index || !FitsBuffer(chunk.target_buffer) || !chunk.data) return false;
    const auto header = ParseChunkHeader(*chunk.data);
    return header && chunk.data->size() <= kMaxChunkData &&
           (Raw(commit.producer) != 0 || Raw(header->writer) != 0);
  }

  /// The same for a "patch" line.
  bool IsPlainPatch(const Commit& commit) const {
    if (!IsWhole(commit) || parser_.patches().size() != 1 || !parser_.chunks().empty() ||
        parser_.flush_request_id())
      return false;
    const ChunkToPatch& patch = parser_.patches().front();
    if (!FitsBuffer(patch.target_buffer) || !patch.writer || *patch.writer > UINT16_MAX ||
        !patch.chunk || *patch.chunk > UINT32_MAX)
      return false;
    for (const PatchSpan& span : patch.patches)
      if (span.data.size() != kPatchSize) return false;
    return Raw(commit.producer) != 0 || *patch.writer != 0;
  }

  static void Sender(JsonObjectWriter& line, const Commit& commit) {
    LineFieldWriter fields(line);
    SenderFields(fields, commit);
  }
  static void OriginIfAny(JsonObjectWriter& line, const Commit& commit) {
    if (commit.origin != Origin::kImported) line.Name("origin", Name(commit.origin));
  }
  static void Header(JsonObjectWriter& line, const ChunkHeader& header) {
    line.Uint("writer", Raw(header.writer));
    line.Uint("chunk", Raw(header.chunk));
    line.Uint("fragments", header.fragments);
    line.Uint("flags", header.flags);
  }

  void PlainChunk(const Commit& commit) {
    const ChunkToMove& chunk = parser_.chunks().front();
    JsonObjectWriter line = Begin("commit");
    line.Uint("buffer", *chunk.target_buffer);
    Sender(line, commit);
    Header(line, *ParseChunkHeader(*chunk.data));
    line.Bool("complete", !chunk.incomplete);
    line.Hex("payload", chunk.data->subspan(kChunkHeaderSize));
    OriginIfAny(line, commit);
    line.Close();
  }

  void PlainPatch(const Commit& commit) {
    const ChunkToPatch& patch = parser_.patches().front();
    JsonObjectWriter line = Begin("patch");
    line.Uint("buffer", *patch.target_buffer);
    Sender(line, commit);
    line.Uint("writer", *patch.writer);
    line.Uint("chunk", *patch.chunk);
    Patches(line, patch);
    line.Bool("more", patch.more);
    OriginIfAny(line, commit);
    line.Close();
  }

  void Patches(JsonObjectWriter& line, const ChunkToPatch& patch) {
    line.Objects("patches", patch.patches, [](JsonObjectWriter& entry, const PatchSpan& span) {
      entry.Uint("offset", span.offset);
      entry.Hex("data", span.data);
    });
  }

  /// A request in its raw form: spelled out, or, where that would change its bytes, as it is.
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
    if (!parser_.chunks().empty()) line.Objects("chunks", parser_.chunks(), RequestChunk);
    if (!parser_.patches().empty()) {
      line.Objects("patches", parser_.patches(),
                   [this](JsonObjectWriter& entry, const ChunkToPatch& patch) {
                     Optional(entry, "buffer", patch.target_buffer);
                     Optional(entry, "writer", patch.writer);
                     Optional(entry, "chunk", patch.chunk);
                     Patches(entry, patch);
                     entry.Bool("more", patch.more);
                   });
    }
    Optional(line, "flush", parser_.flush_request_id());
    line.Close();
  }

  static void RequestChunk(JsonObjectWriter& entry, const ChunkToMove& chunk) {
    Optional(entry, "page", chunk.page);
    Optional(entry, "index", chunk.index);
    Optional(entry, "buffer", chunk.target_buffer);
    const auto header = chunk.header();
    if (header) {
      Header(entry, *header);
      entry.Bool("complete", !chunk.incomplete);
      entry.Hex("payload", chunk.data->subspan(kChunkHeaderSize));
    } else {
      entry.Bool("complete", !chunk.incomplete);
      if (chunk.data) entry.Hex("data", *chunk.data);
    }
  }

  const size_t kind_;
  const std::optional<uint64_t> time_ns_;
  CommitRequestParser& parser_;
  std::string& canonical_;
  std::string& out_;
};

}  // namespace

class OpLineWriter::Impl {
 public:
  void Append(const Op& op, std::string& out) {
    std::visit(OpFormatter(op, parser_, canonical_, out), op.body);
  }

 private:
  CommitRequestParser parser_;
  std::string canonical_;
};

OpLineWriter::OpLineWriter() : impl_(std::make_unique<Impl>()) {}
OpLineWriter::~OpLineWriter() = default;
void OpLineWriter::Append(const Op& op, std::string& out) { impl_->Append(op, out); }

std::string FormatOp(const Op& op) {
  std::string line;
  OpLineWriter().Append(op, line);
  return line;
}

}  // namespace ringscope
