#include "formats/ops/ops_jsonl.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/engine/engine.h"
#include "formats/io/byte_stream.h"
#include "formats/json/json.h"
#include "formats/json/key_reader.h"
#include "formats/log/record_fields.h"

namespace ringscope {
namespace {

constexpr uint64_t kV1Alignment = 16;  // of a V1 buffer's size, in bytes
/// Whether a commit is the last part of its request.
constexpr RecordField kLastField = DefaultField(7, "last");

/// Reads a record's fields from the keys of its line.
struct LineFields {
  KeyReader& keys;

  template <typename T>
  void operator()(RecordField field, std::optional<T>& into) {
    into = keys.Optional<T>(field.key);
  }
  void operator()(RecordField field, std::optional<BufferId>& into) {
    const bool may_be_all = field.in_line == RecordField::InLine::kBufferOrAll;
    if (may_be_all && keys.IsText(field.key, "all")) return;
    into = keys.Optional<BufferId>(field.key);
    if (may_be_all && !into) into.emplace();
  }
  void operator()(RecordField field, std::vector<RecordingVerdict>& into) {
    if (!keys.Has(field.key)) return;
    keys.ForEach(field.key, [&](KeyReader& element) {
      LineFields fields{element};
      Fields(fields, into.emplace_back());
    });
  }
  template <typename T>
  void operator()(RecordField field, T& into) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.is_hex() && field.is_optional() && !keys.Has(field.key)) return;
      if (field.is_hex()) return keys.Hex(field.key, kMaxOpsLine, into);
    }
    if (field.in_line == RecordField::InLine::kRequired)
      into = keys.Required<T>(field.key);
    else if (auto value = keys.Optional<T>(field.key))
      into = std::move(*value);
  }
};

/// Checks what the list of fields cannot state.
void CheckBuffer(KeyReader& keys, const BufferSetUp& buffer) {
  if (buffer.size == 0) keys.Fail("size", "expected at least 1 byte, found 0");
  if (buffer.engine == "v1" && buffer.size % kV1Alignment != 0)
    keys.Fail("size", fmt::format("expected a multiple of {} for a V1 buffer, found {}",
                                  kV1Alignment, buffer.size));
}

void CheckSequence(KeyReader& keys, ProducerId producer, WriterId writer) {
  if (Raw(producer) == 0 && Raw(writer) == 0)
    keys.Fail("writer", "producer and writer are both 0, expected only one of them to be");
}

/// Adds a chunk: an entry of a request's "chunks", or all that a "commit" line has.
void ParseChunk(KeyReader& keys, const Commit* line, CommitRequestBuilder& builder) {
  std::string data;
  ChunkToMove chunk;
  const bool has_header = line != nullptr || keys.Has("payload") || keys.Has("writer");
  if (has_header) {
    const ChunkHeader header{.chunk = keys.Required<ChunkId>("chunk"),
                             .writer = keys.Required<WriterId>("writer"),
                             .fragments = keys.Required<uint16_t>("fragments", kMaxFragmentCount),
                             .flags = keys.Optional<uint8_t>("flags", kMaxChunkFlags).value_or(0)};
    if (line != nullptr) CheckSequence(keys, line->producer, header.writer);
    AppendChunkHeader(data, header);
  }
  if (line != nullptr) {
    chunk.target_buffer = Raw(keys.Optional<BufferId>("buffer").value_or(BufferId{}));
  } else {
    chunk.page = keys.Optional<uint64_t>("page");
    chunk.index = keys.Optional<uint64_t>("index");
    chunk.target_buffer = keys.Optional<uint64_t>("buffer");
    if (has_header && keys.Has("data"))
      keys.Fail("data", "expected either this or \"payload\", found both");
  }
  chunk.incomplete = !keys.Optional<bool>("complete").value_or(true);
  if (has_header || keys.Has("data")) {
    keys.Hex(has_header ? "payload" : "data", line != nullptr ? kMaxChunkPayload : kMaxOpsLine,
             data);
    chunk.data = wire::AsBytes(data);
  }
  builder.AddChunk(chunk);
}

/// Adds a patched chunk: an entry of a request's "patches", or all that a "patch" line has.
void ParsePatch(KeyReader& keys, const Commit* line, CommitRequestBuilder& builder) {
  ChunkToPatch patch;
  if (line != nullptr) {
    const auto writer = keys.Required<WriterId>("writer");
    CheckSequence(keys, line->producer, writer);
    patch.target_buffer = Raw(keys.Optional<BufferId>("buffer").value_or(BufferId{}));
    patch.writer = Raw(writer);
    patch.chunk = keys.Required<uint32_t>("chunk");
  } else {
    patch.target_buffer = keys.Optional<uint64_t>("buffer");
    patch.writer = keys.Optional<uint64_t>("writer");
    patch.chunk = keys.Optional<uint64_t>("chunk");
  }
  patch.more = keys.Optional<bool>("more").value_or(false);
  std::vector<std::string> data;
  keys.ForEach("patches", [&](KeyReader& element) {
    const auto offset = element.Required<uint64_t>("offset");
    element.Hex("data", kMaxOpsLine, data.emplace_back());
    if (line != nullptr && data.back().size() != kPatchSize)
      element.Fail("data", fmt::format("expected exactly {} bytes, found {}", kPatchSize,
                                       data.back().size()));
    patch.patches.push_back({offset, {}});
  });
  // Only now: a growing vector moves short strings.
  for (size_t i = 0; i < patch.patches.size(); ++i) patch.patches[i].data = wire::AsBytes(data[i]);
  builder.AddPatch(patch);
}

