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
  std::string inner = start;
  std::unique_ptr<CompressedSource> content = MakeSourceFor(wire::AsBytes(start), source);
  const CompressedSource* const compressed = content.get();
  if (content) {
    source = std::move(content);
    RS_ASSIGN_OR_RETURN(inner, source->Peek(kKindBytes));
    if (inner.empty())
      return Fail(ErrorCode::kCorrupt, "the file is empty once it is decompressed",
                  {source->path(), {}, {}}, kExpected);
    if (commit_log::LooksLikeCommitLog(wire::AsBytes(inner)))
      return MakeCommitLogReader(std::move(source), observer);
    if (IsZstd(wire::AsBytes(inner)) || IsGzip(wire::AsBytes(inner)))
      return Fail(ErrorCode::kUnsupported, "the input is compressed twice",
                  {source->path(), {}, {}}, "decompress it once");
  }
  if (KindOfStart(inner) != InputKind::kLog)
    return tl::unexpected<Error>(WrongContent(
        start, source->path(), "a log",
        KindOfStart(start) == InputKind::kTrace
            ? "a trace has the packets that came out, not the commits that are replayed: "
              "'ringscope doctor' examines it, 'gaps' and 'timeline' show what it lacks"
            : kExpected));
  if (compressed == nullptr) return MakeOpsReader(std::move(source), LogFormat::kOps);
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
