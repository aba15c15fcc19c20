#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/engine/engine.h"
#include "core/perfetto/commit_request.h"
#include "formats/io/hex.h"
#include "formats/io/line_reader.h"
#include "formats/json/json.h"
#include "formats/log/record_fields.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

constexpr uint64_t kV1Alignment = 16;  // of a V1 buffer's size, in bytes

/// The keys of a "commit" line but "payload" and "origin", with the largest value of each.
enum CommitKey : size_t {
  kTs,
  kProducer,
  kUid,
  kPid,
  kBuffer,
  kWriter,
  kChunk,
  kFragments,
  kFlags,
  kCommitKeys,
};
struct NumberKey {
  std::string_view name;
  uint64_t max;
};
constexpr std::array<NumberKey, kCommitKeys> kNumberKeys = {{
    {"ts", std::numeric_limits<uint64_t>::max()},
    {"producer", std::numeric_limits<uint16_t>::max()},
    {"uid", std::numeric_limits<uint32_t>::max()},
    {"pid", std::numeric_limits<int32_t>::max()},
    {"buffer", std::numeric_limits<uint16_t>::max()},
    {"writer", std::numeric_limits<uint16_t>::max()},
    {"chunk", std::numeric_limits<uint32_t>::max()},
    {"fragments", kMaxFragmentCount},
    {"flags", kMaxChunkFlags},
}};

