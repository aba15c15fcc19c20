#ifndef RINGSCOPE_CORE_LOG_OP_H_
#define RINGSCOPE_CORE_LOG_OP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

// The records of a commit log, kind by kind; see Op.

/// The way of a commit into the log.
enum class Origin : uint8_t {
  kImported,   // from a text or another tool: its way is not known
  kShm,        // committed over shared memory
  kInline,     // bytes carried in the request itself
  kScraped,    // copied by the recorder from shared memory that was not committed yet
  kSynthetic,  // made up, by a generator or in older versions from a trace
  kEstimated,  // as kScraped, but the service scraped by itself, at about this time
};

/// Why a read pass happened.
enum class ReadReason : uint8_t { kUnknown, kConsumer, kFile, kFinal };

/// Starts a session's log, or continues it (same uuid, next part).
struct LogHeader {
  uint32_t format_version = 1;
  std::string tool;   // name and version of the writing tool
  std::string uuid;   // 32 hex digits; without one the writer derives it from records
  uint32_t part = 0;  // 0 starts a session
  Origin source = Origin::kImported;  // how the log as a whole was made
  std::string host;                   // operating system, release, machine; empty if not known
  std::string clock;                  // clock of the records' times: "boottime"; empty if not known
  std::string description;            // what was recorded and how, in words
  /// The oldest part that a recording with a total limit had kept when this one began.
  uint32_t first_part = 0;
  /// Records after this one that repeat state of the parts before.
  uint64_t repeated_records = 0;
  /// Payloads are masked, see payload_mask.h. Such a log has kVersionWithoutPayload.
  bool without_payload = false;

  friend bool operator==(const LogHeader&, const LogHeader&) = default;

  /// Readers that do not know it refuse such a log, rather than take zeros for packets.
  static constexpr uint32_t kVersionWithoutPayload = 2;
};

// `session` is a number that the recorder gives to a tracing session, if the log has several.

