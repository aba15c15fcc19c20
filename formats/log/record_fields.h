#ifndef RINGSCOPE_FORMATS_LOG_RECORD_FIELDS_H_
#define RINGSCOPE_FORMATS_LOG_RECORD_FIELDS_H_

#include "core/log/op.h"
#include "core/log/summary.h"
#include "formats/io/message_codec.h"

namespace ringscope {

// The fields of each record, listed once for .tblog, .ops.jsonl and text. Commit has lists of
// parts: its request is not copied in the one, and spelled out in the other.

/// Makes a body's record a new one of a kind, and calls take(record&).
/// @param kind index of the alternative in OpBody
template <typename Take>
void EmplaceKind(OpBody& body, size_t kind, Take take) {
  [&]<size_t... kKinds>(std::index_sequence<kKinds...>) {
    static_cast<void>(((kind == kKinds && (take(body.emplace<kKinds>()), true)) || ...));
  }
  (std::make_index_sequence<kOpKinds>());
}

/// A field of a record: its number in .tblog, its key in .ops.jsonl, and when a line has that key.
struct RecordField {
  enum class InLine : uint8_t {
    kRequired,     // always; a line without it is an error
    kDefault,      // always; a line without it means the default
    kOptional,     // unless it is absent or has its default
    kHex,          // required, bytes as hex digits
    kOptionalHex,  // the same, unless it is empty
    kBufferOrAll,  // always, "all" if it is absent; a line without it means buffer 0
  };
  uint32_t number;
  const char* key;
  InLine in_line;

  bool is_optional() const {
    return in_line == InLine::kOptional || in_line == InLine::kOptionalHex;
  }
  bool is_hex() const { return in_line == InLine::kHex || in_line == InLine::kOptionalHex; }
  /// The part that the codec needs.
  constexpr operator uint32_t() const { return number; }
};

template <RecordField::InLine kInLine>
constexpr RecordField MakeField(uint32_t number, const char* key) {
  return {number, key, kInLine};
}
inline constexpr auto RequiredField = MakeField<RecordField::InLine::kRequired>;
inline constexpr auto DefaultField = MakeField<RecordField::InLine::kDefault>;
inline constexpr auto OptionalField = MakeField<RecordField::InLine::kOptional>;
inline constexpr auto HexField = MakeField<RecordField::InLine::kHex>;
inline constexpr auto OptionalHexField = MakeField<RecordField::InLine::kOptionalHex>;
inline constexpr auto BufferOrAllField = MakeField<RecordField::InLine::kBufferOrAll>;

void Fields(auto& field, Like<LogHeader> auto& m) {
  field(DefaultField(1, "format_version"), m.format_version);
  field(DefaultField(2, "tool"), m.tool);
  field(DefaultField(3, "uuid"), m.uuid);
  field(DefaultField(4, "part"), m.part);
  field(DefaultField(5, "source"), m.source);
  field(OptionalField(6, "host"), m.host);
  field(OptionalField(7, "clock"), m.clock);
  field(OptionalField(8, "description"), m.description);
  field(OptionalField(9, "first_part"), m.first_part);
  field(OptionalField(10, "repeated_records"), m.repeated_records);
  field(OptionalField(11, "without_payload"), m.without_payload);
}

void Fields(auto& field, Like<SessionStarted, SessionEnded> auto& m) {
  field(RequiredField(1, "session"), m.session);
  if constexpr (requires { m.name; }) field(OptionalField(2, "name"), m.name);
}

void Fields(auto& field, Like<TraceConfigRecord> auto& m) {
  field(HexField(1, "config"), m.config);
  field(OptionalField(2, "session"), m.session);
}

void Fields(auto& field, Like<BufferSetUp> auto& m) {
  field(RequiredField(1, "id"), m.id);
  field(OptionalField(2, "index"), m.index);
  field(RequiredField(3, "size"), m.size);
  field(RequiredField(4, "policy"), m.policy);
  field(OptionalField(5, "engine"), m.engine);
  field(OptionalField(6, "session"), m.session);
}

void Fields(auto& field, Like<BufferFreed> auto& m) { field(RequiredField(1, "id"), m.id); }

void Fields(auto& field, Like<ClockSnapshotRecord> auto& m) {
  field(HexField(1, "snapshot"), m.snapshot);
}

void Fields(auto& field, Like<ProducerConnected> auto& m) {
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
  field(OptionalField(11, "machine"), m.machine);
  field(OptionalField(12, "smb_size_hint"), m.smb_size_hint);
  field(OptionalField(13, "page_size_hint"), m.page_size_hint);
}

void Fields(auto& field, Like<SharedMemorySetUp> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "size"), m.size);
  field(RequiredField(3, "page_size"), m.page_size);
  field(OptionalField(4, "direct_patching"), m.direct_patching);
}