/// Parses a line whose request has several chunks or patches, or its bytes.
void ParseRequest(KeyReader& keys, std::string& request, Commit& commit) {
  LineFields fields{keys};
  PartFields(fields, commit);
  fields(kLastField, commit.last);
  if (keys.Has("raw")) {
    keys.Hex("raw", kMaxOpsLine, request);
    for (const char* key : {"chunks", "patches", "flush"})
      if (keys.Has(key)) keys.Fail(key, "expected either this or \"raw\", found both");
    return;
  }
  CommitRequestBuilder builder(request);
  if (keys.Has("chunks"))
    keys.ForEach("chunks", [&](KeyReader& chunk) { ParseChunk(chunk, nullptr, builder); });
  if (keys.Has("patches"))
    keys.ForEach("patches", [&](KeyReader& patch) { ParsePatch(patch, nullptr, builder); });
  if (const auto flush = keys.Optional<uint64_t>("flush")) builder.SetFlushRequestId(*flush);
}

/// Parses a line of a commit: "commit", "patch" or "request".
/// @param request gets the encoded request, which the record points into
void ParseCommit(std::string_view name, KeyReader& keys, std::string& request, Commit& commit) {
  LineFields fields{keys};
  SenderFields(fields, commit);
  commit.origin = keys.Optional<Origin>("origin").value_or(commit.origin);
  CommitRequestBuilder builder(request);
  if (name == "commit")
    ParseChunk(keys, &commit, builder);
  else if (name == "patch")
    ParsePatch(keys, &commit, builder);
  else
    ParseRequest(keys, request, commit);
  commit.request = wire::AsBytes(request);
}

/// Parses a line of any other record.
void ParseRecord(std::string_view name, KeyReader& keys, OpBody& body) {
  const auto* const kind = std::ranges::find(kOpKindNames, name);
  if (kind == kOpKindNames.end()) {
    std::vector<std::string_view> names = {"patch", "request"};
    names.insert(names.end(), kOpKindNames.begin(), kOpKindNames.end());
    const auto nearest = NearestName(name, names);
    return keys.FailExpected("op", nearest ? fmt::format("a known operation (\"{}\"?)", *nearest)
                                           : std::string("a known operation"));
  }
  const auto parse = Overloaded{[](Commit&) {},
                                [&](auto& record) {
                                  LineFields fields{keys};
                                  Fields(fields, record);
                                }};
  EmplaceKind(body, static_cast<size_t>(kind - kOpKindNames.begin()), parse);
  if (const auto* buffer = std::get_if<BufferSetUp>(&body)) CheckBuffer(keys, *buffer);
}

class OpsReader : public LogSource {
 public:
  OpsReader(std::unique_ptr<ByteSource> text, LogFormat format, const CompressedSource* compressed)
      : compressed_(compressed), lines_(std::move(text), kMaxOpsLine), format_(format) {}

  Result<std::optional<Op>> Next() override {
    while (!at_end_) {
      RS_RETURN_IF_ERROR(status_);
      const auto line = lines_.Next();
      if (!line) {
        at_end_ = line.error().code == ErrorCode::kCorrupt;
        if (at_end_ || line.error().code == ErrorCode::kLimit)
          AddBad(0, line.error());
        else
          status_ = tl::unexpected<Error>(line.error());
      } else if (!*line) {
        at_end_ = true;
      } else if (!IsBlankOrComment(**line)) {
        auto op = ParseOp(**line, storage_);
        if (op) {
          ++records_;
          return std::move(*op);
        }
        AddBad((*line)->size(), op.error());
      }
    }
    return std::nullopt;
  }

  LogFormat format() const override { return format_; }
  const std::string& path() const override { return lines_.source().path(); }
  uint64_t record_number() const override { return records_ == 0 ? 0 : records_ - 1; }
  uint64_t position() const override {
    return compressed_ != nullptr ? compressed_->compressed_position() : lines_.position();
  }
  std::optional<uint64_t> size() const override {
    return compressed_ != nullptr ? compressed_->compressed_size() : lines_.source().size();
  }

 private:
  /// Notes a line that is no operation, which takes the number that its record would have had, or
  /// at the end, that the rest cannot be decompressed.
  void AddBad(size_t bytes, const Error& error) {
    const std::string line = fmt::format("line {}", lines_.Here().line.value_or(0));
    const std::string where = at_end_ ? fmt::format("from {} on", line) : line;
    AddDamage({.offset = lines_.start(),
               .bytes = bytes,
               .first_record = records_,
               .records = at_end_ ? std::nullopt : std::optional<uint64_t>(1),
               .what = fmt::format("{}: {}", where, error.message)});
    if (!at_end_) ++records_;
  }

