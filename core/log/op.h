#ifndef RINGSCOPE_CORE_LOG_OP_H_
#define RINGSCOPE_CORE_LOG_OP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/base/result.h"
#include "core/log/records.h"

namespace ringscope {

// One record of a commit log: everything that reached the trace buffers, in order, and what a
// replay must know of the session around it. `.tblog` and `.ops.jsonl` are two notations for these.

/// In the order of the record kinds' names in the formats; see OpKindName.
using AnyRecord =
    std::variant<LogHeader, SessionStarted, SessionEnded, TraceConfigRecord, BufferSetUp,
                 BufferFreed, ClockSnapshotRecord, ProducerConnected, SharedMemorySetUp,
                 ProducerDisconnected, DataSourceRegistered, DataSourceSetUp, DataSourceStopped,
                 WriterRegistered, WriterUnregistered, Commit, FlushRequested, FlushAcknowledged,
                 FlushTimedOut, ReadPass, CloneRead, RecorderGap, Note, SessionChanged,
                 DataSourceUnregistered, DataSourceStarted, DataSourceNotified, StateClearRequested,
                 TriggerActivated, CloneRequested, BufferCloned, BufferCleared, CloneEnded,
                 RecordingEnded, Inexact, ServiceChanged, ClonePass, ProtoVmSetUp, ProtoVmStates,
                 SharedMemoryLook>;

/// The content of one record. What copies, moves and destroys each kind is compiled once, in op.cc:
/// it takes seconds in each file that needs it.
class OpBody : public AnyRecord {
 public:
  using AnyRecord::AnyRecord;
  using AnyRecord::operator=;
  OpBody() = default;
  OpBody(const OpBody& other);
  OpBody(OpBody&& other) noexcept;
  OpBody& operator=(const OpBody& other);
  OpBody& operator=(OpBody&& other) noexcept;
  ~OpBody();
};

/// Whether it is no record of a log, but a place of its file that cannot be read.
inline bool IsDamage(const OpBody& body) {
  const auto* gap = std::get_if<RecorderGap>(&body);
  return gap != nullptr && gap->is_damage;
}

struct Op {
  std::optional<uint64_t> time_ns;  // CLOCK_BOOTTIME
  OpBody body;
};

inline constexpr size_t kOpKinds = std::variant_size_v<AnyRecord>;

/// Name of a record kind as formats and filters write it: "commit", "buffer", "read", ...
/// @param kind index of the alternative in OpBody
constexpr const char* OpKindName(size_t kind) {
  constexpr std::array<const char*, kOpKinds> kNames = {"header",
                                                        "session_start",
                                                        "session_end",
                                                        "config",
                                                        "buffer",
                                                        "buffer_freed",
                                                        "clock_snapshot",
                                                        "producer",
                                                        "smb",
                                                        "disconnect",
                                                        "data_source",
                                                        "data_source_setup",
                                                        "data_source_stop",
                                                        "writer",
                                                        "writer_gone",
                                                        "commit",
                                                        "flush",
                                                        "flush_done",
                                                        "flush_timeout",
                                                        "read",
                                                        "clone_read",
                                                        "recorder_gap",
                                                        "note",
                                                        "session",
                                                        "data_source_gone",
                                                        "data_source_start",
                                                        "data_source_notify",
                                                        "state_clear",
                                                        "trigger",
                                                        "clone",
                                                        "buffer_clone",
                                                        "buffer_clear",
                                                        "clone_done",
                                                        "recording_end",
                                                        "inexact",
                                                        "service",
                                                        "clone_pass",
                                                        "protovm",
                                                        "vm_states",
                                                        "smb_look"};
  return kNames.at(kind);
}

/// A pulled stream of records.
class OpSource {
 public:
  virtual ~OpSource() = default;
  /// The next record; nullopt: clean end. What it points to is valid until the next call.
  /// An error ends the stream.
  virtual Result<std::optional<Op>> Next() = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_OP_H_
