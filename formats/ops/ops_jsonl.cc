#include "formats/ops/ops_jsonl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/engine/engine.h"
#include "formats/io/byte_stream.h"
#include "formats/json/json.h"
#include "formats/json/key_reader.h"
#include "formats/log/record_fields.h"

namespace ringscope {
namespace {

// Reading.

constexpr uint64_t kV1Alignment = 16;  // of a V1 buffer's size, in bytes

/// Reads a record's fields from the keys of its line.
class LineFields {
 public:
  explicit LineFields(KeyReader& keys) : keys_(keys) {}

  template <typename T>
  void operator()(RecordField field, std::optional<T>& into) {
    into = keys_.Optional<T>(field.key);
  }
  void operator()(RecordField field, std::optional<BufferId>& into) {
    const bool may_be_all = field.in_line == RecordField::InLine::kBufferOrAll;
    if (may_be_all && keys_.IsText(field.key, "all")) return;
    into = keys_.Optional<BufferId>(field.key);
    if (may_be_all && !into) into.emplace();
  }
  void operator()(RecordField field, std::vector<RecordingVerdict>& into) {
    if (!keys_.Has(field.key)) return;
    keys_.ForEach(field.key, [&](KeyReader& element) {
      LineFields fields(element);
      Fields(fields, into.emplace_back());
    });
  }
  template <typename T>
  void operator()(RecordField field, T& into) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.is_hex() && field.is_optional() && !keys_.Has(field.key)) return;
      if (field.is_hex()) return keys_.Hex(field.key, kMaxOpsLine, into);
    }
    if (field.in_line == RecordField::InLine::kRequired)
      into = keys_.Required<T>(field.key);
    else if (auto value = keys_.Optional<T>(field.key))
      into = std::move(*value);
  }

 private:
  KeyReader& keys_;
};

/// Checks what no list of fields can state.
template <typename Record>
void CheckRecord(KeyReader&, const Record&) {}

template <>
void CheckRecord(KeyReader& keys, const BufferSetUp& buffer) {
  if (buffer.size == 0) keys.Fail("size", "expected at least 1 byte, found 0");
  if (buffer.engine == "v1" && buffer.size % kV1Alignment != 0)
    keys.Fail("size", fmt::format("expected a multiple of {} for a V1 buffer, found {}",
                                  kV1Alignment, buffer.size));
}

void CheckSequence(KeyReader& keys, ProducerId producer, WriterId writer) {
  if (Raw(producer) == 0 && Raw(writer) == 0)
    keys.Fail("writer", "producer and writer are both 0, expected only one of them to be");
}

ChunkHeader ParseChunkHeaderKeys(KeyReader& keys) {
  return ChunkHeader{.chunk = keys.Required<ChunkId>("chunk"),
                     .writer = keys.Required<WriterId>("writer"),
                     .fragments = keys.Required<uint16_t>("fragments", kMaxFragmentCount),
                     .flags = keys.Optional<uint8_t>("flags", kMaxChunkFlags).value_or(0)};
}

/// Adds the chunk of a "commit" line.
void ParseCommitChunk(KeyReader& keys, ProducerId producer, CommitRequestBuilder& builder) {
  const ChunkHeader header = ParseChunkHeaderKeys(keys);
  CheckSequence(keys, producer, header.writer);
  std::string payload;
  keys.Hex("payload", kMaxChunkPayload, payload);
  builder.AddChunk(keys.Optional<BufferId>("buffer").value_or(BufferId{}), header,
                   wire::AsBytes(payload), keys.Optional<bool>("complete").value_or(true));
}

