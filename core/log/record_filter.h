#ifndef RINGSCOPE_CORE_LOG_RECORD_FILTER_H_
#define RINGSCOPE_CORE_LOG_RECORD_FILTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/log/log_range.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// The records to keep. Within a list any entry matches; all lists that are not empty must agree.
struct RecordCriteria : LogSelection {
  std::vector<std::string> kinds;  // names of record kinds, and kPatchKind
  std::vector<ProducerId> producers;
  std::optional<RecordRange> records;
};

/// A commit that carries patches counts as a record of this kind too.
inline constexpr const char* kPatchKind = "patch";

/// All names that a filter by kind takes.
std::vector<std::string> FilterKinds();

/// Applies a filter to the records of one session after the other.
class RecordFilter {
 public:
  explicit RecordFilter(RecordCriteria filter) : filter_(std::move(filter)) {}

  void StartSession();
  /// @param number of the record in its file
  bool Keeps(const Op& op, uint64_t number);
  /// Returns true if a chunk, or its patches, of a commit that is kept should be shown.
  bool KeepsChunk(ProducerId producer, const ChunkToMove& chunk) const;
  bool KeepsPatch(ProducerId producer, const ChunkToPatch& patch) const;
  /// Returns true if no record of this file after `number` can be kept.
  bool IsPast(uint64_t number) const { return filter_.records && number >= filter_.records->last; }
  /// Returns the time of the session's first record that has one.
  std::optional<uint64_t> start_ns() const { return start_ns_; }

 private:
  bool Matches(std::optional<ProducerId> producer, std::optional<WriterId> writer,
               std::optional<BufferId> buffer) const;
  bool KeepsTime() const;
  bool KeepsKind(const Op& op);
  bool KeepsSubject(const OpBody& body);
  bool KeepsCommit(const Commit& commit);

  const RecordCriteria filter_;
  CommitRequestParser parser_;
  std::optional<uint64_t> start_ns_;
  std::optional<uint64_t> now_ns_;  // of the record at hand, or the last one that had a time
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_RECORD_FILTER_H_
