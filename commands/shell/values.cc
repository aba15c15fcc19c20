#include "commands/shell/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/lookup.h"
#include "core/base/text.h"

namespace ringscope {
namespace {

struct Unit {
  const char* name;
  uint64_t factor;
};

/// Also followed by "b" or "ib": "kb", "kib".
constexpr Unit kSizeUnits[] = {{"", 1},
                               {"k", uint64_t{1} << 10},
                               {"m", uint64_t{1} << 20},
                               {"g", uint64_t{1} << 30},
                               {"t", uint64_t{1} << 40}};
constexpr Unit kTimeUnits[] = {{"ns", 1},
                               {"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"m", 60'000'000'000},
                               {"min", 60'000'000'000},
                               {"h", 3'600'000'000'000}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// A decimal number, perhaps with a fraction, and one of the units after it.
/// @return nullopt if it is not that, or too large for 63 bits
std::optional<uint64_t> ParseQuantity(std::string_view text, std::span<const Unit> units) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, digits);
  std::string unit_name(text.substr(digits));
  for (char& c : unit_name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (units.data() == kSizeUnits && unit_name.ends_with('b')) {
    unit_name.pop_back();
    if (unit_name.size() == 2 && unit_name.back() == 'i') unit_name.pop_back();
  }
  const auto unit = std::ranges::find(units, unit_name, &Unit::name);
  if (unit == units.end() || number.empty() || !IsDigit(number.front())) return std::nullopt;

  uint64_t whole = 0;
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, whole);
  if (error != std::errc()) return std::nullopt;
  double fraction = 0;
  if (rest != end) {  // ".5"; exact for all the digits that a person types
    const auto [stop, bad] = std::from_chars(rest, end, fraction);
    if (bad != std::errc() || stop != end || rest + 1 == end) return std::nullopt;
  }
  constexpr uint64_t kMax = INT64_MAX;
  if (whole > kMax / unit->factor - 1) return std::nullopt;
  return whole * unit->factor +
         static_cast<uint64_t>(std::llround(fraction * static_cast<double>(unit->factor)));
}

}  // namespace

Result<uint64_t> ParseSize(std::string_view text) {
  if (const auto size = ParseQuantity(text, kSizeUnits)) return *size;
  return UsageError("'{}' is not a size; write it like 65536, 64k, 16MiB or 1.5G", text);
}

Result<uint64_t> ParseSizeFrom(std::string_view text, uint64_t least) {
  RS_ASSIGN_OR_RETURN(const uint64_t size, ParseSize(text));
  if (size >= least) return size;
  // A number alone is often meant in KiB or MiB.
  std::string hint;
  if (size > 0 && std::all_of(text.begin(), text.end(), IsDigit))
    hint = fmt::format("without a unit these are bytes; did you mean {0}{1}?", text,
                       size * 1024 >= least ? 'k' : 'M');
  return Fail(ErrorCode::kUsage,
              fmt::format("'{}' is too small: at least {} is needed", text, HumanSize(least)), {},
              hint);
}

Result<uint64_t> ParseBufferSize(std::string_view text) {
  return ParseSizeFrom(text, kLeastBufferBytes);
}

Result<uint64_t> ParsePositiveDuration(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const uint64_t ns, ParseDuration(text));
  if (ns > 0) return ns;
  return UsageError("'{}' is not a positive time; write it like 500ms, 5s or 2m", text);
}

Result<uint64_t> ParseDuration(std::string_view text) {
  if (const auto ns = ParseQuantity(text, kTimeUnits)) return *ns;
  return UsageError("'{}' is not a time; write it like 500ms, 5s or 2m", text);
}

Result<uint64_t> ParseNumber(std::string_view text, uint64_t max) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && number <= max) return number;
  return UsageError("'{}' is not a number from 0 to {}", text, max);
}

Result<SequenceKey> ParseSequence(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto producer = ParseNumber(text.substr(0, colon), UINT16_MAX);
    const auto writer = ParseNumber(text.substr(colon + 1), UINT16_MAX);
    if (producer && writer) {
      return SequenceKey{ProducerId{static_cast<uint16_t>(*producer)},
                         WriterId{static_cast<uint16_t>(*writer)}};
    }
  }
  return UsageError("'{}' is not a sequence; write PRODUCER:WRITER, like 2:17", text);
}

Result<BufferKey> ParseBuffer(std::string_view text) {
  constexpr std::string_view kIndexStart = "buffers[";
  const bool is_index = text.starts_with(kIndexStart) && text.ends_with(']');
  if (is_index) text = text.substr(kIndexStart.size(), text.size() - kIndexStart.size() - 1);
  RS_ASSIGN_OR_RETURN(const uint64_t number, ParseNumber(text, UINT16_MAX));
  return BufferKey(is_index, static_cast<uint32_t>(number));
}

