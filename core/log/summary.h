#ifndef RINGSCOPE_CORE_LOG_SUMMARY_H_
#define RINGSCOPE_CORE_LOG_SUMMARY_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/log/op.h"
#include "core/log/verdict.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Index of a record kind in OpBody.
template <typename Kind, size_t kIndex = 0>
constexpr size_t OpKindOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<kIndex, AnyRecord>, Kind>)
    return kIndex;
  else
    return OpKindOf<Kind, kIndex + 1>();
}

/// An event of a session, its producers or data sources, its flushes and clones, or the recording;
/// not what reached the buffers.
struct LifeEvent {
  std::optional<uint64_t> time_ns;
  uint64_t record = 0;                  // number in the file
  uint64_t kind = 0;                    // of the record: index in OpBody, see OpKindName
  std::optional<SessionChange> change;  // of a `session` record
  std::optional<uint64_t> session;      // as the log numbers it
  std::optional<ProducerId> producer;
  std::optional<uint64_t> instance;  // of a data source
  std::vector<uint64_t> instances;   // that are to flush or to clear their state
  std::optional<BufferId> buffer;    // that a data source writes to, or that it is about
  std::optional<uint64_t> flush;
  uint64_t flags = 0;  // of the flush
  std::optional<uint64_t> clone;
  bool flag = false;   // stopped, no_flush, transfer, success, running: what the kind has of these
  uint64_t size = 0;   // bytes, of a buffer
  std::string name;    // of the session, producer, data source, trigger or reason; at most kMaxText
  std::string detail;  // text, at most kMaxText bytes; of a config, all its bytes

  static constexpr size_t kMaxText = 1024;

  /// Returns true if the record is of this kind.
  template <typename Kind>
  bool Is() const {
    return kind == OpKindOf<Kind>();
  }
  friend bool operator==(const LifeEvent&, const LifeEvent&) = default;
};

/// Returns the event that a record is, if it is one.
std::optional<LifeEvent> LifeEventOf(const Op& op, uint64_t record);

/// Follows the headers of logs that are read one after the other.
class SessionBounds {
 public:
  enum class Place : uint8_t {
    kStart,     // the first record of a session
    kWithin,    // a record of the session, or the header of its next part
    kRepeated,  // known from the parts before, which were read
  };
  /// @param number of the record in its file
  Place Add(const Op& op, uint64_t number) {
    const bool first = std::exchange(at_start_, false);
    const auto* header = std::get_if<LogHeader>(&op.body);
    if (header == nullptr) {
      if (first) uuid_.clear();
      return first ? Place::kStart : number < repeated_until_ ? Place::kRepeated : Place::kWithin;
    }
    const bool continues =
        !uuid_.empty() && header->uuid == uuid_ && uint64_t{part_} + 1 == header->part;
    uuid_ = header->uuid;
    part_ = header->part;
    repeated_until_ = continues ? number + 1 + header->repeated_records : 0;
    return continues ? Place::kWithin : Place::kStart;
  }
  /// Begins another file, whose numbers begin again.
  void StartFile() {
    at_start_ = true;
    repeated_until_ = 0;
  }
  bool at_start() const { return at_start_; }
  /// Names the session whose header had no uuid when it was added.
  void SetUuid(const std::string& uuid) { uuid_ = uuid; }

 private:
  bool at_start_ = true;         // of a file
  std::string uuid_;             // of the last header, if it has one
  uint32_t part_ = 0;            // of the last header
  uint64_t repeated_until_ = 0;  // record number
};

/// The content of a log for one sequence in one buffer.
struct SequenceSummary {
  SequenceKey sequence;
  BufferId buffer{};
  /// Place of the buffer in the session's list: an id can be set up again. Absent: it was not.
  std::optional<uint64_t> set_up = {};
  uint64_t commits = 0;  // chunks committed, re-commits included
  uint64_t chunks = 0;   // distinct chunk ids (a chunk sent again soon after counts once)
  uint64_t packets = 0;  // that begin in these chunks, by the headers' counts and flags
  uint64_t bytes = 0;    // of payload, re-commits included
  uint64_t patches = 0;  // four-byte patches sent
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;

