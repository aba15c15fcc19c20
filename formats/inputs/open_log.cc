#include "formats/inputs/open_log.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <map>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/compressed_source.h"
#include "formats/io/made_ahead.h"
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
      is_trace ? "it has the packets that came out, not the commits that are replayed: 'ringscope "
                 "doctor' examines it, 'ringscope import' makes a log of what is left"
               : kExpected));
}

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

namespace {

/// The counters in a packet of the service, if that is what it has.
void ReadStats(Bytes packet, std::vector<BufferStats>& stats) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(proto::TracePacket::kTraceStats)) continue;
    stats = ReadTraceStats(field->bytes);
  }
}

/// Finds where a trace begins within a file: the file of a cloned session has the session's trace
/// so far, and then that of the clone. Each has a config and a uuid, in this order.
class TraceStarts {
 public:
  /// @return whether a packet of the service begins another trace than the first
  bool Add(Bytes packet) {
    wire::FieldReader fields(packet);
    while (const auto field = fields.Next()) {
      bool* const seen = field->IsBytes(proto::TracePacket::kTraceConfig) ? &has_config_
                         : field->IsBytes(proto::TracePacket::kTraceUuid) ? &has_uuid_
                                                                          : nullptr;
      if (seen == nullptr || !std::exchange(*seen, true)) continue;
      has_config_ = has_uuid_ = false;
      *seen = true;
      return true;
    }
    return false;
  }

 private:
  bool has_config_ = false;
  bool has_uuid_ = false;
};

}  // namespace

Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage) {
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      TraceReader::Open(std::move(source), damage == nullptr ? TraceReader::OnDamage::kFail
                                                             : TraceReader::OnDamage::kSkip));
  ReplayOutput output;
  std::map<uint32_t, size_t> indices;  // of sequences, by their ids in this trace of the file
  TraceStarts starts;
  uint32_t trace = 1;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> trace_packet, reader->Next());
    if (!trace_packet) {
      if (damage != nullptr) *damage = reader->damage();
      return output;
    }
    const uint32_t id = trace_packet->sequence_id;
    if (id == kServiceSequenceId) {
      ++output.service_packets;
      ReadStats(trace_packet->bytes, output.stats);
      if (starts.Add(trace_packet->bytes)) {
        indices.clear();  // ids begin again
        ++trace;
      }
      continue;
    }
    if (output.packets == UINT32_MAX)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} packets", UINT32_MAX));
    const auto [index, is_new] = indices.try_emplace(id, output.sequences.size());
    if (is_new) {
      const Identity identity{static_cast<uint32_t>(trace_packet->trusted_uid.value_or(0)),
                              trace_packet->trusted_pid.value_or(-1)};
      std::string name = std::to_string(id);
      if (trace > 1) name += fmt::format(" of trace {}", trace);
      output.sequences.push_back({std::move(name), identity, {}});
    }
    const Bytes content = trace_packet->content;
    output.sequences[index->second].packets.push_back(
        {.hash = XXH3_64bits(content.data(), content.size()),
         .size = content.size(),
         .loss_bits = trace_packet->dropped,
         .content = ReadPacketFacts(content).content,
         .position = static_cast<uint32_t>(output.packets++)});
  }
}

}  // namespace ringscope