/// The service has accepted EnableTracing.
struct SessionStarted {
  uint64_t session = 0;
  std::string name = {};  // unique_session_name
  friend bool operator==(const SessionStarted&, const SessionStarted&) = default;
};
/// The service ended a session and freed its buffers.
struct SessionEnded {
  uint64_t session = 0;
  friend bool operator==(const SessionEnded&, const SessionEnded&) = default;
};
/// Other changes of a tracing session as a whole.
enum class SessionChange : uint8_t {
  kRefused,             // EnableTracing failed; the detail has the reason
  kStarted,             // its data sources are asked to start
  kDataSourcesStarted,  // all of them have
  kStopRequested,       // DisableTracing; the detail names who or what asked
  kStopped,             // the reply to EnableTracing: tracing is disabled; the detail is its error
  kDetached,            // the consumer left it under the key in the detail
  kAttached,            // a consumer took it over under this key
  kConsumerGone,        // the consumer's connection ended
  kFlushCalled,         // the consumer asked for a flush
  kFlushSucceeded,      // what the service replied to that
  kFlushFailed,
  kFileNamed,  // the service writes the session into the file in the detail
};
/// In the words {which} is "the tracing session", and {more} the detail.
template <>
inline constexpr auto kEnumRows<SessionChange> = EnumTable<EnumRow<SessionChange>>({
    {SessionChange::kRefused, "refused", "the service refuses {which}{more}"},
    {SessionChange::kStarted, "started", "{which} starts"},
    {SessionChange::kDataSourcesStarted, "data_sources_started",
     "the service reports that all data sources of {which} have started"},
    {SessionChange::kStopRequested, "stop_requested", "the consumer asks to stop {which}{more}"},
    {SessionChange::kStopped, "stopped", "the service reports that {which} has stopped{more}"},
    {SessionChange::kDetached, "detached", "the consumer detaches from {which}{more}"},
    {SessionChange::kAttached, "attached", "a consumer attaches to {which}{more}"},
    {SessionChange::kConsumerGone, "consumer_gone", "the consumer of {which} disconnects"},
    {SessionChange::kFlushCalled, "flush_called", "the consumer asks for a flush{more}"},
    {SessionChange::kFlushSucceeded, "flush_succeeded",
     "the service reports to the consumer that the flush succeeded"},
    {SessionChange::kFlushFailed, "flush_failed",
     "the service reports to the consumer that the flush failed"},
    {SessionChange::kFileNamed, "file_named", "the service writes {which} into a file{more}"},
});
struct SessionChanged {
  std::optional<uint64_t> session = {};
  SessionChange change{};
  std::string detail;
  friend bool operator==(const SessionChanged&, const SessionChanged&) = default;
};
/// The session's TraceConfig message, raw.
struct TraceConfigRecord {
  std::string config;
  std::optional<uint64_t> session = {};
  friend bool operator==(const TraceConfigRecord&, const TraceConfigRecord&) = default;
};
struct BufferSetUp {
  BufferId id{};
  std::optional<uint32_t> index;  // in the trace config; without it the order of set-up counts
  uint64_t size = 0;              // bytes, as asked for
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::string engine;  // buffer version that the session really used, if it is known
  std::optional<uint64_t> session = {};
  bool left_out = false;  // of another session than the one that is read: not in the formats
  friend bool operator==(const BufferSetUp&, const BufferSetUp&) = default;
};
struct BufferFreed {
  BufferId id{};
  friend bool operator==(const BufferFreed&, const BufferFreed&) = default;
};
/// A ClockSnapshot message, raw.
struct ClockSnapshotRecord {
  std::string snapshot;
  friend bool operator==(const ClockSnapshotRecord&, const ClockSnapshotRecord&) = default;
};
struct ProducerConnected {
  ProducerId producer{};
  uint32_t uid = 0;
  int32_t pid = 0;                   // -1: unknown
  std::optional<uint32_t> seen_uid;  // what the service saw, if a proxy was in between
  std::optional<int32_t> seen_pid;
  std::string name;
  std::optional<uint32_t> scraping;      // smb_scraping_mode as asked for: 1 enabled, 2 disabled
  std::string sdk;                       // sdk_version
  std::optional<uint64_t> smb_size;      // bytes
  std::optional<uint64_t> page_size;     // bytes
  std::optional<uint32_t> machine = {};  // machine_id, of a producer on another machine
  // Sizes that it asked for: the service may decide otherwise, see SharedMemorySetUp.
  std::optional<uint64_t> smb_size_hint = {};   // bytes
  std::optional<uint64_t> page_size_hint = {};  // bytes
  friend bool operator==(const ProducerConnected&, const ProducerConnected&) = default;
};
/// The producer's shared memory exists from here on; before, the service ignores its requests.
struct SharedMemorySetUp {
  ProducerId producer{};
  uint64_t size = 0;       // bytes, or 0 if it is emulated and chunks travel inline
  uint64_t page_size = 0;  // bytes
  /// The service lets the producer patch chunks in place before it commits them.
  bool direct_patching = false;
  friend bool operator==(const SharedMemorySetUp&, const SharedMemorySetUp&) = default;
};
struct ProducerDisconnected {
  ProducerId producer{};
  friend bool operator==(const ProducerDisconnected&, const ProducerDisconnected&) = default;
};
struct DataSourceRegistered {
  ProducerId producer{};
  std::string name;
  bool no_flush = false;
  bool will_notify_on_start = false;
  bool will_notify_on_stop = false;
  bool handles_state_clear = false;  // handles_incremental_state_clear
  std::string protovm_program = {};  // a VmProgram message, raw, if it has one
  friend bool operator==(const DataSourceRegistered&, const DataSourceRegistered&) = default;
};
struct DataSourceUnregistered {
  ProducerId producer{};
  std::string name;
  friend bool operator==(const DataSourceUnregistered&, const DataSourceUnregistered&) = default;
};
/// A data source instance was set up for a session: its producer may write to the target buffer.
struct DataSourceSetUp {
  ProducerId producer{};
  uint64_t instance = 0;
  std::string name;
  BufferId target_buffer{};
  std::optional<uint64_t> session = {};
  std::string config = {};  // its DataSourceConfig message, raw, if it is known
  friend bool operator==(const DataSourceSetUp&, const DataSourceSetUp&) = default;
};
/// The service asked the instance to start.
struct DataSourceStarted {
  ProducerId producer{};
  uint64_t instance = 0;
  friend bool operator==(const DataSourceStarted&, const DataSourceStarted&) = default;
};
/// The service asked the instance to stop.
struct DataSourceStopped {
  ProducerId producer{};
  uint64_t instance = 0;
  friend bool operator==(const DataSourceStopped&, const DataSourceStopped&) = default;
};
/// The producer reports that the instance has started, or stopped.
struct DataSourceNotified {
  ProducerId producer{};
  uint64_t instance = 0;
  bool stopped = false;
  friend bool operator==(const DataSourceNotified&, const DataSourceNotified&) = default;
};
/// The service asked these instances to clear their incremental state.
struct StateClearRequested {
  ProducerId producer{};
  std::vector<uint64_t> instances = {};
  friend bool operator==(const StateClearRequested&, const StateClearRequested&) = default;
};
/// A producer activated a trigger.
struct TriggerActivated {
  ProducerId producer{};
  std::string name;
  friend bool operator==(const TriggerActivated&, const TriggerActivated&) = default;
};
struct WriterRegistered {
  ProducerId producer{};
  WriterId writer{};
  BufferId buffer{};
  friend bool operator==(const WriterRegistered&, const WriterRegistered&) = default;
};
struct WriterUnregistered {
  ProducerId producer{};
  WriterId writer{};
  friend bool operator==(const WriterUnregistered&, const WriterUnregistered&) = default;
};
/// A CommitDataRequest, or a part of its bytes if it is too large for one record.
struct Commit {
  ProducerId producer{};
  std::optional<uint32_t> uid;  // and pid, if they are not the producer's
  std::optional<int32_t> pid;
  Origin origin = Origin::kImported;
  Bytes request;        // encoded CommitDataRequest; valid until the source's next Next()
  uint64_t number = 0;  // of the request, where it has parts
  uint32_t part = 0;
  bool last = true;
};
struct FlushRequested {
  uint64_t flush = 0;
  std::optional<ProducerId> producer;    // if not all are asked
  std::vector<uint64_t> instances = {};  // data sources that are to flush, if they are known
  uint64_t flags = 0;                    // why, and who asked; see wire flags
  friend bool operator==(const FlushRequested&, const FlushRequested&) = default;
};
struct FlushAcknowledged {
  ProducerId producer{};
  uint64_t flush = 0;
  friend bool operator==(const FlushAcknowledged&, const FlushAcknowledged&) = default;
};
struct FlushTimedOut {
  uint64_t flush = 0;
  friend bool operator==(const FlushTimedOut&, const FlushTimedOut&) = default;
};
/// A read of one buffer until a limit or no packet, or a pass of the service over all buffers.
struct ReadPass {
  std::optional<BufferId> buffer;
  std::optional<uint64_t> max_packets;
  std::optional<uint64_t> max_bytes;  // the packet that reaches it is included
  ReadReason reason = ReadReason::kUnknown;
  std::optional<uint64_t> session = {};  // only without a buffer
  /// Size of the service's file whose growth showed the read. Requests around it may be on either
  /// side.
  std::optional<uint64_t> file_bytes = {};
  /// Bytes of the service's own packets at the beginning of a read for a file: they count towards
  /// the first of its passes.
  std::optional<uint64_t> own_bytes = {};
  /// The recorded pass ended before its limit, see RecordedReads: not in the formats.
  std::optional<bool> left_nothing = {};
  friend bool operator==(const ReadPass&, const ReadPass&) = default;
};
/// Clone the buffer, read the clone to its end, drop it.
struct CloneRead {
  BufferId buffer{};
  friend bool operator==(const CloneRead&, const CloneRead&) = default;
};
/// A consumer asked for a clone of a session. BufferCloned and CloneEnded follow.
struct CloneRequested {
  uint64_t clone = 0;                    // numbered from 1, over the whole log
  std::optional<uint64_t> session = {};  // that is cloned
  std::string request;                   // the CloneSession request, raw
  friend bool operator==(const CloneRequested&, const CloneRequested&) = default;
};
/// This is the instant that the clone has of this buffer: all that it holds and has not been read.
struct BufferCloned {
  uint64_t clone = 0;
  BufferId buffer{};
  bool transfer = false;  // the clone takes the buffer itself; an empty one replaces it
  friend bool operator==(const BufferCloned&, const BufferCloned&) = default;
};
/// The buffer was replaced by an empty one before a clone; what it held is gone.
struct BufferCleared {
  BufferId buffer{};
  friend bool operator==(const BufferCleared&, const BufferCleared&) = default;
};
/// The service's reply to CloneSession.
struct CloneEnded {
  uint64_t clone = 0;
  bool success = false;
  std::string error;
  bool into_file = false;                // was_write_into_file
  std::optional<uint64_t> session = {};  // of the clone, as the service numbers it
  friend bool operator==(const CloneEnded&, const CloneEnded&) = default;
};
/// The recorder itself missed something: the log is not complete here.
struct RecorderGap {
  std::string reason;
  std::optional<ProducerId> producer;
  std::optional<uint64_t> records;  // missed, if known
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> from_ns;
  std::optional<uint64_t> to_ns;
  std::optional<WriterId> writer = {};     // of the producer: all that is missing is its
  std::optional<uint32_t> loss_bits = {};  // previous_packet_dropped of the packet after it
  bool is_damage = false;                  // no record: what was there in the file cannot be read
  friend bool operator==(const RecorderGap&, const RecorderGap&) = default;
};
/// Why a recording may differ from what the service did.
enum class InexactReason : uint8_t {
  kOrder,        // requests of several clients are in the order of forwarding
  kUnconfirmed,  // in older logs: the service could not be asked what it had handled
  kClone,        // the instant of a clone is an estimate
  kSession,      // it is assumed whose session, or which of its buffers, a data source writes to
  kUnhandled,    // the service ended a connection whose last requests it may not have handled
  kScrapes,      // what the service scraped, and when, is an estimate
  kSetUp,        // size and policy of a buffer are not known
  kReads,        // when the buffers were read is not known, or not exactly
  kProducers,    // producers take part that are not connected through the recorder
  kStart,        // what happened before the recording is missing
  kRecords,      // the recorder missed something: see RecorderGap
  kEnd,          // what happened after the recording is missing
  kLosses,       // in older logs: made of a trace, which lacks what its buffers lost
  kTimes,        // in older logs: made of a trace, in which packets have no timestamp
  kHeld,         // the recorder held a producer's requests back while its shared memory was full
};
/// Words of a reason why a recording is not exact.
struct InexactRow {
  InexactReason value;
  const char* name;
  const char* noun;
  const char* clause;        // {} is how often, counted in `counted`; {was} is "was" or "were"
  const char* counted = "";  // a noun; empty: it is not counted
};
template <>
inline constexpr auto kEnumRows<InexactReason> = EnumTable<InexactRow>({
    {InexactReason::kOrder, "order", "the order of requests",
     "requests of different clients are in the order in which they were forwarded, which may not "
     "be the service's"},
    {InexactReason::kUnconfirmed, "unconfirmed", "requests that cannot be confirmed",
     "the service offers no way to confirm the order of requests ({})", "client"},
    {InexactReason::kClone, "clone", "the instants of clones", "the instant of {} is an estimate",
     "clone"},
    {InexactReason::kSession, "session", "which session some buffers belong to",
     "the session or buffer of {} is assumed", "data source"},
    {InexactReason::kUnhandled, "unhandled", "requests at the end of connections",
     "the service ended {}, perhaps before it had handled the last requests", "connection"},
    {InexactReason::kScrapes, "scrapes", "what was scraped",
     "what the service scraped is an estimate ({})", "producer"},
    {InexactReason::kSetUp, "set_up", "buffers that are not known",
     "size and policy of {} are not known", "buffer"},
    {InexactReason::kReads, "reads", "the reads",
     "when the buffers were read is not known exactly (a replay with --reads like=TRACE finds it)"},
    {InexactReason::kProducers, "producers", "producers that it has not seen",
     "{} {was} not connected through the recorder", "producer"},
    {InexactReason::kStart, "start", "what happened before it",
     "what happened before it is missing"},
    {InexactReason::kRecords, "records", "its gaps", "the recording has {}", "gap"},
    {InexactReason::kEnd, "end", "what happened after it",
     "what happened after it is missing: {} had not ended", "session"},
    {InexactReason::kLosses, "losses", "what the buffers lost",
     "the log was made from a trace, which lacks what the buffers lost, so a replay cannot show "
     "what other sizes or reads would have kept"},
    {InexactReason::kTimes, "times", "the times of packets without a timestamp",
     "packets of the trace that have no timestamp are placed after the packet before them in their "
     "sequence, so when they were written is not known"},
    {InexactReason::kHeld, "held", "losses that the recorder may have caused",
     "requests of a producer were held back by the recorder, {}, while its shared memory was full",
     "time"},
});
/// From here on the log may differ from what the service did.
struct Inexact {
  InexactReason reason{};
  std::optional<uint64_t> session = {};
  std::optional<ProducerId> producer = {};
  std::string detail;                    // what it is about, in words
  std::optional<uint64_t> held_ns = {};  // how long requests were held back
  friend bool operator==(const Inexact&, const Inexact&) = default;
};
/// The tracing service ended, with all its sessions and buffers, or accepts clients again.
struct ServiceChanged {
  bool running = false;
  friend bool operator==(const ServiceChanged&, const ServiceChanged&) = default;
};
/// The holder of a clone read one pass of it. Where a pass ends has an effect on the loss bits.
struct ClonePass {
  uint64_t clone = 0;
  uint64_t max_bytes = 0;  // the packet that reaches it is included
  friend bool operator==(const ClonePass&, const ClonePass&) = default;
};
/// A program (ProtoVM) folds what the buffer overwrites of this producer into a state. For plain
/// operations: a session has it in DataSourceRegistered, the limit in the config of
/// DataSourceSetUp.
struct ProtoVmSetUp {
  BufferId buffer{};
  ProducerId producer{};
  std::string data_source;
  std::string program;  // a VmProgram message, raw
  uint32_t memory_limit_kb = 0;
  std::string state = {};  // that it begins with: a message, raw
  friend bool operator==(const ProtoVmSetUp&, const ProtoVmSetUp&) = default;
};
/// The states of the buffer's programs are looked at.
struct ProtoVmStates {
  BufferId buffer{};
  friend bool operator==(const ProtoVmStates&, const ProtoVmStates&) = default;
};
/// A look into a producer's shared memory: the states of its chunks. Changes between two looks are
/// not seen. A look that sees nothing new is not logged.
struct SharedMemoryLook {
  ProducerId producer{};
  uint64_t number = 0;  // of the logged looks at this memory, from 0
  bool whole = false;   // it is complete by itself; else it is what changed since the look before
  /// The last time that the memory looked as in the look before.
  std::optional<uint64_t> same_until_ns = {};
  std::string pages = {};  // the changes; see picture_codec.h
  friend bool operator==(const SharedMemoryLook&, const SharedMemoryLook&) = default;
};
/// Free text, for people.
struct Note {
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

/// Why a recording, or one of its parts, ended.
enum class RecordingEnding : uint8_t {
  kUnknown,
  kSignal,    // the user stopped it
  kDuration,  // the time that was asked for was over
  kProgram,   // the program that was recorded ended
  kFailure,   // it could not be continued
  kNextPart,  // it continues in the next part
  kCutOff,    // the log was not closed: this is a copy of what it had
};
/// The words follow "ended".
template <>
inline constexpr auto kEnumRows<RecordingEnding> = EnumTable<EnumRow<RecordingEnding>>({
    {RecordingEnding::kUnknown, "unknown", "for an unknown reason"},
    {RecordingEnding::kSignal, "signal", "when it was asked to (a signal)"},
    {RecordingEnding::kDuration, "duration", "after the time that was asked for"},
    {RecordingEnding::kProgram, "program", "when the recorded program ended"},
    {RecordingEnding::kFailure, "failure", "because it could not be continued"},
    {RecordingEnding::kNextPart, "next_part", "here, and continues in the next part"},
    {RecordingEnding::kCutOff, "cut_off",
     "unknown: the log was not closed, and this is a copy of it"},
});
/// A way in which a recording is not exact, by what the recorder knows at its end.
struct RecordingVerdict {
  InexactReason reason{};
  uint64_t times = 0;               // how often: marks, gaps, sessions
  std::optional<uint64_t> session;  // that alone it is about
  std::string detail;               // of the first time, in words
  friend bool operator==(const RecordingVerdict&, const RecordingVerdict&) = default;
};
/// The recorder's last record in a file. Without verdicts the recording is exact.
struct RecordingEnded {
  RecordingEnding ending{};
  uint64_t sessions = 0;   // seen
  uint64_t producers = 0;  // seen
  uint64_t gaps = 0;       // recorder gaps, those of the parts before included
  std::vector<RecordingVerdict> verdicts = {};
  friend bool operator==(const RecordingEnded&, const RecordingEnded&) = default;
};

template <>
inline constexpr std::array kEnumNames<Origin> = {"imported", "shm",       "inline",
                                                  "scraped",  "synthetic", "estimated"};
template <>
inline constexpr std::array kEnumNames<ReadReason> = {"unknown", "consumer", "file", "final"};

// Records: `.tblog` and `.ops.jsonl` are two notations for these.

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

/// The content of one record. Its copies and moves are compiled once, in op.cc: they take seconds.
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

