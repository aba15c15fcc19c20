#ifndef RINGSCOPE_COMMANDS_VALUES_H_
#define RINGSCOPE_COMMANDS_VALUES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/ids.h"
#include "core/op.h"
#include "core/replay.h"
#include "core/result.h"

namespace ringscope {

// How option values are written. All errors are kUsage and say what is expected.

/// "65536", "64k", "16MiB", "1.5G": bytes; units are powers of 1024, in either case.
Result<uint64_t> ParseSize(std::string_view text);

/// "500ms", "5s", "2m", "1.5h", also "us" and "ns": nanoseconds. A unit is required.
Result<uint64_t> ParseDuration(std::string_view text);

/// A decimal number of at most `max`.
Result<uint64_t> ParseNumber(std::string_view text, uint64_t max);

/// "2:17"
Result<SequenceKey> ParseSequence(std::string_view text);

/// A buffer's id.
Result<BufferId> ParseBuffer(std::string_view text);

/// "ring_buffer" or "discard"
Result<FillPolicy> ParsePolicy(std::string_view text);

/// A point of a session's time: an offset from its start ("1.5s") or absolute ("2768013150246").
struct TimePoint {
  uint64_t ns = 0;
  bool relative = false;
  /// @param start_ns of the session
  uint64_t Absolute(uint64_t start_ns) const;
};
Result<TimePoint> ParseTimePoint(std::string_view text);

/// Record numbers, both ends included.
struct RecordRange {
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;
};
/// "10..20", "10..", "..20", "10"
Result<RecordRange> ParseRecordRange(std::string_view text);

/// When to read: "recorded", "end", "none", "every=5s".
struct ReadsChoice {
  ReadsMode mode = ReadsMode::kAuto;
  uint64_t every_ns = 0;
};
Result<ReadsChoice> ParseReads(std::string_view text);

/// `[BUFFER=]VALUE`, split.
struct BufferValue {
  std::optional<BufferId> buffer;  // absent: all buffers
  std::string_view value;
};
Result<BufferValue> SplitBufferValue(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VALUES_H_