/// Adds an entry of a request's "chunks".
void ParseChunk(KeyReader& keys, CommitRequestBuilder& builder) {
  std::string data;
  ChunkToMove chunk{.page = keys.Optional<uint64_t>("page"),
                    .index = keys.Optional<uint64_t>("index"),
                    .target_buffer = keys.Optional<uint64_t>("buffer"),
                    .incomplete = !keys.Optional<bool>("complete").value_or(true)};
  const bool has_header = keys.Has("payload") || keys.Has("writer");
  if (has_header) AppendChunkHeader(data, ParseChunkHeaderKeys(keys));
  if (has_header && keys.Has("data"))
    keys.Fail("data", "expected either this or \"payload\", found both");
  if (has_header || keys.Has("data")) {
    keys.Hex(has_header ? "payload" : "data", kMaxOpsLine, data);
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
  LineFields fields(keys);
  PartFields(fields, commit);
  if (keys.Has("raw")) {
    keys.Hex("raw", kMaxOpsLine, request);
    for (const char* key : {"chunks", "patches", "flush"})
      if (keys.Has(key)) keys.Fail(key, "expected either this or \"raw\", found both");
    return;
  }
  CommitRequestBuilder builder(request);
  if (keys.Has("chunks"))
    keys.ForEach("chunks", [&](KeyReader& chunk) { ParseChunk(chunk, builder); });
  if (keys.Has("patches"))
    keys.ForEach("patches", [&](KeyReader& patch) { ParsePatch(patch, nullptr, builder); });
  if (const auto flush = keys.Optional<uint64_t>("flush")) builder.SetFlushRequestId(*flush);
}

enum class CommitForm : uint8_t { kChunk, kPatch, kRequest };

template <CommitForm kForm>
void ParseCommit(KeyReader& keys, std::string& request, OpBody& body) {
  auto& commit = body.emplace<Commit>();
  LineFields fields(keys);
  SenderFields(fields, commit);
  commit.origin = keys.Optional<Origin>("origin").value_or(commit.origin);
  CommitRequestBuilder builder(request);
  if (kForm == CommitForm::kChunk) ParseCommitChunk(keys, commit.producer, builder);
  if (kForm == CommitForm::kPatch) ParsePatch(keys, &commit, builder);
  if (kForm == CommitForm::kRequest) ParseRequest(keys, request, commit);
  commit.request = wire::AsBytes(request);
}

/// Parses a line. @param request gets a commit's encoded request, which the record points into
using ParseFn = void (*)(KeyReader& keys, std::string& request, OpBody& body);

template <size_t kKind>
void ParseKind(KeyReader& keys, std::string& request, OpBody& body) {
  if constexpr (std::is_same_v<std::variant_alternative_t<kKind, AnyRecord>, Commit>) {
    ParseCommit<CommitForm::kChunk>(keys, request, body);
  } else {
    auto& record = body.emplace<kKind>();
    LineFields fields(keys);
    Fields(fields, record);
    CheckRecord(keys, record);
  }
}

/// One parser per record kind, in OpBody's order.
constexpr std::array<ParseFn, kOpKinds> kParsers =
    []<size_t... kKinds>(std::index_sequence<kKinds...>) {
  return std::array<ParseFn, kOpKinds>{&ParseKind<kKinds>...};
}
(std::make_index_sequence<kOpKinds>());

/// The parser of the lines of this name; nullptr if there is none.
ParseFn FindParser(std::string_view name) {
  if (name == "patch") return ParseCommit<CommitForm::kPatch>;
  if (name == "request") return ParseCommit<CommitForm::kRequest>;
  for (size_t kind = 0; kind < kOpKinds; ++kind)
    if (name == OpKindName(kind)) return kParsers[kind];
  return nullptr;
}

void FailUnknownOp(KeyReader& keys, std::string_view name) {
  std::array<std::string_view, kOpKinds + 2> names = {"patch", "request"};
  for (size_t kind = 0; kind < kOpKinds; ++kind) names[kind + 2] = OpKindName(kind);
  const auto nearest = NearestName(name, names);
  keys.FailExpected("op", nearest ? fmt::format("a known operation (\"{}\"?)", *nearest)
                                  : std::string("a known operation"));
}

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
  if (const ParseFn parse = FindParser(name))
    parse(keys, storage, op->body);
  else
    FailUnknownOp(keys, name);
  RS_RETURN_IF_ERROR(keys.status());
  return op;
}

namespace {

class OpsReader : public LogSource {
 public:
  OpsReader(std::unique_ptr<ByteSource> text, LogFormat format, const CompressedSource* compressed)
      : compressed_(compressed), lines_(std::move(text), kMaxOpsLine), format_(format) {}

  Result<std::optional<Op>> Next() override {
    RS_RETURN_IF_ERROR(status_);
    while (!at_end_) {
      auto line = lines_.Next();
      if (!line && line.error().code == ErrorCode::kLimit) {
        AddBadLine(0, line.error());
      } else if (!line && line.error().code == ErrorCode::kCorrupt) {
        AddEnd(line.error());
      } else if (!line) {
        status_ = tl::unexpected<Error>(line.error());
        return tl::unexpected<Error>(std::move(line).error());
      } else if (!*line) {
        at_end_ = true;
      } else if (!IsBlankOrComment(**line)) {
        auto op = ParseOp(**line, storage_);
        if (op) {
          ++records_;
          return std::move(*op);
        }
        AddBadLine((*line)->size(), op.error());
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
  /// A line that is no operation takes the number that its record would have had.
  void AddBadLine(size_t bytes, const Error& error) {
    const uint64_t line = lines_.Here().line.value_or(0);
    AddDamage(
        {lines_.start(), bytes, records_, 1, fmt::format("line {}: {}", line, error.message)});
    ++records_;
  }

  /// Notes that the rest cannot be decompressed.
  void AddEnd(const Error& error) {
    const uint64_t line = lines_.Here().line.value_or(0);
    at_end_ = true;
    AddDamage(
        {lines_.start(), 0, records_, {}, fmt::format("from line {} on: {}", line, error.message)});
  }

  const CompressedSource* const compressed_;  // what lines_ reads comes from it
  LineReader lines_;
  const LogFormat format_;
  std::string storage_;
  uint64_t records_ = 0;
  bool at_end_ = false;
  Status status_;
};

}  // namespace

std::unique_ptr<LogSource> MakeOpsReader(std::unique_ptr<ByteSource> text, LogFormat format,
                                         const CompressedSource* compressed) {
  return std::make_unique<OpsReader>(std::move(text), format, compressed);
}

// Writing.

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