Result<std::string> ParseChoice(std::string_view text, std::span<const std::string> choices,
                                const char* noun, std::string otherwise) {
  if (Contains(choices, text)) return std::string(text);
  return Fail(ErrorCode::kUsage, fmt::format("there is no {} '{}'", noun, text), {},
              DidYouMean(text, choices, std::move(otherwise)));
}

ValueType::ValueType(const std::vector<std::string>& values)
    : shown(Joined(values, "|")), choices(values) {}

ValueType PolicyType(const std::string& before, const std::string& after) {
  constexpr FillPolicy kRing = FillPolicy::kRingBuffer, kDiscard = FillPolicy::kDiscard;
  return {fmt::format("{}{}|{}{}", before, Name(kRing), Name(kDiscard), after),
          {Name(kRing), Name(kDiscard), ConfigName(kRing), ConfigName(kDiscard)}};
}

Result<FillPolicy> ParsePolicy(std::string_view text) {
  std::vector<std::string> names;
  for (const FillPolicy policy : {FillPolicy::kRingBuffer, FillPolicy::kDiscard}) {
    if (text == ConfigName(policy) || text == Name(policy)) return policy;
    names.emplace_back(Name(policy));
  }
  return tl::unexpected(ParseChoice(text, names, "fill policy", "ring_buffer or discard").error());
}

ValueType ReadsType() {
  return {"recorded|end|none|every=TIME|streamed|streamed=TIME|like=TRACE",
          {"recorded", "end", "none", "every=", "streamed", "streamed=", "like="}};
}

Result<bool> ParseOnOff(std::string_view text) {
  if (text == "on" || text == "off") return text == "on";
  return UsageError("'{}' is neither on nor off", Printable(text));
}

Result<TimePoint> ParseTimePoint(std::string_view text) {
  if (const auto absolute = ParseNumber(text, UINT64_MAX)) return TimePoint{*absolute, false};
  if (const auto offset = ParseDuration(text)) return TimePoint{*offset, true};
  return UsageError(
      "'{}' is not a time; write an offset from the session's start like 1.5s, or absolute "
      "nanoseconds",
      text);
}

Result<RecordRange> ParseRecordRange(std::string_view text) {
  const size_t dots = text.find("..");
  const std::string_view first = text.substr(0, std::min(dots, text.size()));
  const std::string_view last = dots == std::string_view::npos ? first : text.substr(dots + 2);
  RecordRange range;
  bool good = !first.empty() || !last.empty();
  const auto take = [&good](std::string_view number, uint64_t& end) {
    if (number.empty()) return;
    const auto parsed = ParseNumber(number, UINT64_MAX);
    good = good && parsed;
    end = parsed.value_or(0);
  };
  take(first, range.first);
  take(last, range.last);
  if (good && range.first <= range.last) return range;
  return UsageError("'{}' is not a range of records; write it like 10..20, 10.. or ..20", text);
}

Result<ReadsChoice> ParseReads(std::string_view text) {
  for (const ReadsMode mode :
       {ReadsMode::kRecorded, ReadsMode::kEnd, ReadsMode::kNone, ReadsMode::kStreamed})
    if (text == Name(mode)) return ReadsChoice{mode, 0, {}};
  constexpr std::string_view kLikePrefix = "like=";
  if (text.starts_with(kLikePrefix) && text.size() > kLikePrefix.size())
    return ReadsChoice{ReadsMode::kRecorded, 0, std::string(text.substr(kLikePrefix.size()))};
  for (const ReadsMode mode : {ReadsMode::kEvery, ReadsMode::kStreamed}) {
    const std::string prefix = fmt::format("{}=", Name(mode));
    if (!text.starts_with(prefix)) continue;
    RS_ASSIGN_OR_RETURN(const uint64_t period, ParseDuration(text.substr(prefix.size())));
    if (period == 0)
      return UsageError("the period of {} cannot be 0; write it like {}5s", prefix, prefix);
    return ReadsChoice{mode, period, {}};
  }
  return UsageError(
      "'{}' is not a time to read; write recorded, end, none, every=5s, streamed, streamed=5s or "
      "like=TRACE",
      text);
}

Result<BufferValue> SplitBufferValue(std::string_view text) {
  const size_t equals = text.find('=');
  // A plug-in's path may contain '=': only digits or an index in front of it are a buffer.
  if (equals == std::string_view::npos || equals == 0 ||
      !(text.starts_with("buffers[") || std::ranges::all_of(text.substr(0, equals), IsDigit)))
    return BufferValue{std::nullopt, text};
  RS_ASSIGN_OR_RETURN(const BufferKey buffer, ParseBuffer(text.substr(0, equals)));
  return BufferValue{buffer, text.substr(equals + 1)};
}

}  // namespace ringscope
