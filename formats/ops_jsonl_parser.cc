#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/commit_request.h"
#include "core/engine.h"
#include "core/nearest.h"
#include "core/wire.h"
#include "formats/hex.h"
#include "formats/json_keys.h"
#include "formats/ops_jsonl.h"

namespace ringscope {
namespace {

constexpr const char* kPolicies = "\"ring_buffer\" or \"discard\"";
constexpr const char* kOrigins =
    "\"imported\", \"shm\", \"inline\", \"scraped\", \"synthetic\" or \"estimated\"";
constexpr const char* kReasons = "\"unknown\", \"consumer\", \"file\" or \"final\"";
constexpr uint64_t kV1Alignment = 16;  // of a V1 buffer's size, in bytes

/// Strings of hex digits that were lifted out of their line, decoded.
struct Lifted {
  std::string bytes;
  std::vector<std::pair<size_t, size_t>> spans;  // offset and size, in order
};

/// What a line is parsed into and with.
struct Scratch {
  std::string& request;  // encoded; commits point into it
  Lifted lifted;
};

/// What stands in a line for a string lifted out of it has this before its number. Never hex.
constexpr char kLiftedMark = '@';

/// The bytes of a string of hex digits that may have been lifted out of the line; required.
/// @param storage for the bytes, if they were not
Bytes ReadHex(KeyReader& keys, std::string_view key, size_t max_bytes, const Scratch& scratch,
              std::string& storage) {
  const std::optional<std::string_view> text = keys.TextIfThere(key);
  if (scratch.lifted.spans.empty() || !text || !text->starts_with(kLiftedMark)) {
    keys.Hex(key, max_bytes, storage);
    return wire::AsBytes(storage);
  }
  size_t index = 0;
  std::from_chars(text->data() + 1, text->data() + text->size(), index);
  const auto [offset, size] = scratch.lifted.spans.at(index);
  if (size > max_bytes) keys.FailTooLarge(key, size, max_bytes);
  return wire::AsBytes(scratch.lifted.bytes).subspan(offset, size);
}

OpBody ParseHeader(KeyReader& keys, Scratch&) {
  LogHeader header;
  header.format_version = keys.UintOr(header.format_version, "format_version");
  header.tool = keys.TextOr("", "tool");
  header.uuid = keys.TextOr("", "uuid");
  header.part = keys.UintOr(header.part, "part");
  header.source = keys.NameOr(header.source, "source", OriginFromName, kOrigins);
  header.host = keys.TextOr("", "host");
  header.clock = keys.TextOr("", "clock");
  header.description = keys.TextOr("", "description");
  return header;
}

OpBody ParseSessionStarted(KeyReader& keys, Scratch&) {
  return SessionStarted{keys.Uint<uint64_t>("session")};
}

OpBody ParseSessionEnded(KeyReader& keys, Scratch&) {
  return SessionEnded{keys.Uint<uint64_t>("session")};
}

OpBody ParseConfig(KeyReader& keys, Scratch&) {
  TraceConfigRecord record;
  keys.Hex("config", kMaxOpsLine, record.config);
  return record;
}

OpBody ParseBuffer(KeyReader& keys, Scratch&) {
  BufferSetUp buffer;
  buffer.id = keys.Uint<BufferId>("id");
  buffer.index = keys.OptionalUint<uint32_t>("index");
  buffer.size = keys.Uint<uint64_t>("size");
  buffer.policy = keys.Name("policy", FillPolicyFromName, kPolicies);
  buffer.engine = keys.TextOr("", "engine");
  if (buffer.size == 0) keys.Fail("size", "expected at least 1 byte, found 0");
  if (buffer.engine == "v1" && buffer.size % kV1Alignment != 0)
    keys.Fail("size", fmt::format("expected a multiple of {} for a V1 buffer, found {}",
                                  kV1Alignment, buffer.size));
  return buffer;
}

OpBody ParseBufferFreed(KeyReader& keys, Scratch&) {
  return BufferFreed{keys.Uint<BufferId>("id")};
}

OpBody ParseClockSnapshot(KeyReader& keys, Scratch&) {
  ClockSnapshotRecord record;
  keys.Hex("snapshot", kMaxOpsLine, record.snapshot);
  return record;
}

OpBody ParseProducer(KeyReader& keys, Scratch&) {
  ProducerConnected producer;
  producer.producer = keys.Uint<ProducerId>("producer");
  producer.uid = keys.UintOr(producer.uid, "uid");
  producer.pid = keys.OptionalInt32("pid").value_or(producer.pid);
  producer.seen_uid = keys.OptionalUint<uint32_t>("seen_uid");
  producer.seen_pid = keys.OptionalInt32("seen_pid");
  producer.name = keys.TextOr("", "name");
  producer.scraping = keys.OptionalUint<uint32_t>("scraping");
  producer.sdk = keys.TextOr("", "sdk");
  producer.smb_size = keys.OptionalUint<uint64_t>("smb_size");
  producer.page_size = keys.OptionalUint<uint64_t>("page_size");
  return producer;
}

OpBody ParseSharedMemory(KeyReader& keys, Scratch&) {
  return SharedMemorySetUp{keys.Uint<ProducerId>("producer"), keys.Uint<uint64_t>("size"),
                           keys.Uint<uint64_t>("page_size")};
}

OpBody ParseDisconnect(KeyReader& keys, Scratch&) {
  return ProducerDisconnected{keys.Uint<ProducerId>("producer")};
}

OpBody ParseDataSource(KeyReader& keys, Scratch&) {
  return DataSourceRegistered{keys.Uint<ProducerId>("producer"), keys.Text("name"),
                              keys.BoolOr(false, "no_flush")};
}

OpBody ParseDataSourceSetUp(KeyReader& keys, Scratch&) {
  return DataSourceSetUp{keys.Uint<ProducerId>("producer"), keys.Uint<uint64_t>("instance"),
                         keys.Text("name"), keys.Uint<BufferId>("buffer")};
}

OpBody ParseDataSourceStopped(KeyReader& keys, Scratch&) {
  return DataSourceStopped{keys.Uint<ProducerId>("producer"), keys.Uint<uint64_t>("instance")};
}

OpBody ParseWriter(KeyReader& keys, Scratch&) {
  return WriterRegistered{keys.Uint<ProducerId>("producer"), keys.Uint<WriterId>("writer"),
                          keys.Uint<BufferId>("buffer")};
}

OpBody ParseWriterGone(KeyReader& keys, Scratch&) {
  return WriterUnregistered{keys.Uint<ProducerId>("producer"), keys.Uint<WriterId>("writer")};
}

/// The keys that "commit", "patch" and "request" share.
Commit ParseSender(KeyReader& keys) {
  Commit commit;
  commit.producer = keys.Uint<ProducerId>("producer");
  commit.uid = keys.OptionalUint<uint32_t>("uid");
  commit.pid = keys.OptionalInt32("pid");
  commit.origin = keys.NameOr(commit.origin, "origin", OriginFromName, kOrigins);
  return commit;
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

OpBody ParseCommit(KeyReader& keys, Scratch& scratch) {
  Commit commit = ParseSender(keys);
  const BufferId buffer = keys.UintOr(BufferId{}, "buffer");
  const ChunkHeader header = ParseChunkHeaderKeys(keys);
  CheckSequence(keys, commit.producer, header.writer);
  std::string storage;
  const Bytes payload = ReadHex(keys, "payload", kMaxChunkPayload, scratch, storage);
  CommitRequestBuilder(scratch.request)
      .AddChunk(buffer, header, payload, keys.BoolOr(true, "complete"));
  commit.request = wire::AsBytes(scratch.request);
  return commit;
}

/// Appends the patches of a key's array to `patch`; their bytes lie in `data`.
void ParsePatches(KeyReader& keys, bool exact, std::vector<std::string>& data,
                  ChunkToPatch& patch) {
  data.clear();
  keys.ForEach("patches", [&](KeyReader& element) {
    const auto offset = element.Uint<uint64_t>("offset");
    element.Hex("data", kMaxOpsLine, data.emplace_back());
    if (exact && data.back().size() != kPatchSize)
      element.Fail("data", fmt::format("expected exactly {} bytes, found {}", kPatchSize,
                                       data.back().size()));
    patch.patches.push_back({offset, {}});
  });
  // Only now: a growing vector moves short strings.
  for (size_t i = 0; i < patch.patches.size(); ++i) patch.patches[i].data = wire::AsBytes(data[i]);
}

OpBody ParsePatch(KeyReader& keys, Scratch& scratch) {
  Commit commit = ParseSender(keys);
  const auto writer = keys.Uint<WriterId>("writer");
  CheckSequence(keys, commit.producer, writer);
  ChunkToPatch patch;
  patch.target_buffer = Raw(keys.UintOr(BufferId{}, "buffer"));
  patch.writer = Raw(writer);
  patch.chunk = keys.Uint<uint32_t>("chunk");
  patch.more = keys.BoolOr(false, "more");
  std::vector<std::string> data;
  ParsePatches(keys, true, data, patch);
  CommitRequestBuilder(scratch.request).AddPatch(patch);
  commit.request = wire::AsBytes(scratch.request);
  return commit;
}

/// An entry of a raw request's "chunks".
void ParseRequestChunk(KeyReader& keys, const Scratch& scratch, CommitRequestBuilder& builder) {
  std::string data;
  ChunkToMove chunk;
  chunk.page = keys.OptionalUint<uint64_t>("page");
  chunk.index = keys.OptionalUint<uint64_t>("index");
  chunk.target_buffer = keys.OptionalUint<uint64_t>("buffer");
  chunk.incomplete = !keys.BoolOr(true, "complete");
  if (keys.Has("payload") || keys.Has("writer")) {
    AppendChunkHeader(data, ParseChunkHeaderKeys(keys));
    std::string storage;
    data += wire::AsText(ReadHex(keys, "payload", kMaxOpsLine, scratch, storage));
    if (keys.Has("data")) keys.Fail("data", "expected either this or \"payload\", found both");
    chunk.data = wire::AsBytes(data);
  } else if (keys.Has("data")) {
    keys.Hex("data", kMaxOpsLine, data);
    chunk.data = wire::AsBytes(data);
  }
  builder.AddChunk(chunk);
}

OpBody ParseRequest(KeyReader& keys, Scratch& scratch) {
  Commit commit = ParseSender(keys);
  commit.number = keys.UintOr(commit.number, "number");
  commit.part = keys.UintOr(commit.part, "part");
  commit.last = keys.BoolOr(commit.last, "last");
  if (keys.Has("raw")) {
    std::string storage;
    scratch.request = wire::AsText(ReadHex(keys, "raw", kMaxOpsLine, scratch, storage));
    for (const char* key : {"chunks", "patches", "flush"})
      if (keys.Has(key)) keys.Fail(key, "expected either this or \"raw\", found both");
  } else {
    CommitRequestBuilder builder(scratch.request);
    if (keys.Has("chunks"))
      keys.ForEach("chunks", [&](KeyReader& chunk) { ParseRequestChunk(chunk, scratch, builder); });
    std::vector<std::string> data;
    if (keys.Has("patches")) {
      keys.ForEach("patches", [&](KeyReader& entry) {
        ChunkToPatch patch;
        patch.target_buffer = entry.OptionalUint<uint64_t>("buffer");
        patch.writer = entry.OptionalUint<uint64_t>("writer");
        patch.chunk = entry.OptionalUint<uint64_t>("chunk");
        patch.more = entry.BoolOr(false, "more");
        ParsePatches(entry, false, data, patch);
        builder.AddPatch(patch);
      });
    }
    if (const auto flush = keys.OptionalUint<uint64_t>("flush")) builder.SetFlushRequestId(*flush);
  }
  commit.request = wire::AsBytes(scratch.request);
  return commit;
}

OpBody ParseFlush(KeyReader& keys, Scratch&) {
  return FlushRequested{keys.Uint<uint64_t>("flush"), keys.OptionalUint<ProducerId>("producer")};
}

OpBody ParseFlushDone(KeyReader& keys, Scratch&) {
  return FlushAcknowledged{keys.Uint<ProducerId>("producer"), keys.Uint<uint64_t>("flush")};
}

OpBody ParseFlushTimeout(KeyReader& keys, Scratch&) {
  return FlushTimedOut{keys.Uint<uint64_t>("flush")};
}

OpBody ParseRead(KeyReader& keys, Scratch&) {
  ReadPass read;
  if (!keys.IsText("buffer", "all")) read.buffer = keys.UintOr(BufferId{}, "buffer");
  read.max_packets = keys.OptionalUint<uint64_t>("max_packets");
  read.max_bytes = keys.OptionalUint<uint64_t>("max_bytes");
  read.reason = keys.NameOr(read.reason, "reason", ReadReasonFromName, kReasons);
  return read;
}

OpBody ParseCloneRead(KeyReader& keys, Scratch&) {
  return CloneRead{keys.UintOr(BufferId{}, "buffer")};
}

OpBody ParseRecorderGap(KeyReader& keys, Scratch&) {
  RecorderGap gap;
  gap.reason = keys.Text("reason");
  gap.producer = keys.OptionalUint<ProducerId>("producer");
  gap.records = keys.OptionalUint<uint64_t>("records");
  gap.bytes = keys.OptionalUint<uint64_t>("bytes");
  gap.from_ns = keys.OptionalUint<uint64_t>("from_ns");
  gap.to_ns = keys.OptionalUint<uint64_t>("to_ns");
  return gap;
}

OpBody ParseNote(KeyReader& keys, Scratch&) { return Note{keys.Text("text")}; }

struct OpParser {
  std::string_view name;
  OpBody (*parse)(KeyReader& keys, Scratch& scratch);
};

/// The lines by name; the usual ones first.
constexpr std::array<OpParser, 25> kParsers = {{
    {"commit", ParseCommit},
    {"patch", ParsePatch},
    {"request", ParseRequest},
    {"read", ParseRead},
    {"clone_read", ParseCloneRead},
    {"buffer", ParseBuffer},
    {"buffer_freed", ParseBufferFreed},
    {"producer", ParseProducer},
    {"smb", ParseSharedMemory},
    {"disconnect", ParseDisconnect},
    {"data_source", ParseDataSource},
    {"data_source_setup", ParseDataSourceSetUp},
    {"data_source_stop", ParseDataSourceStopped},
    {"writer", ParseWriter},
    {"writer_gone", ParseWriterGone},
    {"flush", ParseFlush},
    {"flush_done", ParseFlushDone},
    {"flush_timeout", ParseFlushTimeout},
    {"header", ParseHeader},
    {"session_start", ParseSessionStarted},
    {"session_end", ParseSessionEnded},
    {"config", ParseConfig},
    {"clock_snapshot", ParseClockSnapshot},
    {"recorder_gap", ParseRecorderGap},
    {"note", ParseNote},
}};

void FailUnknownOp(KeyReader& keys, std::string_view name) {
  std::array<std::string_view, kParsers.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kParsers[i].name;
  const auto nearest = NearestName(name, names);
  keys.FailExpected("op", nearest ? fmt::format("a known operation (\"{}\"?)", *nearest)
                                  : std::string("a known operation"));
}

/// Takes the strings of hex digits that most of a line may be out of it: the JSON parser would look
/// at each digit by itself, and hex digits need no parser. Each leaves its mark in its place.
/// @return what is left of the line; nullopt: it is to be parsed as it is
std::optional<std::string> LiftHex(std::string_view line, Lifted& lifted) {
  constexpr std::string_view kBetween = R"(":")";
  std::string rest;
  size_t copied = 0;
  // Without a backslash every quote is a string's first or last character; and without a mark
  // nothing can be taken for one. Where that is not so the line is left alone.
  const auto copy = [&](size_t end) {
    const std::string_view piece = line.substr(copied, end - copied);
    rest += piece;
    return piece.find('\\') == std::string_view::npos &&
           piece.find(kLiftedMark) == std::string_view::npos;
  };
  for (size_t at = line.find(kBetween); at != std::string_view::npos;
       at = line.find(kBetween, at)) {
    const std::string_view before = line.substr(0, at);
    const size_t start = at += kBetween.size();
    if (!before.ends_with(R"("payload)") && !before.ends_with(R"("raw)")) continue;
    const size_t end = line.find('"', start);
    const size_t offset = lifted.bytes.size();
    if (end == std::string_view::npos ||
        !DecodeHex(line.substr(start, end - start), lifted.bytes) || !copy(start))
      return std::nullopt;
    fmt::format_to(std::back_inserter(rest), "{}{}", kLiftedMark, lifted.spans.size());
    lifted.spans.emplace_back(offset, lifted.bytes.size() - offset);
    copied = at = end;
  }
  if (lifted.spans.empty() || !copy(line.size())) return std::nullopt;
  return rest;
}

Result<nlohmann::json> ParseLine(std::string_view line, Lifted& lifted) {
  if (const std::optional<std::string> rest = LiftHex(line, lifted)) {
    auto object = ParseJson(*rest);
    if (object) return object;
  }
  lifted.spans.clear();
  return ParseJson(line);  // for the error's column, too
}

}  // namespace

Result<Op> ParseOp(std::string_view line, std::string& storage) {
  storage.clear();
  Scratch scratch{storage, {}};
  RS_ASSIGN_OR_RETURN(const nlohmann::json object, ParseLine(line, scratch.lifted));
  if (!object.is_object())
    return Fail(ErrorCode::kCorrupt, "expected a JSON object per line, found another JSON value");
  KeyReader keys(object);
  Op op{keys.OptionalUint<uint64_t>("ts"), Note{}};
  const std::string name = keys.Text("op");
  const OpParser* parser = nullptr;
  for (const OpParser& candidate : kParsers) {
    if (candidate.name != name) continue;
    parser = &candidate;
    break;
  }
  if (parser == nullptr) {
    FailUnknownOp(keys, name);
  } else {
    op.body = parser->parse(keys, scratch);
  }
  RS_RETURN_IF_ERROR(keys.status());
  return op;
}

}  // namespace ringscope