  const CompressedSource* const compressed_;  // what lines_ reads comes from it
  LineReader lines_;
  const LogFormat format_;
  std::string storage_;
  uint64_t records_ = 0;
  bool at_end_ = false;
  Status status_;
};

/// A request with more chunks and patches is written as bytes: readers bound the values of a line.
constexpr size_t kMaxEntries = 10'000;

void Optional(JsonObjectWriter& line, std::string_view key, const std::optional<uint64_t>& value) {
  if (value) line.Uint(key, *value);
}

/// Writes a record's fields as keys of its line.
struct LineFieldWriter {
  JsonObjectWriter& line;

  template <typename T>
  void operator()(RecordField field, const std::optional<T>& value) {
    if (value)
      Put(field, *value);
    else if (field.in_line == RecordField::InLine::kBufferOrAll)
      line.Name(field.key, "all");
  }
  void operator()(RecordField field, const std::vector<RecordingVerdict>& verdicts) {
    if (verdicts.empty()) return;
    line.Objects(field.key, verdicts, [](JsonObjectWriter& entry, const RecordingVerdict& verdict) {
      LineFieldWriter fields{entry};
      Fields(fields, verdict);
    });
  }
  template <typename T>
  void operator()(RecordField field, const T& value) {
    if (!field.is_optional() || value != T{}) Put(field, value);
  }
  template <typename T>
  void Put(RecordField field, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.is_hex())
        line.Hex(field.key, wire::AsBytes(value));
      else
        line.Text(field.key, value);
    } else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
      line.Uints(field.key, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      line.Bool(field.key, value);
    } else if constexpr (std::is_same_v<T, int32_t>) {
      line.Int(field.key, value);
    } else if constexpr (NamedEnum<T>) {
      line.Name(field.key, Name(value));
    } else {
      line.Uint(field.key, static_cast<uint64_t>(value));
    }
  }
};

/// The request in the canonical encoding of what the parser understood of it, unless that is too
/// much for a line.
void EncodeCanonically(const CommitRequestParser& parser, std::string& out) {
  size_t entries = parser.chunks().size();
  for (const ChunkToPatch& patch : parser.patches()) entries += 1 + patch.patches.size();
  if (entries > kMaxEntries) return;
  CommitRequestBuilder builder(out);
  for (const ChunkToMove& chunk : parser.chunks()) builder.AddChunk(chunk);
  for (const ChunkToPatch& patch : parser.patches()) builder.AddPatch(patch);
  if (parser.flush_request_id()) builder.SetFlushRequestId(*parser.flush_request_id());
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
    LineFieldWriter fields{line};
    Fields(fields, record);
    line.Close();
  }
  void operator()(const Commit& commit) {
    canonical.clear();
    if (parser.Parse(commit.request)) EncodeCanonically(parser, canonical);
    // Spelled out, its bytes would change.
    const bool as_bytes = wire::AsText(commit.request) != canonical;
    const bool is_plain = !as_bytes && IsPlain(commit), is_chunk = !parser.chunks().empty();
    JsonObjectWriter line = Begin(!is_plain ? "request" : is_chunk ? "commit" : "patch");
    LineFieldWriter fields{line};
    if (is_plain)
      line.Uint("buffer", is_chunk ? *parser.chunks().front().target_buffer
                                   : *parser.patches().front().target_buffer);
    SenderFields(fields, commit);
    if (is_plain && is_chunk) Chunk(line, parser.chunks().front());
    if (is_plain && !is_chunk) Patch(line, parser.patches().front());
    if (commit.origin != Origin::kImported) line.Name("origin", Name(commit.origin));
    if (!IsWhole(commit)) {
      PartFields(fields, commit);
      fields(kLastField, commit.last);
    }
    if (as_bytes)
      line.Hex("raw", commit.request);
    else if (!is_plain)
      Parts(line);
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

  /// Writes all that a request has.
  void Parts(JsonObjectWriter& line) const {
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
  }
};

}  // namespace

Result<Op> ParseOp(std::string_view line, std::string& storage) {
  storage.clear();
  RS_ASSIGN_OR_RETURN(const ScannedJson json, ScanJson(line));
  if (!json.values.front().is_object())
    return Fail(ErrorCode::kCorrupt, "expected a JSON object per line, found another JSON value");
  KeyReader keys(json);
  Result<Op> op;  // filled where it is returned: moving a record is not cheap
  op->time_ns = keys.Optional<uint64_t>("ts");
  const std::string name = keys.Required<std::string>("op");
  if (name == "commit" || name == "patch" || name == "request")
    ParseCommit(name, keys, storage, op->body.emplace<Commit>());
  else
    ParseRecord(name, keys, op->body);
  RS_RETURN_IF_ERROR(keys.status());
  return op;
}

std::unique_ptr<LogSource> MakeOpsReader(std::unique_ptr<ByteSource> text, LogFormat format,
                                         const CompressedSource* compressed) {
  return std::make_unique<OpsReader>(std::move(text), format, compressed);
}

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
