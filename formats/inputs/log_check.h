#ifndef RINGSCOPE_FORMATS_INPUTS_LOG_CHECK_H_
#define RINGSCOPE_FORMATS_INPUTS_LOG_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/log/summary.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"

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

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_LOG_CHECK_H_