void Fields(auto& field, Like<DataSourceRegistered> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "name"), m.name);
  field(DefaultField(3, "no_flush"), m.no_flush);
  field(OptionalField(4, "will_notify_on_start"), m.will_notify_on_start);
  field(OptionalField(5, "will_notify_on_stop"), m.will_notify_on_stop);
  field(OptionalField(6, "handles_state_clear"), m.handles_state_clear);
  field(OptionalHexField(7, "protovm_program"), m.protovm_program);
}

void Fields(auto& field, Like<DataSourceSetUp> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "instance"), m.instance);
  field(RequiredField(3, "name"), m.name);
  field(RequiredField(4, "buffer"), m.target_buffer);
  field(OptionalField(5, "session"), m.session);
  field(OptionalHexField(6, "config"), m.config);
}

void Fields(auto& field, Like<DataSourceStarted, DataSourceStopped, DataSourceNotified> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "instance"), m.instance);
  if constexpr (requires { m.stopped; }) field(DefaultField(3, "stopped"), m.stopped);
}

void Fields(auto& field, Like<StateClearRequested> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(OptionalField(2, "instances"), m.instances);
}

void Fields(auto& field,
            Like<ProducerDisconnected, DataSourceUnregistered, TriggerActivated> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  if constexpr (requires { m.name; }) field(RequiredField(2, "name"), m.name);
}

void Fields(auto& field, Like<WriterRegistered, WriterUnregistered> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "writer"), m.writer);
  if constexpr (requires { m.buffer; }) field(RequiredField(3, "buffer"), m.buffer);
}

/// The sender of a commit.
void SenderFields(auto& field, Like<Commit> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(OptionalField(2, "uid"), m.uid);
  field(OptionalField(3, "pid"), m.pid);
}

/// The place of a commit among the parts of its request, but whether it is the last one: .tblog has
/// whether more parts follow.
void PartFields(auto& field, Like<Commit> auto& m) {
  field(DefaultField(5, "number"), m.number);
  field(DefaultField(6, "part"), m.part);
}

void Fields(auto& field, Like<FlushRequested> auto& m) {
  field(RequiredField(1, "flush"), m.flush);
  field(OptionalField(2, "producer"), m.producer);
  field(OptionalField(3, "instances"), m.instances);
  field(OptionalField(4, "flags"), m.flags);
}

void Fields(auto& field, Like<FlushAcknowledged> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "flush"), m.flush);
}

void Fields(auto& field, Like<FlushTimedOut> auto& m) { field(RequiredField(1, "flush"), m.flush); }

void Fields(auto& field, Like<ReadPass> auto& m) {
  field(BufferOrAllField(1, "buffer"), m.buffer);
  field(OptionalField(2, "max_packets"), m.max_packets);
  field(OptionalField(3, "max_bytes"), m.max_bytes);
  field(OptionalField(4, "reason"), m.reason);
  field(OptionalField(5, "session"), m.session);
  field(OptionalField(6, "file_bytes"), m.file_bytes);
  field(OptionalField(7, "own_bytes"), m.own_bytes);
}

void Fields(auto& field, Like<CloneRead, ProtoVmStates> auto& m) {
  field(DefaultField(1, "buffer"), m.buffer);
}

void Fields(auto& field, Like<RecorderGap> auto& m) {
  field(RequiredField(1, "reason"), m.reason);
  field(OptionalField(2, "producer"), m.producer);
  field(OptionalField(3, "records"), m.records);
  field(OptionalField(4, "bytes"), m.bytes);
  field(OptionalField(5, "from_ns"), m.from_ns);
  field(OptionalField(6, "to_ns"), m.to_ns);
  field(OptionalField(7, "writer"), m.writer);
  field(OptionalField(8, "loss_bits"), m.loss_bits);
}

void Fields(auto& field, Like<Note> auto& m) { field(RequiredField(1, "text"), m.text); }