  /// Returns true if the record is of one of these kinds.
  template <typename... Kinds>
  bool Is() const {
    return (std::holds_alternative<Kinds>(*this) || ...);
  }
};

/// Calls the function for the kind of the record, if there is one.
template <typename Body, typename... Functions>
void VisitRecord(Body& body, Functions... functions) {
  std::visit(Overloaded{functions..., [](const auto&) {}}, body);
}

/// Returns true for a place of a log's file that cannot be read, which is no record.
inline bool IsDamage(const OpBody& body) {
  const auto* gap = std::get_if<RecorderGap>(&body);
  return gap != nullptr && gap->is_damage;
}

struct Op {
  std::optional<uint64_t> time_ns;  // CLOCK_BOOTTIME
  OpBody body;
};

/// From when people count a session's times: its start, as in the Perfetto UI; where the log does
/// not show that, when its consumer began it; else its first record that is not only about a
/// producer, which connects to the service whatever session there is.
class SessionStart {
 public:
  /// The session's next record.
  void Add(const Op& op) {
    if (is_started_ || !op.time_ns) return;
    const auto* const changed = std::get_if<SessionChanged>(&op.body);
    is_started_ = changed != nullptr && changed->change == SessionChange::kStarted;
    const bool begins = !is_begun_ && op.body.Is<SessionStarted>();
    const bool is_of_producer =
        op.body.Is<ProducerConnected, SharedMemorySetUp, DataSourceRegistered>();
    if (is_started_ || begins || (!ns_ && !is_of_producer)) ns_ = op.time_ns;
    is_begun_ |= begins;
  }
  std::optional<uint64_t> ns() const { return ns_; }

