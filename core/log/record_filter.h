#ifndef RINGSCOPE_CORE_LOG_RECORD_FILTER_H_
#define RINGSCOPE_CORE_LOG_RECORD_FILTER_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/lookup.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// A point of a session's time.
struct TimePoint {
  uint64_t ns = 0;
  bool relative = false;  // to the session's start

  /// Returns ns of the log's clock; UINT64_MAX where the sum is larger.
  constexpr uint64_t Absolute(uint64_t start_ns) const {
    if (!relative) return ns;
    return ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + ns;
  }
};

/// Record numbers, both ends included.
struct RecordRange {
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;
};

/// Sequences, buffers and times of a log; an empty list selects all.
struct LogSelection {
  std::vector<SequenceKey> sequences;
  std::vector<BufferKey> buffers;  // those of Resolve by their ids
  std::optional<TimePoint> from;
  std::optional<TimePoint> to;  // included

  /// Returns true if anything can be left out.
  bool selects() const { return !sequences.empty() || !buffers.empty() || selects_times(); }
  bool selects_times() const { return from || to; }
  /// A list that is not empty keeps nothing that is absent.
  bool Keeps(std::optional<BufferKey> buffer, std::optional<SequenceKey> sequence) const {
    return (buffers.empty() || (buffer && Contains(buffers, *buffer))) &&
           (sequences.empty() || (sequence && Contains(sequences, *sequence)));
  }
  /// Returns true if the span reaches into the time asked for. A span without times is not kept
  /// once a limit is set.
  /// @param start_ns of the session
  bool KeepsTime(std::optional<uint64_t> first_ns, std::optional<uint64_t> last_ns,
                 uint64_t start_ns) const {
    if (from && !(last_ns && *last_ns >= from->Absolute(start_ns))) return false;
    return !to || (first_ns && *first_ns <= to->Absolute(start_ns));
  }
  /// A buffer is set up: where it is named by its index it is selected by its id from here on.
  void Resolve(BufferId id, uint32_t index) {
    std::ranges::replace_if(
        buffers, [=](BufferKey key) { return key.Names(id, index); }, id);
  }
};

/// The records to keep. Within a list any entry matches; all lists that are not empty must agree.
struct RecordCriteria : LogSelection {
  RecordRange records;
};

/// Applies a filter to the records of one session after the other.
class RecordFilter {
 public:
  explicit RecordFilter(RecordCriteria filter) : filter_(std::move(filter)) {}

  /// @param start_ns of the session; nullopt: the time of its first record that has one
  void StartSession(std::optional<uint64_t> start_ns) {
    start_ns_ = start_ns;
    now_ns_.reset();
    buffers_set_up_ = 0;
  }
  /// @param number of the record in its file
  bool Keeps(const Op& op, uint64_t number);
  /// Returns true if a chunk, or its patches, of a commit that is kept should be shown.
  bool KeepsChunk(ProducerId producer, const ChunkToMove& chunk) const {
    std::optional<SequenceKey> sequence;
    if (const auto header = chunk.header()) sequence = SequenceKey{producer, header->writer};
    return filter_.Keeps(TargetBufferOf(chunk.target_buffer), sequence);
  }
  bool KeepsPatch(ProducerId producer, const ChunkToPatch& patch) const {
    return filter_.Keeps(TargetBufferOf(patch.target_buffer), patch.NameFor(producer).sequence);
  }
  /// Returns true if no record of this file after `number` can be kept.
  bool IsPast(uint64_t number) const { return number >= filter_.records.last; }
  /// Returns the time from which the session's times count.
  std::optional<uint64_t> start_ns() const { return start_ns_; }

 private:
  bool KeepsSubject(const OpBody& body);

  RecordCriteria filter_;
  uint32_t buffers_set_up_ = 0;
  CommitRequestParser parser_;
  std::optional<uint64_t> start_ns_;
  std::optional<uint64_t> now_ns_;  // of the record at hand, or the last one that had a time
};

/// Leaves one of several tracing sessions in the records of a recording. What is about the service,
/// its producers and their commits stays; buffers of the other sessions are left out.
class SessionFilter {
 public:
  /// @param session by the recorder's number
  explicit SessionFilter(uint64_t session) : session_(session) {}

  /// Feed it all records. @return false: the record is about other sessions only
  bool Keeps(Op& op);

 private:
  const uint64_t session_;
  // Ids of other sessions.
  std::set<uint64_t> clones_;
  std::set<uint64_t> flushes_;
  std::set<std::pair<ProducerId, uint64_t>> instances_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_RECORD_FILTER_H_
