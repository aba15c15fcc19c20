#ifndef RINGSCOPE_CORE_SWEEP_BATCH_BUILDER_H_
#define RINGSCOPE_CORE_SWEEP_BATCH_BUILDER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/written_commit.h"
#include "core/log/verdict.h"
#include "core/sweep/sweep_batch.h"
#include "core/sweep/written_tally.h"

namespace ringscope {

/// Makes batches of a session's records, as they pass the service's rules, and knows what all
/// configurations of a sweep have in common: what was written, and when.
class BatchBuilder {
 public:
  /// A record begins. What it sends to the buffers follows.
  void AddRecord(const Op& op);
  /// A chunk is sent to a buffer, perhaps in vain: what its packets need is read.
  void AddWritten(BufferId buffer, WrittenCommit& written);
  /// The same chunk goes into the buffer.
  void AddChunk(BufferId buffer, const ChunkCommit& commit);
  void AddPatches(BufferId buffer, const ChunkPatches& patches);
  /// Another buffer takes its id.
  void EndBuffer(BufferId buffer) { written_.erase(buffer); }
  /// At the end of the log.
  void Finish();

  /// Whether the batch has as many steps as is good for the caches of a processor.
  bool is_full() const;
  /// What was added since this was called last.
  std::shared_ptr<const SweepBatch> TakeBatch();

  /// Why shapes are not enough to know how this log replays; empty: they are, so far.
  const std::string& problem() const { return problem_; }
  /// By buffer. Complete after Finish.
  const std::map<BufferId, WrittenTally>& written() const { return written_; }
  std::optional<uint64_t> first_time_ns() const { return first_time_ns_; }
  std::optional<uint64_t> last_time_ns() const { return last_time_ns_; }
  uint64_t records() const { return records_; }
  uint64_t recorder_gaps() const { return recorder_gaps_; }
  /// In what the recording is not exact.
  std::vector<RecordingVerdict> Verdicts() const { return verdicts_.Verdicts(); }

 private:
  void ReadShapeOf(const WrittenCommit& written);
  void ReadTraits(WrittenCommit& written);

  std::shared_ptr<SweepBatch> batch_ = std::make_shared<SweepBatch>();
  std::map<BufferId, WrittenTally> written_;
  // The chunk under way.
  ChunkShape shape_;
  std::vector<ShapeFragment> fragments_;
  std::string problem_;
  uint64_t records_ = 0;
  uint64_t recorder_gaps_ = 0;
  VerdictBuilder verdicts_;
  std::optional<uint64_t> first_time_ns_;
  std::optional<uint64_t> last_time_ns_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_BATCH_BUILDER_H_
