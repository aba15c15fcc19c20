#ifndef RINGSCOPE_CORE_SESSION_READS_USED_H_
#define RINGSCOPE_CORE_SESSION_READS_USED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/enum_names.h"

namespace ringscope {

/// When a replay reads the buffers.
enum class ReadsMode : uint8_t {
  kAuto,      // as recorded; if the session has no reads: kStreamed where the service writes it
              // into a file, else kEnd
  kRecorded,  // as recorded, even if that is never
  kEnd,       // once, after the last record; the log's own passes are left out
  kNone,      // never
  kEvery,     // at multiples of a period of log time from the first record, and at the end
  kStreamed,  // as the service reads a session that it writes into a file, see ServiceReads
};
template <>
inline constexpr std::array kEnumNames<ReadsMode> = {"auto", "recorded", "end",
                                                     "none", "every",    "streamed"};

/// When a replay did read the buffers, and what of that the log does not show.
struct ReadsUsed {
  ReadsMode mode = ReadsMode::kRecorded;  // never kAuto
  bool assumed = false;                   // the log does not show when it was read, nobody chose
  uint64_t period_ns = 0;                 // of kEvery and kStreamed
  bool alignment_assumed = false;  // of kStreamed: no clock snapshot shows where the periods begin
  uint64_t added_passes = 0;       // that continued recorded reads, in other buffers than recorded
  bool recorded_end_unknown = false;  // one of them is not known to have left nothing
  uint64_t empty_reads = 0;           // of a consumer, which the service answers with nothing
  uint64_t seen_in_file = 0;          // recorded because the service's file had grown
  uint64_t left_out = 0;              // of the log's own, after an assumed read had been made
  std::string like;                   // the trace whose reads these are; empty: none
  uint64_t like_packets = 0;          // in that trace, without the service's own
  uint64_t like_explained = 0;        // of these, returned in their place, from the first one on
  /// Of each recorded pass over all buffers, in order: true if it ended before its limit, so that
  /// it left nothing.
  std::vector<bool> finished;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_READS_USED_H_