  friend bool operator==(const SequenceSummary&, const SequenceSummary&) = default;
};

/// The content of a log for one session: from its index, or else by a scan.
struct SessionSummary {
  LogHeader header;
  uint64_t first_record = 0;  // number in the file
  uint64_t records = 0;
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;
  std::array<uint64_t, kOpKinds> counts{};   // records by kind, in OpBody's order
  std::vector<BufferSetUp> buffers;          // in order of set-up
  std::vector<ProducerConnected> producers;  // in order of connection
  std::vector<SequenceSummary> sequences;    // in order of first commit
  uint64_t chunks = 0;                       // committed, re-commits included
  uint64_t chunk_bytes = 0;                  // chunk headers and payloads
  uint64_t patches = 0;                      // four-byte patches sent
  uint64_t recorder_gaps = 0;
  std::optional<RecordingEnded> end;       // the recorder's last record; the last one of several
  std::vector<RecordingVerdict> verdicts;  // by the records and `end`
  std::vector<LifeEvent> life;             // in order; see has_life
  bool has_life = false;                   // of an older version: it has none, whatever the log has
  /// See SessionStart; absent: no record has a time, or an older version made the index.
  std::optional<uint64_t> start_ns;
  bool truncated = false;  // the lists met their limit: they are not complete, the totals are

  friend bool operator==(const SessionSummary&, const SessionSummary&) = default;
};

/// Builds the summaries of a log's sessions, record by record. A header starts a session, unless it
/// is the next part of the one before; records before any header make a session with a default
/// header. Memory: O(sequences), and never more than about kMaxListed bytes.
class LogSummaryBuilder {
 public:
  /// Limits the memory of the lists against logs that were made to exhaust their readers.
  static constexpr size_t kMaxListed = size_t{256} << 20;
  /// Sessions kept; those that follow are counted into the last one, which is then `truncated`.
  static constexpr size_t kMaxSessions = 65536;

  /// @param number of the record in the file
  void Add(const Op& op, uint64_t number);
  const std::vector<SessionSummary>& Sessions() const { return sessions_; }
  /// Names the session that is being built, whose header had no uuid when it was added.
  void SetUuid(const std::string& uuid) {
    sessions_.back().header.uuid = uuid;
    bounds_.SetUuid(uuid);
  }

 private:
  /// The last chunk ids of a sequence, so that a chunk sent again counts once.
  struct Recent {
    struct Chunk {
      std::optional<uint32_t> id;
      uint16_t packets = 0;  // counted so far
    };
    std::array<Chunk, 8> chunks{};
    size_t next = 0;
  };
  static constexpr size_t kUnlisted = SIZE_MAX;
  /// Lookups of the session that is being built, beside its summary.
  struct Lookup {
    std::map<BufferId, uint32_t> set_ups;                 // the last of each, in its buffers
    std::unordered_map<uint64_t, size_t> sequence_index;  // by SequenceKey and set-up, or BufferId
    std::vector<Recent> recent;                           // beside its sequences
    uint64_t last_key = UINT64_MAX;                       // commits come in runs of one sequence
    size_t last_index = kUnlisted;
    VerdictBuilder verdicts;
    SessionStart start;
  };

  /// Returns false, and notes it in the summary, if the lists may not grow by that much.
  bool TakeSpace(size_t bytes);
  /// Returns the sequence, which it adds at its first use, or kUnlisted without space.
  size_t SequenceOf(SequenceKey key, BufferId buffer);
  void AddChunk(ProducerId producer, const ChunkToMove& chunk, std::optional<uint64_t> time_ns);
  void AddPatch(ProducerId producer, const ChunkToPatch& patch, std::optional<uint64_t> time_ns);

  std::vector<SessionSummary> sessions_;  // the last one is being built
  Lookup lookup_;
  SessionBounds bounds_;
  size_t listed_bytes_ = 0;  // that the lists of all sessions take, roughly
  CommitRequestParser parser_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SUMMARY_H_
