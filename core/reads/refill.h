#ifndef RINGSCOPE_CORE_READS_REFILL_H_
#define RINGSCOPE_CORE_READS_REFILL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/log/op.h"
#include "core/log/service_access.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// From when on a buffer that was there before a log's first record holds, in a replay that begins
/// with it empty, what the service's buffer held.
struct Refill {
  BufferSetUp buffer;
  uint64_t bytes = 0;        // of chunks committed into it since, headers and alignment included
  bool was_emptied = false;  // a clone took the buffer: from `record` on it is exact
  std::optional<uint64_t> record;   // as Add numbers them; absent: never, as far as is known
  std::optional<uint64_t> time_ns;  // of that record

  /// Whether what was in it before is known to be gone.
  bool known() const { return record.has_value(); }
};

/// Watches the buffers of a log that begins in the middle of a recording: a ring buffer has nothing
/// left of what it held before once chunks of its size have been committed into it. Of a buffer
/// that discards, only emptying shows what it held. Counts too little rather than too much: no
/// chunk twice, none that the service refuses, and not the first of a sequence, which may have been
/// committed before.
class RefillWatch {
 public:
  /// All records of the session in their order, with its header first.
  /// @param number of the record, as it is to be named
  void Add(const Op& op, uint64_t number);

  /// Whether the records of the session's start are missing.
  bool start_is_missing() const { return start_is_missing_; }
  /// In order of set-up. Those that are set up later are not among them.
  const std::vector<Refill>& buffers() const { return buffers_; }

 private:
  Refill* Find(BufferId id);
  void SetUp(const BufferSetUp& buffer);
  void AddCommit(const Op& op, const Commit& commit, uint64_t number);
  void OnEmptied(BufferId id, const Op& op, uint64_t number);

  bool begun_ = false;
  bool start_is_missing_ = false;
  uint64_t repeated_ = 0;  // records that still repeat the state
  std::vector<Refill> buffers_;
  std::map<BufferId, size_t> live_;  // those of buffers_ that are not freed
  size_t waiting_ = 0;               // of these, whose refill is not known
  ServiceAccess access_;
  std::map<SequenceKey, ChunkId> newest_;  // chunk of each sequence
  CommitRequestParser parser_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_REFILL_H_
