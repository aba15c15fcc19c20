#ifndef RINGSCOPE_FORMATS_LOG_RECORD_FIELDS_H_
#define RINGSCOPE_FORMATS_LOG_RECORD_FIELDS_H_

#include "core/log/op.h"
#include "core/log/summary.h"
#include "formats/proto/message_codec.h"

namespace ringscope {

// The fields of each record, listed once: the codec of .tblog, the reader and the writer of
// .ops.jsonl are visitors of these lists. Commit has none: its content is a request, which
// record_codec.cc reads and writes without copying, and which .ops.jsonl writes out in words.

/// A field of a record: its number in .tblog (commit_log.proto), its key in .ops.jsonl
/// (ops_jsonl.md), and when a line has that key.
struct RecordField {
  enum class InLine : uint8_t {
    kRequired,     // always; a line without it is an error
    kDefault,      // always; a line without it means the default
    kOptional,     // unless it is absent or has its default
    kHex,          // required, bytes as hex digits
    kBufferOrAll,  // always, "all" if it is absent; a line without it means buffer 0
  };
  uint32_t number;
  const char* key;
  InLine in_line;

  /// What the codec needs of it.
  constexpr operator uint32_t() const { return number; }
};

constexpr RecordField RequiredField(uint32_t number, const char* key) {
  return {number, key, RecordField::InLine::kRequired};
}
constexpr RecordField DefaultField(uint32_t number, const char* key) {
  return {number, key, RecordField::InLine::kDefault};
}
constexpr RecordField OptionalField(uint32_t number, const char* key) {
  return {number, key, RecordField::InLine::kOptional};
}
constexpr RecordField HexField(uint32_t number, const char* key) {
  return {number, key, RecordField::InLine::kHex};
}
constexpr RecordField BufferOrAllField(uint32_t number, const char* key) {
  return {number, key, RecordField::InLine::kBufferOrAll};
}

template <typename V>
void Fields(V& field, Like<LogHeader> auto& m) {
  field(DefaultField(1, "format_version"), m.format_version);
  field(DefaultField(2, "tool"), m.tool);
  field(DefaultField(3, "uuid"), m.uuid);
  field(DefaultField(4, "part"), m.part);
  field(DefaultField(5, "source"), m.source);
  field(OptionalField(6, "host"), m.host);
  field(OptionalField(7, "clock"), m.clock);
  field(OptionalField(8, "description"), m.description);
}

template <typename V>
void Fields(V& field, Like<SessionStarted> auto& m) {
  field(RequiredField(1, "session"), m.session);
}

template <typename V>
void Fields(V& field, Like<SessionEnded> auto& m) {
  field(RequiredField(1, "session"), m.session);
}

template <typename V>
void Fields(V& field, Like<TraceConfigRecord> auto& m) {
  field(HexField(1, "config"), m.config);
}

template <typename V>
void Fields(V& field, Like<BufferSetUp> auto& m) {
  field(RequiredField(1, "id"), m.id);
  field(OptionalField(2, "index"), m.index);
  field(RequiredField(3, "size"), m.size);
  field(RequiredField(4, "policy"), m.policy);
  field(OptionalField(5, "engine"), m.engine);
}

template <typename V>
void Fields(V& field, Like<BufferFreed> auto& m) {
  field(RequiredField(1, "id"), m.id);
}

template <typename V>
void Fields(V& field, Like<ClockSnapshotRecord> auto& m) {
  field(HexField(1, "snapshot"), m.snapshot);
}

template <typename V>
void Fields(V& field, Like<ProducerConnected> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(DefaultField(2, "uid"), m.uid);
  field(DefaultField(3, "pid"), m.pid);
  field(OptionalField(4, "seen_uid"), m.seen_uid);
  field(OptionalField(5, "seen_pid"), m.seen_pid);
  field(DefaultField(6, "name"), m.name);
  field(OptionalField(7, "scraping"), m.scraping);
  field(OptionalField(8, "sdk"), m.sdk);
  field(OptionalField(9, "smb_size"), m.smb_size);
  field(OptionalField(10, "page_size"), m.page_size);
}

template <typename V>
void Fields(V& field, Like<SharedMemorySetUp> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "size"), m.size);
  field(RequiredField(3, "page_size"), m.page_size);
}

template <typename V>
void Fields(V& field, Like<ProducerDisconnected> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
}

template <typename V>
void Fields(V& field, Like<DataSourceRegistered> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "name"), m.name);
  field(DefaultField(3, "no_flush"), m.no_flush);
}

template <typename V>
void Fields(V& field, Like<DataSourceSetUp> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "instance"), m.instance);
  field(RequiredField(3, "name"), m.name);
  field(RequiredField(4, "buffer"), m.target_buffer);
}

template <typename V>
void Fields(V& field, Like<DataSourceStopped> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "instance"), m.instance);
}

template <typename V>
void Fields(V& field, Like<WriterRegistered> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "writer"), m.writer);
  field(RequiredField(3, "buffer"), m.buffer);
}

template <typename V>
void Fields(V& field, Like<WriterUnregistered> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "writer"), m.writer);
}

template <typename V>
void Fields(V& field, Like<FlushRequested> auto& m) {
  field(RequiredField(1, "flush"), m.flush);
  field(OptionalField(2, "producer"), m.producer);
}

template <typename V>
void Fields(V& field, Like<FlushAcknowledged> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "flush"), m.flush);
}

template <typename V>
void Fields(V& field, Like<FlushTimedOut> auto& m) {
  field(RequiredField(1, "flush"), m.flush);
}

template <typename V>
void Fields(V& field, Like<ReadPass> auto& m) {
  field(BufferOrAllField(1, "buffer"), m.buffer);
  field(OptionalField(2, "max_packets"), m.max_packets);
  field(OptionalField(3, "max_bytes"), m.max_bytes);
  field(OptionalField(4, "reason"), m.reason);
}

template <typename V>
void Fields(V& field, Like<CloneRead> auto& m) {
  field(DefaultField(1, "buffer"), m.buffer);
}

template <typename V>
void Fields(V& field, Like<RecorderGap> auto& m) {
  field(RequiredField(1, "reason"), m.reason);
  field(OptionalField(2, "producer"), m.producer);
  field(OptionalField(3, "records"), m.records);
  field(OptionalField(4, "bytes"), m.bytes);
  field(OptionalField(5, "from_ns"), m.from_ns);
  field(OptionalField(6, "to_ns"), m.to_ns);
}

template <typename V>
void Fields(V& field, Like<Note> auto& m) {
  field(RequiredField(1, "text"), m.text);
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

#endif  // RINGSCOPE_FORMATS_LOG_RECORD_FIELDS_H_