 private:
  std::optional<uint64_t> ns_;
  bool is_begun_ = false, is_started_ = false;
};

inline constexpr size_t kOpKinds = std::variant_size_v<AnyRecord>;

/// Names of the record kinds as formats write them, in OpBody's order.
// clang-format off
inline constexpr std::array kOpKindNames = {
    "header", "session_start", "session_end", "config", "buffer", "buffer_freed",
    "clock_snapshot", "producer", "smb", "disconnect", "data_source", "data_source_setup",
    "data_source_stop", "writer", "writer_gone", "commit", "flush", "flush_done", "flush_timeout",
    "read", "clone_read", "recorder_gap", "note", "session", "data_source_gone",
    "data_source_start", "data_source_notify", "state_clear", "trigger", "clone", "buffer_clone",
    "buffer_clear", "clone_done", "recording_end", "inexact", "service", "clone_pass", "protovm",
    "vm_states", "smb_look"};
// clang-format on
static_assert(kOpKindNames.size() == kOpKinds);

/// @param kind index of the alternative in OpBody
constexpr const char* OpKindName(size_t kind) { return kOpKindNames.at(kind); }

/// A pulled stream of records.
class OpSource {
 public:
  virtual ~OpSource() = default;
  /// Returns the next record, valid until the next call; nullopt at the end. An error ends the
  /// stream.
  virtual Result<std::optional<Op>> Next() = 0;
};

/// Takes records, in order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Copies what it keeps, and adds the time.
  virtual void Append(OpBody body) = 0;
  /// From here on the log may differ from what the service does.
  void MarkInexact(Inexact mark) { Append(std::move(mark)); }
};

/// A record that outlives its source. Copies share the bytes of a commit.
class StoredOp {
 public:
  /// @param request of a commit, in place of its own
  explicit StoredOp(const Op& op, std::optional<std::string> request = {});

  const Op& op() const { return op_; }

 private:
  std::shared_ptr<const std::string> request_;
  Op op_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_OP_H_
