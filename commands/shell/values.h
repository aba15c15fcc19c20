#ifndef RINGSCOPE_COMMANDS_SHELL_VALUES_H_
#define RINGSCOPE_COMMANDS_SHELL_VALUES_H_

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/log/op.h"
#include "core/log/record_filter.h"
#include "core/session/replay.h"

namespace ringscope {

template <typename... Args>
tl::unexpected<Error> UsageError(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kUsage, fmt::format(format, std::forward<Args>(args)...));
}

// How option values are written. All errors are kUsage and state what is expected.

/// "65536", "64k", "16MiB", "1.5G": bytes; units are powers of 1024, in either case.
Result<uint64_t> ParseSize(std::string_view text);
/// A size of at least `least`.
Result<uint64_t> ParseSizeFrom(std::string_view text, uint64_t least);
/// A trace config states sizes in KiB: no service has a smaller buffer.
inline constexpr uint64_t kLeastBufferBytes = 1024;
Result<uint64_t> ParseBufferSize(std::string_view text);
/// "500ms", "5s", "2m", "1.5h", also "us" and "ns": nanoseconds. A unit is required.
Result<uint64_t> ParseDuration(std::string_view text);
/// A duration that is not 0.
Result<uint64_t> ParsePositiveDuration(std::string_view text);
/// A decimal number of at most `max`.
Result<uint64_t> ParseNumber(std::string_view text, uint64_t max);

// Parsers of sizes and numbers within a limit, for options.
inline auto SizeFrom(uint64_t least) {
  return [least](std::string_view text) { return ParseSizeFrom(text, least); };
}
inline auto NumberUpTo(uint64_t max) {
  return [max](std::string_view text) { return ParseNumber(text, max); };
}

/// "2:17"
Result<SequenceKey> ParseSequence(std::string_view text);
/// "buffers[1]", or its id in the log: "1"
Result<BufferKey> ParseBuffer(std::string_view text);
/// One of these words. @param noun names what is chosen: "kind" @param otherwise the hint if no
/// choice is near
Result<std::string> ParseChoice(std::string_view text, std::span<const std::string> choices,
                                const char* noun, std::string otherwise);

/// The type of an option's value.
struct ValueType {
  ValueType(const char* type) : shown(type) {}  // NOLINT(google-explicit-constructor)
  /// The shown type is the choices, joined by "|".
  explicit ValueType(const std::vector<std::string>& values);
  ValueType(std::string type, std::vector<std::string> values)
      : shown(std::move(type)), choices(std::move(values)) {}

  /// As help has it: "SIZE", "text|json", "[BUFFER=]ENGINE", "ENGINE,..." for a list.
  std::string shown;
  /// Proposals of completions; the user continues a word that ends with "=".
  std::vector<std::string> choices;
};

/// "ring_buffer" or "discard", or as configs have it: "RING_BUFFER", "DISCARD"
/// @param around what help shows before and after the two: "[BUFFER=]", ",..."
ValueType PolicyType(const std::string& before = "", const std::string& after = "");
Result<FillPolicy> ParsePolicy(std::string_view text);

/// "on" or "off"
Result<bool> ParseOnOff(std::string_view text);
/// "1.5s" (from the session's start) or "2768013150246" (absolute nanoseconds)
Result<TimePoint> ParseTimePoint(std::string_view text);
/// "10..20", "10..", "..20", "10"
Result<RecordRange> ParseRecordRange(std::string_view text);
/// "recorded", "end", "none", "every=5s", "streamed", "streamed=5s", "like=TRACE"
ValueType ReadsType();
Result<ReadsChoice> ParseReads(std::string_view text);

/// `[BUFFER=]VALUE`, split. A buffer is written `buffers[1]`, or as its id in the log.
struct BufferValue {
  std::optional<BufferKey> buffer;  // absent: all buffers
  std::string_view value;
};
Result<BufferValue> SplitBufferValue(std::string_view text);

/// Calls `add(part)` for each part of a comma-separated list.
template <typename Add>
Status ForEachPart(std::string_view text, Add add) {
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (part.empty()) return UsageError("a value is missing between two commas, or at an end");
    RS_RETURN_IF_ERROR(add(part));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_VALUES_H_