void Fields(auto& field, Like<SessionChanged> auto& m) {
  field(OptionalField(1, "session"), m.session);
  field(RequiredField(2, "change"), m.change);
  field(OptionalField(3, "detail"), m.detail);
}

void Fields(auto& field, Like<CloneRequested> auto& m) {
  field(RequiredField(1, "clone"), m.clone);
  field(OptionalField(2, "session"), m.session);
  field(OptionalHexField(3, "request"), m.request);
}

void Fields(auto& field, Like<BufferCloned> auto& m) {
  field(RequiredField(1, "clone"), m.clone);
  field(RequiredField(2, "buffer"), m.buffer);
  field(DefaultField(3, "transfer"), m.transfer);
}

void Fields(auto& field, Like<BufferCleared> auto& m) {
  field(RequiredField(1, "buffer"), m.buffer);
}

void Fields(auto& field, Like<CloneEnded> auto& m) {
  field(RequiredField(1, "clone"), m.clone);
  field(DefaultField(2, "success"), m.success);
  field(OptionalField(3, "error"), m.error);
  field(OptionalField(4, "into_file"), m.into_file);
  field(OptionalField(5, "session"), m.session);
}

void Fields(auto& field, Like<RecordingVerdict> auto& m) {
  field(RequiredField(1, "reason"), m.reason);
  field(DefaultField(2, "times"), m.times);
  field(OptionalField(3, "session"), m.session);
  field(OptionalField(4, "detail"), m.detail);
}

void Fields(auto& field, Like<RecordingEnded> auto& m) {
  field(RequiredField(1, "ending"), m.ending);
  field(DefaultField(2, "sessions"), m.sessions);
  field(DefaultField(3, "producers"), m.producers);
  field(DefaultField(4, "gaps"), m.gaps);
  field(OptionalField(5, "verdicts"), m.verdicts);
}

void Fields(auto& field, Like<Inexact> auto& m) {
  field(RequiredField(1, "reason"), m.reason);
  field(OptionalField(2, "session"), m.session);
  field(OptionalField(3, "producer"), m.producer);
  field(OptionalField(4, "detail"), m.detail);
  field(OptionalField(5, "held_ns"), m.held_ns);
}

void Fields(auto& field, Like<ServiceChanged> auto& m) {
  field(DefaultField(1, "running"), m.running);
}

void Fields(auto& field, Like<ClonePass> auto& m) {
  field(RequiredField(1, "clone"), m.clone);
  field(RequiredField(2, "max_bytes"), m.max_bytes);
}

void Fields(auto& field, Like<ProtoVmSetUp> auto& m) {
  field(DefaultField(1, "buffer"), m.buffer);
  field(RequiredField(2, "producer"), m.producer);
  field(RequiredField(3, "data_source"), m.data_source);
  field(HexField(4, "program"), m.program);
  field(RequiredField(5, "memory_limit_kb"), m.memory_limit_kb);
  field(OptionalHexField(6, "state"), m.state);
}

void Fields(auto& field, Like<SharedMemoryLook> auto& m) {
  field(RequiredField(1, "producer"), m.producer);
  field(RequiredField(2, "number"), m.number);
  field(OptionalField(3, "whole"), m.whole);
  field(OptionalField(4, "same_until_ns"), m.same_until_ns);
  field(OptionalHexField(5, "pages"), m.pages);
}

void Fields(auto& field, Like<SequenceSummary> auto& m) {
  NumberFields(field, m.sequence.producer, m.sequence.writer, m.buffer, m.commits, m.chunks,
               m.packets, m.bytes, m.patches, m.first_time_ns, m.last_time_ns, m.set_up);
}

void Fields(auto& field, Like<LifeEvent> auto& m) {
  NumberFields(field, m.time_ns, m.record, m.kind, m.change, m.session, m.producer, m.instance,
               m.instances, m.buffer, m.flush, m.flags, m.clone, m.flag, m.size, m.name, m.detail);
}

void Fields(auto& field, Like<SessionSummary> auto& m) {
  NumberFields(field, m.header, m.first_record, m.records, m.first_time_ns, m.last_time_ns,
               m.counts, m.buffers, m.producers, m.sequences, m.chunks, m.chunk_bytes, m.patches,
               m.recorder_gaps, m.truncated, m.life, m.has_life, m.end, m.verdicts, m.start_ns);
}

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_RECORD_FIELDS_H_
