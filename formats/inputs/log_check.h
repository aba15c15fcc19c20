#ifndef RINGSCOPE_FORMATS_INPUTS_LOG_CHECK_H_
#define RINGSCOPE_FORMATS_INPUTS_LOG_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/summary.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"
#include "formats/log/commit_log_reader.h"

namespace ringscope {

/// Called now and then with bytes done and the total (0: not known).
using ProgressFn = std::function<void(uint64_t done, uint64_t total)>;

/// A log as a whole.
struct LogInfo {
  LogFormat format = LogFormat::kCommitLog;
  std::vector<SessionSummary> sessions;
  uint64_t file_bytes = 0;
  uint64_t raw_bytes = 0;  // of the records, decompressed; 0 for texts
  uint64_t data_frames = 0;
  bool from_index = false;      // answered from the index, without reading the records
  bool cleanly_closed = false;  // each file in it ends with an index and a seek table
  bool closed = false;          // see LogSource::closed
  std::vector<Damage> damage;
  uint64_t damage_count = 0;
};

/// Answers from the end of the file alone; nullopt if that cannot be trusted.
Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source);

/// Reads from the index where it can be trusted, else by a scan, with the same sessions.
Result<LogInfo> ReadLogInfo(std::unique_ptr<ByteSource> source, const ProgressFn& progress = {});

/// Verifies frames, checksums, seek table, index, summary, record numbers, and that each record
/// parses. Damage found is in the result, not an Error.
Result<LogInfo> VerifyLog(std::unique_ptr<ByteSource> source, const ProgressFn& progress = {});

/// Writes what is readable of a log to `out`, with recorder_gap records for what damage lost.
Result<LogInfo> RepairLog(std::unique_ptr<ByteSource> source, ByteSink& out,
                          const ProgressFn& progress = {});

// Parts of these checks.

/// Counts the frames of a commit log while it is read.
class FrameCounter : public CommitLogObserver {
 public:
  void OnDataFrame(const ZstdFrame& frame) override;
  void OnSkippableFrame(const ZstdFrame& frame) override;
  void OnRecord(const Op* op, Bytes encoded) override;

  /// Records of kinds that this version does not know; they are skipped.
  uint64_t unknown_records() const { return unknown_records_; }
  /// Puts what was counted into `info`.
  void Fill(LogInfo& info) const;

 private:
  uint64_t data_frames_ = 0;
  uint64_t raw_bytes_ = 0;
  uint64_t unknown_records_ = 0;
  bool ended_ = false;        // the last frame is a seek table
  bool others_ended_ = true;  // so are those of the files before, if several are concatenated
};

/// Reads a log to its end, with a call for each record. @param frames observes the log
Result<LogInfo> ScanLog(LogSource& log, const FrameCounter& frames, const ProgressFn& progress,
                        const std::function<Status(const Op&)>& each = {});

/// States the damage of a log that is being read as gaps of the recording.
class DamageGaps {
 public:
  /// @param where begins each gap's reason: "damage in the log"; the damage itself follows
  explicit DamageGaps(std::string where) : where_(std::move(where)) {}

  /// Returns true if the log has met damage since Take was called last.
  bool Has(const LogSource& log) const { return log.damage_count() > seen_; }
  struct Gap {
    RecorderGap gap;                       // without times
    std::optional<uint64_t> first_record;  // that is missing, where it is known
  };
  /// Returns the places since the last call at which records are, or may be, missing.
  std::vector<Gap> Take(const LogSource& log);

 private:
  const std::string where_;
  uint64_t seen_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_LOG_CHECK_H_