/// Takes what it is asked for off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Takes the text up to the next quote, and the quote.
  bool TakeToQuote(std::string_view& text) {
    const size_t end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  /// A number as JSON has it, of few enough digits that it cannot overflow.
  bool TakeNumber(uint64_t& number) {
    constexpr size_t kMaxDigits = std::numeric_limits<uint64_t>::digits10;
    number = 0;
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (++digits > kMaxDigits) return false;
      number = 10 * number + static_cast<uint64_t>(rest_[digits - 1] - '0');
    }
    if (digits == 0 || (digits > 1 && rest_[0] == '0')) return false;
    rest_.remove_prefix(digits);
    return true;
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// Parses a "commit" line as writers usually write it: without spaces and escapes, each key once.
/// @param request gets the commit's request; empty before
/// @return false: the line needs the slow way; `op` and `request` are then meaningless
bool ParseCommitLine(std::string_view line, Op& op, std::string& request) {
  Scanner scanner(line);
  if (!scanner.Take(R"({"op":"commit")")) return false;
  std::array<std::optional<uint64_t>, kCommitKeys> numbers;
  std::optional<bool> complete;
  std::optional<Origin> origin;
  std::optional<std::string_view> payload;
  while (!scanner.Take("}")) {
    std::string_view key, text;
    if (!scanner.Take(",\"") || !scanner.TakeToQuote(key) || !scanner.Take(":")) return false;
    if (key == "payload") {
      if (payload || !scanner.Take("\"") || !scanner.TakeToQuote(text)) return false;
      payload = text;
      continue;
    }
    if (key == "complete") {
      if (complete) return false;
      complete = scanner.Take("true");
      if (!*complete && !scanner.Take("false")) return false;
      continue;
    }
    if (key == "origin") {
      if (origin || !scanner.Take("\"") || !scanner.TakeToQuote(text)) return false;
      origin = FromName<Origin>(text);
      if (!origin) return false;
      continue;
    }
    size_t index = 0;
    while (index < kCommitKeys && kNumberKeys[index].name != key) ++index;
    uint64_t number = 0;
    if (index == kCommitKeys || numbers[index] || !scanner.TakeNumber(number) ||
        number > kNumberKeys[index].max)
      return false;
    numbers[index] = number;
  }
  if (!scanner.is_at_end() || !payload || payload->size() / 2 > kMaxChunkPayload ||
      !numbers[kProducer] || !numbers[kWriter] || !numbers[kChunk] || !numbers[kFragments] ||
      (*numbers[kProducer] == 0 && *numbers[kWriter] == 0))
    return false;

  const ChunkHeader header{.chunk = ChunkId{static_cast<uint32_t>(*numbers[kChunk])},
                           .writer = WriterId{static_cast<uint16_t>(*numbers[kWriter])},
                           .fragments = static_cast<uint16_t>(*numbers[kFragments]),
                           .flags = static_cast<uint8_t>(numbers[kFlags].value_or(0))};
  CommitRequestBuilder builder(request);
  const BufferId buffer{static_cast<uint16_t>(numbers[kBuffer].value_or(0))};
  builder.BeginChunk(buffer, header, payload->size() / 2, complete.value_or(true));
  if (!DecodeHex(*payload, request)) return false;
  builder.EndChunk(complete.value_or(true));

  op.time_ns = numbers[kTs];
  auto& commit = op.body.emplace<Commit>();
  commit.producer = ProducerId{static_cast<uint16_t>(*numbers[kProducer])};
  if (numbers[kUid]) commit.uid = static_cast<uint32_t>(*numbers[kUid]);
  if (numbers[kPid]) commit.pid = static_cast<int32_t>(*numbers[kPid]);
  if (origin) commit.origin = *origin;
  commit.request = wire::AsBytes(request);
  return true;
}

/// Memory for parsing a line.
struct Scratch {
  std::string& request;             // encoded; commits point into it
  std::vector<std::string> lifted;  // hex digits that were lifted out of the line, decoded
};

/// A string lifted out of its line is replaced there by this and its number. Never a hex digit.
constexpr char kLiftedMark = '@';

/// Returns the bytes of a required string of hex digits. @param storage unless they were lifted
Bytes ReadHex(KeyReader& keys, std::string_view key, size_t max_bytes, const Scratch& scratch,
              std::string& storage) {
  const std::optional<std::string_view> text = keys.TextIfThere(key);
  if (scratch.lifted.empty() || !text || !text->starts_with(kLiftedMark)) {
    keys.Hex(key, max_bytes, storage);
    return wire::AsBytes(storage);
  }
  size_t index = 0;
  std::from_chars(text->data() + 1, text->data() + text->size(), index);
  const std::string& bytes = scratch.lifted.at(index);
  if (bytes.size() > max_bytes) keys.FailTooLarge(key, bytes.size(), max_bytes);
  return wire::AsBytes(bytes);
}

/// Reads a record's fields from the keys of its line.
class LineFields {
 public:
  explicit LineFields(KeyReader& keys) : keys_(keys) {}

  template <typename T>
  void operator()(RecordField field, std::optional<T>& into) {
    if constexpr (std::is_same_v<T, int32_t>) {
      into = keys_.OptionalInt32(field.key);
    } else if (field.in_line != RecordField::InLine::kBufferOrAll) {
      into = keys_.OptionalUint<T>(field.key);
    } else if (keys_.TextIfThere(field.key) != "all") {
      into = keys_.UintOr(T{}, field.key);
    }
  }
  void operator()(RecordField field, std::vector<uint64_t>& into) {
    if (keys_.Has(field.key)) into = keys_.Uints(field.key);
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
    const bool required = field.in_line == RecordField::InLine::kRequired;
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.in_line == RecordField::InLine::kHex ||
          (field.in_line == RecordField::InLine::kOptionalHex && keys_.Has(field.key)))
        keys_.Hex(field.key, kMaxOpsLine, into);
      else if (field.in_line != RecordField::InLine::kOptionalHex)
        into = required ? keys_.Text(field.key) : keys_.TextOr("", field.key);
    } else if constexpr (std::is_same_v<T, bool>) {
      into = keys_.BoolOr(into, field.key);
    } else if constexpr (std::is_same_v<T, int32_t>) {
      into = keys_.OptionalInt32(field.key).value_or(into);
    } else if constexpr (NamedEnum<T>) {
      into = required ? keys_.Name<T>(field.key) : keys_.NameOr(into, field.key);
    } else {
      into = required ? keys_.Uint<T>(field.key) : keys_.UintOr(into, field.key);
    }
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
  return ChunkHeader{.chunk = keys.Uint<ChunkId>("chunk"),
                     .writer = keys.Uint<WriterId>("writer"),
                     .fragments = keys.Uint<uint16_t>("fragments", kMaxFragmentCount),
                     .flags = keys.UintOr(uint8_t{0}, "flags", kMaxChunkFlags)};
}

