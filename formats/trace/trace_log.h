#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_LOG_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_LOG_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"
#include "formats/io/temporary_file.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/trace_import.h"

namespace ringscope {

struct TraceLogOptions {
  std::string path;                         // of the trace; "-": standard input
  std::string folder = TemporaryFolder();   // for packets that do not fit in memory
  int level = kDefaultLevel;                // zstd's
  unsigned threads = CompressionThreads();  // the log does not depend on it
  bool without_payload = false;             // see PayloadMask
  /// Progress, in bytes of the trace. May be empty.
  std::function<void(uint64_t done, uint64_t total)> on_read = {};
};

/// A commit log that was made of a trace.
struct TraceLog {
  std::vector<TraceImportReport> sessions;  // in the order of the file; at least one
  std::vector<Damage> damage;               // of the trace; at most LogSource::kMaxDamage entries
  uint64_t damage_count = 0;                // all of it
  uint64_t records = 0;
  uint64_t bytes = 0;
};

/// Writes the packets of a Perfetto trace as a commit log: a session for each in the file. Damage
/// is skipped; bytes of which nothing is a packet are an error.
Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_LOG_H_
