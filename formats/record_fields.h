#ifndef RINGSCOPE_FORMATS_RECORD_FIELDS_H_
#define RINGSCOPE_FORMATS_RECORD_FIELDS_H_

#include "core/op.h"
#include "core/summary.h"
#include "formats/message_codec.h"

namespace ringscope {

// The schema of a commit log's messages, one function per message; the numbers are those of
// commit_log.proto. Commit has none: record_codec.cc reads and writes it without copying.

template <>
inline constexpr uint64_t kEnumValues<FillPolicy> = 2;
template <>
inline constexpr uint64_t kEnumValues<Origin> = 6;
template <>
inline constexpr uint64_t kEnumValues<ReadReason> = 4;

template <typename V>
void Fields(V& field, Like<LogHeader> auto& m) {
  field(1, m.format_version);
  field(2, m.tool);
  field(3, m.uuid);
  field(4, m.part);
  field(5, m.source);
  field(6, m.host);
  field(7, m.clock);
  field(8, m.description);
}

template <typename V>
void Fields(V& field, Like<SessionStarted> auto& m) {
  field(1, m.session);
}

template <typename V>
void Fields(V& field, Like<SessionEnded> auto& m) {
  field(1, m.session);
}

template <typename V>
void Fields(V& field, Like<TraceConfigRecord> auto& m) {
  field(1, m.config);
}

template <typename V>
void Fields(V& field, Like<BufferSetUp> auto& m) {
  field(1, m.id);
  field(2, m.index);
  field(3, m.size);
  field(4, m.policy);
  field(5, m.engine);
}

template <typename V>
void Fields(V& field, Like<BufferFreed> auto& m) {
  field(1, m.id);
}

template <typename V>
void Fields(V& field, Like<ClockSnapshotRecord> auto& m) {
  field(1, m.snapshot);
}

template <typename V>
void Fields(V& field, Like<ProducerConnected> auto& m) {
  field(1, m.producer);
  field(2, m.uid);
  field(3, m.pid);
  field(4, m.seen_uid);
  field(5, m.seen_pid);
  field(6, m.name);
  field(7, m.scraping);
  field(8, m.sdk);
  field(9, m.smb_size);
  field(10, m.page_size);
}

template <typename V>
void Fields(V& field, Like<SharedMemorySetUp> auto& m) {
  field(1, m.producer);
  field(2, m.size);
  field(3, m.page_size);
}

template <typename V>
void Fields(V& field, Like<ProducerDisconnected> auto& m) {
  field(1, m.producer);
}

template <typename V>
void Fields(V& field, Like<DataSourceRegistered> auto& m) {
  field(1, m.producer);
  field(2, m.name);
  field(3, m.no_flush);
}

template <typename V>
void Fields(V& field, Like<DataSourceSetUp> auto& m) {
  field(1, m.producer);
  field(2, m.instance);
  field(3, m.name);
  field(4, m.target_buffer);
}

template <typename V>
void Fields(V& field, Like<DataSourceStopped> auto& m) {
  field(1, m.producer);
  field(2, m.instance);
}

template <typename V>
void Fields(V& field, Like<WriterRegistered> auto& m) {
  field(1, m.producer);
  field(2, m.writer);
  field(3, m.buffer);
}

template <typename V>
void Fields(V& field, Like<WriterUnregistered> auto& m) {
  field(1, m.producer);
  field(2, m.writer);
}

template <typename V>
void Fields(V& field, Like<FlushRequested> auto& m) {
  field(1, m.flush);
  field(2, m.producer);
}

template <typename V>
void Fields(V& field, Like<FlushAcknowledged> auto& m) {
  field(1, m.producer);
  field(2, m.flush);
}

template <typename V>
void Fields(V& field, Like<FlushTimedOut> auto& m) {
  field(1, m.flush);
}

template <typename V>
void Fields(V& field, Like<ReadPass> auto& m) {
  field(1, m.buffer);
  field(2, m.max_packets);
  field(3, m.max_bytes);
  field(4, m.reason);
}

template <typename V>
void Fields(V& field, Like<CloneRead> auto& m) {
  field(1, m.buffer);
}

template <typename V>
void Fields(V& field, Like<RecorderGap> auto& m) {
  field(1, m.reason);
  field(2, m.producer);
  field(3, m.records);
  field(4, m.bytes);
  field(5, m.from_ns);
  field(6, m.to_ns);
}

template <typename V>
void Fields(V& field, Like<Note> auto& m) {
  field(1, m.text);
}

template <typename V>
void Fields(V& field, Like<SequenceSummary> auto& m) {
  field(1, m.sequence.producer);
  field(2, m.sequence.writer);
  field(3, m.buffer);
  field(4, m.commits);
  field(5, m.chunks);
  field(6, m.packets);
  field(7, m.bytes);
  field(8, m.patches);
  field(9, m.first_time_ns);
  field(10, m.last_time_ns);
}

template <typename V>
void Fields(V& field, Like<SessionSummary> auto& m) {
  field(1, m.header);
  field(2, m.first_record);
  field(3, m.records);
  field(4, m.first_time_ns);
  field(5, m.last_time_ns);
  field(6, m.counts);
  field(7, m.buffers);
  field(8, m.producers);
  field(9, m.sequences);
  field(10, m.chunks);
  field(11, m.chunk_bytes);
  field(12, m.patches);
  field(13, m.recorder_gaps);
  field(14, m.truncated);
}

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_RECORD_FIELDS_H_
