#ifndef RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_
#define RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_

#include "core/compare/output_diff.h"
#include "core/log/summary.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"

namespace ringscope {

class CommitLogObserver;

/// Opens a .tblog or .ops.jsonl by its content, perhaps compressed; "-" for standard input.
Result<std::unique_ptr<LogSource>> OpenLog(const std::string& path);
/// @param observer sees something only if the input is a commit log
Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source,
                                           CommitLogObserver* observer = nullptr);

/// Reads what a comparison needs of a `.pftrace`, plain or zstd-compressed. Packets of the service
/// itself are left out; the counters are those of its last TraceStats, buffers numbered as there.
/// @param damage gets the places that were skipped; nullptr if a damaged file is an error
Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage = nullptr);

/// Called now and then with bytes done and the total (0: not known).
using ProgressFn = std::function<void(uint64_t done, uint64_t total)>;

/// A log as a whole.
struct LogInfo {
  LogFormat format = LogFormat::kCommitLog;
  std::vector<SessionSummary> sessions = {};
  uint64_t file_bytes = 0;
  uint64_t raw_bytes = 0;  // of the records, decompressed; 0 for texts
  uint64_t data_frames = 0;
  bool from_index = false;      // answered from the index, without reading the records
  bool cleanly_closed = false;  // each file in it ends with an index and a seek table
  bool closed = false;          // see LogSource::closed
  std::vector<Damage> damage = {};
  uint64_t damage_count = 0;
};

/// Answers from the end of the file alone; nullopt if that cannot be trusted.
Result<std::optional<LogInfo>> ReadIndexedInfo(ByteSource& source);

/// Reads from the index where it can be trusted, else by a scan, with the same sessions.
Result<LogInfo> ReadLogInfo(std::unique_ptr<ByteSource> source, const ProgressFn& progress = {});

/// Verifies frames, checksums, seek table, index, summary, record numbers, and that each record
/// parses. Damage found is in the result, not an Error.
Result<LogInfo> VerifyLog(std::unique_ptr<ByteSource> source, const ProgressFn& progress = {});

// A recording may have several files, its parts: each header has the recording's uuid and its
// number. Names matter only to find parts that the user did not name.

/// Returns the path of a part, "cap.0001.tblog". @param path of part 0
std::string PartPath(const std::string& path, uint32_t part);
/// Returns the files beside part 0 that have names of its parts: "cap.0001.tblog". Sorted.
std::vector<std::string> FilesNamedAsParts(const std::string& path);

/// Returns the header of a commit log in a regular file, or nullopt if it has no intact one.
std::optional<LogHeader> ReadHeaderOf(const std::string& path);

/// Logs that a user named, with all parts of their recordings.
struct LogParts {
  std::vector<std::string> paths;  // in the order in which they are read
  std::vector<std::string> added;  // those of `paths` that were not named
  /// Parts that are missing, and files that have names of parts but are none.
  std::vector<std::string> problems;
  bool may_have_reads = false;  // false: by their indexes the logs have no read passes
};
/// Puts the parts of each recording in order, and adds those beside them. Other inputs stay in
/// place.
LogParts FindLogParts(const std::vector<std::string>& named);

/// Returns paths without the further parts of recordings, which are found by the first one listed.
std::vector<std::string> OnePathPerRecording(const std::vector<std::string>& paths);

/// Opens several files as one input. @param name that errors have
Result<std::unique_ptr<ByteSource>> OpenJoined(const std::vector<std::string>& paths,
                                               const std::string& name);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_
