#include <algorithm>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/stats.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

void AppendBufferStats(std::string& out, const BufferStats& stats) {
  std::string message;
  for (const StatField& field : kStatFields)
    wire::AppendUint(message, field.proto_field, stats.*field.value);
  wire::AppendBytes(out, proto::TraceStats::kBufferStats, wire::AsBytes(message));
}

template <typename T>
void AppendPacked(std::string& out, uint32_t number, const T& values) {
  std::string packed;
  for (const uint64_t value : values) wire::AppendVarint(packed, value);
  wire::AppendBytes(out, number, wire::AsBytes(packed));
}

void AppendWriterStats(std::string& out, uint32_t sequence_id, uint64_t buffer,
                       const WriterHistogram& histogram) {
  std::string message;
  wire::AppendUint(message, proto::TraceStats::WriterStats::kSequenceId, sequence_id);
  wire::AppendUint(message, proto::TraceStats::WriterStats::kBuffer, buffer);
  AppendPacked(message, proto::TraceStats::WriterStats::kChunkPayloadHistogramCounts,
               histogram.counts);
  AppendPacked(message, proto::TraceStats::WriterStats::kChunkPayloadHistogramSum, histogram.sums);
  wire::AppendBytes(out, proto::TraceStats::kWriterStats, wire::AsBytes(message));
}

void AppendServiceStats(std::string& out, const ServiceStats& stats) {
  for (const ServiceField& field : kServiceFields)
    if (field.proto_field != 0) wire::AppendUint(out, field.proto_field, stats.*field.value);
}

}  // namespace

std::string EncodeTraceStats(Session& session, const ServiceStats& service,
                             const TakenStats& taken) {
  std::vector<const SessionBuffer*> buffers;
  for (const auto& [id, buffer] : session.buffers()) buffers.push_back(&buffer);
  // Readers number the buffers by their place in this packet.
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const auto* a, const auto* b) { return a->index < b->index; });

  std::string stats;
  for (const SessionBuffer* buffer : buffers) {
    const auto earlier = taken.find(buffer->id);
    AppendBufferStats(stats, earlier == taken.end() ? buffer->stats() : earlier->second);
  }
  for (const uint32_t limit : kHistogramLimits)
    wire::AppendUint(stats, proto::TraceStats::kChunkPayloadHistogramDef, limit);
  for (size_t i = 0; i < buffers.size(); ++i) {
    // The ids are given in the order of the service's table.
    for (const SequenceKey writer : buffers[i]->Writers())
      session.SequenceIdsFor(*buffers[i]).IdOf(writer);
    buffers[i]->VisitWriterStats([&](const WriterStats& writer) {
      AppendWriterStats(stats, session.SequenceIdsFor(*buffers[i]).IdOf(writer.sequence), i,
                        *writer.histogram);
    });
  }
  AppendServiceStats(stats, service);
  return stats;
}

void TraceWriter::OnBufferSetUp(SessionBuffer& buffer) {
  indexes_[buffer.id] = buffer.index;
  taken_.erase(buffer.id);
}

void TraceWriter::OnAllRead(const Session& session, std::optional<uint64_t> id) {
  for (const auto& [number, buffer] : session.buffers())
    if (!buffer.freed && (!id || !buffer.session || buffer.session == id))
      taken_[number] = buffer.stats();
  service_ = session.stats();
}

void TraceWriter::OnRecord(const Op& op, const LogMoment&) {
  Status status;
  if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
    status = AddTraceConfig(wire::AsBytes(config->config));
    if (clone_) config_ = config->config;
  }
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
    status = AddClockSnapshot(wire::AsBytes(snapshot->snapshot));
  if (clone_ && status) status = AddCloneEvent(op);
  if (status_) status_ = status;
}

/// Adds what the service notes in the trace of a clone: its start, and each buffer that is cloned.
Status TraceWriter::AddCloneEvent(const Op& op) {
  // In a file, the trace of the clone follows that of the session.
  if (const auto* ended = std::get_if<CloneEnded>(&op.body))
    return ended->clone == *clone_ && ended->into_file && !config_.empty()
               ? AddTraceConfig(wire::AsBytes(config_))
               : Status();
  const auto* requested = std::get_if<CloneRequested>(&op.body);
  const auto* cloned = std::get_if<BufferCloned>(&op.body);
  std::string event;
  if (requested != nullptr && requested->clone == *clone_)
    wire::AppendUint(event, proto::TracingServiceEvent::kCloneStarted, 1);
  else if (cloned != nullptr && cloned->clone == *clone_)
    wire::AppendUint(event, proto::TracingServiceEvent::kBufferCloned, indexes_[cloned->buffer]);
  else
    return {};
  return AddServicePacket(proto::TracePacket::kServiceEvent, wire::AsBytes(event), op.time_ns);
}

Status TraceWriter::OnProtoVms(const ProtoVmsRead& read) {
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(AddServicePacket(proto::TracePacket::kTraceProvenance, read.listing));
  return AddServicePacket(proto::TracePacket::kProtovms, read.protovms);
}

Status TraceWriter::OnPacket(const SessionPacket& packet) {
  RS_RETURN_IF_ERROR(status_);
  return AddPacket(packet);
}

Status TraceWriter::AddPacket(const SessionPacket& session_packet) {
  if (!session_packet.valid) return {};
  const Packet& packet = *session_packet.packet;
  scratch_.clear();
  AppendTrustedFields(scratch_, packet.identity, session_packet.sequence_id, packet.dropped,
                      session_packet.machine);
  wire::AppendTag(pending_, proto::Trace::kPacket, wire::Type::kBytes);
  wire::AppendVarint(pending_, packet.size + scratch_.size());
  for (const Bytes slice : packet.slices) pending_ += wire::AsText(slice);
  pending_ += scratch_;
  ++packets_;
  return FlushIfLarge();
}

void TraceWriter::AddTool() {
  pending_ += ToolPacket();
  ++packets_;
}

Status TraceWriter::AddTraceConfig(Bytes config) {
  return AddServicePacket(proto::TracePacket::kTraceConfig, config);
}

Status TraceWriter::AddClockSnapshot(Bytes snapshot) {
  return AddServicePacket(proto::TracePacket::kClockSnapshot, snapshot);
}

Status TraceWriter::AddRawPacket(Bytes packet) {
  wire::AppendBytes(pending_, proto::Trace::kPacket, packet);
  ++packets_;
  return FlushIfLarge();
}

Status TraceWriter::AddTraceStats(Session& session) {
  const std::string stats = EncodeTraceStats(session, service_.value_or(session.stats()), taken_);
  return AddServicePacket(proto::TracePacket::kTraceStats, wire::AsBytes(stats));
}

Status TraceWriter::Finish() {
  RS_RETURN_IF_ERROR(status_);
  if (pending_.empty()) return {};
  Status status = sink_.Write(pending_);
  written_ += pending_.size();
  pending_.clear();
  return status;
}

Status TraceWriter::AddServicePacket(uint32_t field, Bytes content,
                                     std::optional<uint64_t> timestamp) {
  scratch_.clear();
  if (timestamp) wire::AppendUint(scratch_, proto::TracePacket::kTimestamp, *timestamp);
  wire::AppendBytes(scratch_, field, content);
  AppendTrustedFields(scratch_, Identity{.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  wire::AppendBytes(pending_, proto::Trace::kPacket, wire::AsBytes(scratch_));
  ++packets_;
  return FlushIfLarge();
}

Status TraceWriter::FlushIfLarge() { return pending_.size() < kWriteBytes ? Status{} : Finish(); }

}  // namespace ringscope
