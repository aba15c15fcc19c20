#include "formats/inputs/open_log.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "core/perfetto/trace_stats.h"
#include "formats/inputs/input_kind.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_reader.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

constexpr const char* kExpected =
    "expected a .tblog or an .ops.jsonl, plain or compressed by zstd or gzip";

/// Checks that a text, decompressed, is of operations. @param start of the file
Status CheckOperations(const std::string& content, const std::string& start,
                       const std::string& path) {
  if (KindOfStart(content) == InputKind::kLog) return {};
  const bool is_trace = KindOfStart(start) == InputKind::kTrace;
  return tl::unexpected<Error>(WrongContent(
      start, path, "a log",
      is_trace
          ? "a trace has the packets that came out, not the commits that are replayed: 'ringscope "
            "doctor' examines it, 'gaps' and 'timeline' show what it lacks"
          : kExpected));
}

/// Gathers the packets of a trace file, sequence by sequence. The sessions in it number their
/// sequences from the start.
class TraceResults : public SessionPackets {
 public:
  Status OnPacket(const RawPacket& packet, const TracePacketView& view) override {
    if (view.sequence_id == kServiceSequenceId) {
      ++output.service_packets;
      if (view.content == proto::TracePacket::kTraceStats)
        output.stats = ReadTraceStats(view.content_bytes);
      if (view.content == proto::TracePacket::kServiceEvent) {
        using Event = proto::TracingServiceEvent;
        output.is_clone = output.is_clone.value_or(false) ||
                          wire::LastVarint(view.content_bytes, Event::kCloneStarted);
        if (wire::LastVarint(view.content_bytes, Event::kReadTracingBuffersCompleted))
          has_read_ = true, output.ends_within_read = false;
      }
      return {};
    }
    if (output.packets == UINT32_MAX)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} packets", UINT32_MAX));
    const auto [index, is_new] = indices_.try_emplace(view.sequence_id, output.sequences.size());
    if (is_new) {
      const Identity identity{static_cast<uint32_t>(view.uid.value_or(0)), view.pid.value_or(-1)};
      std::string name = std::to_string(view.sequence_id);
      if (session_ > 1) name += fmt::format(" of trace {}", session_);
      output.sequences.push_back({std::move(name), identity, {}});
    }
    const ProducerPart part = SplitAppended(packet.bytes, view);
    output.ends_within_read = has_read_;
    output.sequences[index->second].packets.push_back(
        {.hash = XXH3_64bits(part.bytes.data(), part.bytes.size()),
         .size = part.bytes.size(),
         .loss_bits = part.dropped,
         .content = ReadPacketFacts(part.bytes).content,
         .position = static_cast<uint32_t>(output.packets++)});
    return {};
  }
  Status OnNextSession(uint64_t) override {
    indices_.clear();
    ++session_;
    return {};
  }

  ReplayOutput output;

 private:
  std::map<uint32_t, size_t> indices_;  // of sequences, by their ids in this session
  bool has_read_ = false;               // a read has ended
  uint32_t session_ = 1;
};

}  // namespace

Result<std::unique_ptr<LogSource>> OpenLog(const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return OpenLog(std::move(source));
}

Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source,
                                           CommitLogObserver* observer) {
  RS_ASSIGN_OR_RETURN(std::string start, source->Peek(commit_log::kStartFrameSize));
  if (start.empty())
    return Fail(ErrorCode::kCorrupt, "the file is empty", {source->path(), {}, {}},
                "expected a .tblog or an .ops.jsonl; a recorder that was killed at its start, or a "
                "copy that failed, leaves an empty file");
  if (commit_log::LooksLikeCommitLog(wire::AsBytes(start)))
    return MakeCommitLogReader(std::move(source), observer);
  RS_ASSIGN_OR_RETURN(start, source->Peek(kKindBytes));
  const std::string path = source->path();
  std::unique_ptr<CompressedSource> content = MakeSourceFor(wire::AsBytes(start), source);
  if (!content) {
    RS_RETURN_IF_ERROR(CheckOperations(start, start, path));
    return MakeOpsReader(std::move(source), LogFormat::kOps);
  }
  RS_ASSIGN_OR_RETURN(const std::string inner, content->Peek(kKindBytes));
  if (inner.empty())
    return Fail(ErrorCode::kCorrupt, "the file is empty once it is decompressed", {path, {}, {}},
                kExpected);
  const Bytes bytes = wire::AsBytes(inner);
  const bool is_commit_log = commit_log::LooksLikeCommitLog(bytes);
  if (!is_commit_log && (IsZstd(bytes) || IsGzip(bytes))) {
    return Fail(ErrorCode::kUnsupported, "the input is compressed twice", {path, {}, {}},
                "decompress it once");
  }
  if (!is_commit_log) RS_RETURN_IF_ERROR(CheckOperations(inner, start, path));
  const CompressedSource* const compressed = content.get();
  source = std::move(content);
  if (is_commit_log) return MakeCommitLogReader(std::move(source), observer);
  if (PaysToReadAhead(compressed->compressed_size()))
    source = MakeReadAheadSource(std::move(source));
  return MakeOpsReader(std::move(source),
                       IsZstd(wire::AsBytes(start)) ? LogFormat::kZstdOps : LogFormat::kGzipOps,
                       compressed);
}

Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage) {
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      TraceReader::Open(std::move(source), damage == nullptr ? TraceReader::OnDamage::kFail
                                                             : TraceReader::OnDamage::kSkip));
  TraceResults results;
  SessionSplit split(results);
  RS_RETURN_IF_ERROR(reader->ReadSessions(split, {}));
  if (damage != nullptr) *damage = reader->damage();
  return std::move(results.output);
}

}  // namespace ringscope
