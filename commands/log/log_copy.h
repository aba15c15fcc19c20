#ifndef RINGSCOPE_COMMANDS_LOG_LOG_COPY_H_
#define RINGSCOPE_COMMANDS_LOG_LOG_COPY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/session/session_reader.h"
#include "core/reads/ready_times.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

struct LogCopyOptions {
  int level = kDefaultLevel;             // zstd's
  bool without_payload = false;          // see PayloadMask
  std::optional<FoundReads> reads = {};  // of the only session, in place of its own
  std::string reads_from = {};           // the trace in which they were found
};

/// Counts of a copy.
struct LogCopy {
  uint64_t sessions = 0, records = 0, bytes = 0;
  uint64_t left_out = 0;    // records of kinds that this version does not know
  bool is_cut_off = false;  // a session was, and its copy is marked so

  /// A clause that says what is left out; empty: nothing is.
  std::string LeftOut() const;
};

/// Writes all that is readable of some logs as one commit log: the parts of a recording become one,
/// a RecorderGap is where records are missing, and a session whose log was not closed is marked as
/// cut off. A log without a header gets one that marks it as imported.
/// @param more whether `sessions` is at a session: its first
Result<LogCopy> CopyLog(SessionReader& sessions, bool more, ByteSink& out,
                        const LogCopyOptions& options = {});

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_LOG_COPY_H_
