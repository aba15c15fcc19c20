#include <string>

#include "core/commit_request.h"
#include "core/engine.h"
#include "core/wire.h"
#include "formats/json_writer.h"
#include "formats/ops_jsonl.h"

namespace ringscope {
namespace {

/// A request with more chunks and patches than that is not spelled out: nobody reads it, and a
/// reader bounds how many values a line may have.
constexpr size_t kMaxEntries = 10'000;

template <typename T>
void Optional(JsonObjectWriter& line, std::string_view key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_enum_v<T>) {
    line.Uint(key, Raw(*value));
  } else if constexpr (std::is_signed_v<T>) {
    line.Int(key, *value);
  } else {
    line.Uint(key, *value);
  }
}

void TextIfAny(JsonObjectWriter& line, std::string_view key, const std::string& value) {
  if (!value.empty()) line.Text(key, value);
}

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
      : time_ns_(op.time_ns), parser_(parser), canonical_(canonical), out_(out) {}

  void operator()(const LogHeader& header) {
    JsonObjectWriter line = Begin("header");
    line.Uint("format_version", header.format_version);
    line.Text("tool", header.tool);
    line.Text("uuid", header.uuid);
    line.Uint("part", header.part);
    line.Name("source", Name(header.source));
    TextIfAny(line, "host", header.host);
    TextIfAny(line, "clock", header.clock);
    TextIfAny(line, "description", header.description);
    line.Close();
  }
  void operator()(const SessionStarted& started) {
    JsonObjectWriter line = Begin("session_start");
    line.Uint("session", started.session);
    line.Close();
  }
  void operator()(const SessionEnded& ended) {
    JsonObjectWriter line = Begin("session_end");
    line.Uint("session", ended.session);
    line.Close();
  }
  void operator()(const TraceConfigRecord& record) {
    JsonObjectWriter line = Begin("config");
    line.Hex("config", wire::AsBytes(record.config));
    line.Close();
  }
  void operator()(const BufferSetUp& buffer) {
    JsonObjectWriter line = Begin("buffer");
    line.Uint("id", Raw(buffer.id));
    Optional(line, "index", buffer.index);
    line.Uint("size", buffer.size);
    line.Name("policy", Name(buffer.policy));
    TextIfAny(line, "engine", buffer.engine);
    line.Close();
  }
  void operator()(const BufferFreed& freed) {
    JsonObjectWriter line = Begin("buffer_freed");
    line.Uint("id", Raw(freed.id));
    line.Close();
  }
  void operator()(const ClockSnapshotRecord& record) {
    JsonObjectWriter line = Begin("clock_snapshot");
    line.Hex("snapshot", wire::AsBytes(record.snapshot));
    line.Close();
  }
  void operator()(const ProducerConnected& producer) {
    JsonObjectWriter line = Begin("producer");
    line.Uint("producer", Raw(producer.producer));
    line.Uint("uid", producer.uid);
    line.Int("pid", producer.pid);
    Optional(line, "seen_uid", producer.seen_uid);
    Optional(line, "seen_pid", producer.seen_pid);
    line.Text("name", producer.name);
    Optional(line, "scraping", producer.scraping);
    TextIfAny(line, "sdk", producer.sdk);
    Optional(line, "smb_size", producer.smb_size);
    Optional(line, "page_size", producer.page_size);
    line.Close();
  }
  void operator()(const SharedMemorySetUp& memory) {
    JsonObjectWriter line = Begin("smb");
    line.Uint("producer", Raw(memory.producer));
    line.Uint("size", memory.size);
    line.Uint("page_size", memory.page_size);
    line.Close();
  }
  void operator()(const ProducerDisconnected& gone) {
    JsonObjectWriter line = Begin("disconnect");
    line.Uint("producer", Raw(gone.producer));
    line.Close();
  }
  void operator()(const DataSourceRegistered& source) {
    JsonObjectWriter line = Begin("data_source");
    line.Uint("producer", Raw(source.producer));
    line.Text("name", source.name);
    line.Bool("no_flush", source.no_flush);
    line.Close();
  }
  void operator()(const DataSourceSetUp& source) {
    JsonObjectWriter line = Begin("data_source_setup");
    line.Uint("producer", Raw(source.producer));
    line.Uint("instance", source.instance);
    line.Text("name", source.name);
    line.Uint("buffer", Raw(source.target_buffer));
    line.Close();
  }
  void operator()(const DataSourceStopped& source) {
    JsonObjectWriter line = Begin("data_source_stop");
    line.Uint("producer", Raw(source.producer));
    line.Uint("instance", source.instance);
    line.Close();
  }
  void operator()(const WriterRegistered& writer) {
    JsonObjectWriter line = Begin("writer");
    line.Uint("producer", Raw(writer.producer));
    line.Uint("writer", Raw(writer.writer));
    line.Uint("buffer", Raw(writer.buffer));
    line.Close();
  }
  void operator()(const WriterUnregistered& writer) {
    JsonObjectWriter line = Begin("writer_gone");
    line.Uint("producer", Raw(writer.producer));
    line.Uint("writer", Raw(writer.writer));
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
  void operator()(const FlushRequested& flush) {
    JsonObjectWriter line = Begin("flush");
    line.Uint("flush", flush.flush);
    Optional(line, "producer", flush.producer);
    line.Close();
  }
  void operator()(const FlushAcknowledged& flush) {
    JsonObjectWriter line = Begin("flush_done");
    line.Uint("producer", Raw(flush.producer));
    line.Uint("flush", flush.flush);
    line.Close();
  }
  void operator()(const FlushTimedOut& flush) {
    JsonObjectWriter line = Begin("flush_timeout");
    line.Uint("flush", flush.flush);
    line.Close();
  }
  void operator()(const ReadPass& read) {
    JsonObjectWriter line = Begin("read");
    if (read.buffer) {
      line.Uint("buffer", Raw(*read.buffer));
    } else {
      line.Name("buffer", "all");
    }
    Optional(line, "max_packets", read.max_packets);
    Optional(line, "max_bytes", read.max_bytes);
    if (read.reason != ReadReason::kUnknown) line.Name("reason", Name(read.reason));
    line.Close();
  }
  void operator()(const CloneRead& clone) {
    JsonObjectWriter line = Begin("clone_read");
    line.Uint("buffer", Raw(clone.buffer));
    line.Close();
  }
  void operator()(const RecorderGap& gap) {
    JsonObjectWriter line = Begin("recorder_gap");
    line.Text("reason", gap.reason);
    Optional(line, "producer", gap.producer);
    Optional(line, "records", gap.records);
    Optional(line, "bytes", gap.bytes);
    Optional(line, "from_ns", gap.from_ns);
    Optional(line, "to_ns", gap.to_ns);
    line.Close();
  }
  void operator()(const Note& note) {
    JsonObjectWriter line = Begin("note");
    line.Text("text", note.text);
    line.Close();
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

  /// Whether a "commit" line says everything; so parser_ holds one chunk and nothing else.
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
    line.Uint("producer", Raw(commit.producer));
    Optional(line, "uid", commit.uid);
    Optional(line, "pid", commit.pid);
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
    Array(line, "patches", patch.patches, [](JsonObjectWriter& entry, const PatchSpan& span) {
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
      line.Uint("number", commit.number);
      line.Uint("part", commit.part);
      line.Bool("last", commit.last);
    }
    if (as_bytes) {
      line.Hex("raw", commit.request);
      return line.Close();
    }
    if (!parser_.chunks().empty()) Array(line, "chunks", parser_.chunks(), RequestChunk);
    if (!parser_.patches().empty()) {
      Array(line, "patches", parser_.patches(),
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
    const auto header = chunk.data ? ParseChunkHeader(*chunk.data) : std::nullopt;
    if (header) {
      Header(entry, *header);
      entry.Bool("complete", !chunk.incomplete);
      entry.Hex("payload", chunk.data->subspan(kChunkHeaderSize));
    } else {
      entry.Bool("complete", !chunk.incomplete);
      if (chunk.data) entry.Hex("data", *chunk.data);
    }
  }

  template <typename List, typename F>
  void Array(JsonObjectWriter& line, std::string_view key, const List& list, F write) {
    line.Key(key);
    out_ += '[';
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_ += ',';
      first = false;
      JsonObjectWriter entry(out_);
      write(entry, element);
      entry.Close();
    }
    out_ += ']';
  }

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