/// Adds a chunk: an entry of a request's "chunks", or all that a "commit" line has.
void ParseChunk(KeyReader& keys, const Commit* line, const Scratch& scratch,
                CommitRequestBuilder& builder) {
  std::string data, storage;
  ChunkToMove chunk;
  if (line != nullptr) {
    chunk.target_buffer = Raw(keys.UintOr(BufferId{}, "buffer"));
  } else {
    chunk.page = keys.OptionalUint<uint64_t>("page");
    chunk.index = keys.OptionalUint<uint64_t>("index");
    chunk.target_buffer = keys.OptionalUint<uint64_t>("buffer");
  }
  chunk.incomplete = !keys.BoolOr(true, "complete");
  if (line != nullptr || keys.Has("payload") || keys.Has("writer")) {
    const ChunkHeader header = ParseChunkHeaderKeys(keys);
    if (line != nullptr) CheckSequence(keys, line->producer, header.writer);
    AppendChunkHeader(data, header);
    data += wire::AsText(ReadHex(keys, "payload", line == nullptr ? kMaxOpsLine : kMaxChunkPayload,
                                 scratch, storage));
    if (line == nullptr && keys.Has("data"))
      keys.Fail("data", "expected either this or \"payload\", found both");
    chunk.data = wire::AsBytes(data);
  } else if (keys.Has("data")) {
    keys.Hex("data", kMaxOpsLine, data);
    chunk.data = wire::AsBytes(data);
  }
  builder.AddChunk(chunk);
}

/// Adds a patched chunk: an entry of a request's "patches", or all that a "patch" line has.
void ParsePatch(KeyReader& keys, const Commit* line, CommitRequestBuilder& builder) {
  ChunkToPatch patch;
  if (line != nullptr) {
    const auto writer = keys.Uint<WriterId>("writer");
    CheckSequence(keys, line->producer, writer);
    patch.target_buffer = Raw(keys.UintOr(BufferId{}, "buffer"));
    patch.writer = Raw(writer);
    patch.chunk = keys.Uint<uint32_t>("chunk");
  } else {
    patch.target_buffer = keys.OptionalUint<uint64_t>("buffer");
    patch.writer = keys.OptionalUint<uint64_t>("writer");
    patch.chunk = keys.OptionalUint<uint64_t>("chunk");
  }
  patch.more = keys.BoolOr(false, "more");
  std::vector<std::string> data;
  keys.ForEach("patches", [&](KeyReader& element) {
    const auto offset = element.Uint<uint64_t>("offset");
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
void ParseRequest(KeyReader& keys, Scratch& scratch, Commit& commit) {
  LineFields fields(keys);
  PartFields(fields, commit);
  if (keys.Has("raw")) {
    std::string storage;
    scratch.request = wire::AsText(ReadHex(keys, "raw", kMaxOpsLine, scratch, storage));
    for (const char* key : {"chunks", "patches", "flush"})
      if (keys.Has(key)) keys.Fail(key, "expected either this or \"raw\", found both");
    return;
  }
  CommitRequestBuilder builder(scratch.request);
  if (keys.Has("chunks"))
    keys.ForEach("chunks", [&](KeyReader& chunk) { ParseChunk(chunk, nullptr, scratch, builder); });
  if (keys.Has("patches"))
    keys.ForEach("patches", [&](KeyReader& patch) { ParsePatch(patch, nullptr, builder); });
  if (const auto flush = keys.OptionalUint<uint64_t>("flush")) builder.SetFlushRequestId(*flush);
}

enum class CommitForm : uint8_t { kChunk, kPatch, kRequest };

template <CommitForm kForm>
OpBody ParseCommit(KeyReader& keys, Scratch& scratch) {
  Commit commit;
  LineFields fields(keys);
  SenderFields(fields, commit);
  commit.origin = keys.NameOr(commit.origin, "origin");
  CommitRequestBuilder builder(scratch.request);
  if (kForm == CommitForm::kChunk) ParseChunk(keys, &commit, scratch, builder);
  if (kForm == CommitForm::kPatch) ParsePatch(keys, &commit, builder);
  if (kForm == CommitForm::kRequest) ParseRequest(keys, scratch, commit);
  commit.request = wire::AsBytes(scratch.request);
  return commit;
}

using ParseFn = OpBody (*)(KeyReader& keys, Scratch& scratch);

template <size_t kKind>
OpBody ParseKind(KeyReader& keys, Scratch& scratch) {
  using Record = std::variant_alternative_t<kKind, AnyRecord>;
  if constexpr (std::is_same_v<Record, Commit>) {
    return ParseCommit<CommitForm::kChunk>(keys, scratch);
  } else {
    Record record;
    LineFields fields(keys);
    Fields(fields, record);
    CheckRecord(keys, record);
    return record;
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

/// Decodes payloads and leaves marks in their places: the JSON parser would look at each digit.
/// @return the rest of the line; nullopt if it must be parsed as it is
std::optional<std::string> LiftHex(std::string_view line, std::vector<std::string>& lifted) {
  constexpr std::string_view kBetween = R"(":")";
  std::string rest;
  size_t copied = 0;
  // Without backslashes quotes only bound strings; without marks nothing can be taken for one.
  const auto copy = [&](size_t end) {
    const std::string_view slice = line.substr(copied, end - copied);
    rest += slice;
    return slice.find('\\') == std::string_view::npos &&
           slice.find(kLiftedMark) == std::string_view::npos;
  };
  for (size_t at = line.find(kBetween); at != std::string_view::npos;
       at = line.find(kBetween, at)) {
    const std::string_view before = line.substr(0, at);
    const size_t start = at += kBetween.size();
    if (!before.ends_with(R"("payload)") && !before.ends_with(R"("raw)")) continue;
    const size_t end = line.find('"', start);
    if (end == std::string_view::npos ||
        !DecodeHex(line.substr(start, end - start), lifted.emplace_back()) || !copy(start))
      return std::nullopt;
    fmt::format_to(std::back_inserter(rest), "{}{}", kLiftedMark, lifted.size() - 1);
    copied = at = end;
  }
  if (lifted.empty() || !copy(line.size())) return std::nullopt;
  return rest;
}

Result<Json> ParseLine(std::string_view line, std::vector<std::string>& lifted) {
  const std::optional<std::string> rest = LiftHex(line, lifted);
  if (auto object = rest ? ParseJson(*rest) : Result<Json>(); rest && object) return object;
  lifted.clear();
  return ParseJson(line);  // for the error's position, too
}

}  // namespace

Result<Op> ParseOp(std::string_view line, std::string& storage) {
  storage.clear();
  Result<Op> usual;  // filled where it is returned: moving a record is not cheap
  if (ParseCommitLine(line, *usual, storage)) return usual;
  storage.clear();
  Scratch scratch{storage, {}};
  RS_ASSIGN_OR_RETURN(const Json object, ParseLine(line, scratch.lifted));
  if (!object.is_object())
    return Fail(ErrorCode::kCorrupt, "expected a JSON object per line, found another JSON value");
  KeyReader keys(object);
  Op op{keys.OptionalUint<uint64_t>("ts"), Note{}};
  const std::string name = keys.Text("op");
  if (const ParseFn parse = FindParser(name))
    op.body = parse(keys, scratch);
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

}  // namespace ringscope
