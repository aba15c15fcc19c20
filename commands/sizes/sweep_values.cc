#include <algorithm>
#include <charconv>
#include <cmath>

#include "commands/shell/values.h"
#include "commands/sizes/sizes.h"
#include "core/perfetto/chunk.h"

namespace ringscope {
namespace {

constexpr size_t kMaxSizes = 1024;

/// A plain decimal number like "1.5".
std::optional<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (text.empty() || error != std::errc() || stop != end || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

/// FIRST..LAST or FIRST..LASTxFACTOR
Status AddRange(std::string_view text, size_t dots, std::vector<uint64_t>& sizes) {
  std::string_view last_text = text.substr(dots + 2);
  double factor = 2;
  if (const size_t x = last_text.find('x'); x != std::string_view::npos) {
    const std::optional<double> chosen = ParseDecimal(last_text.substr(x + 1));
    if (!chosen || *chosen < 1.01 || *chosen > 1024)
      return UsageError("'{}' is not a factor from 1.01 to 1024; write it like 256k..64Mx1.5",
                        last_text.substr(x + 1));
    factor = *chosen;
    last_text = last_text.substr(0, x);
  }
  RS_ASSIGN_OR_RETURN(const uint64_t first, ParseBufferSize(text.substr(0, dots)));
  RS_ASSIGN_OR_RETURN(const uint64_t last, ParseBufferSize(last_text));
  if (first > last)
    return UsageError("'{}' begins above its end; write the smaller size first", text);
  auto exact = static_cast<double>(first);
  for (uint64_t size = first; size < last && sizes.size() <= kMaxSizes;) {
    sizes.push_back(size);
    exact *= factor;
    if (exact >= static_cast<double>(last)) break;
    const auto next = static_cast<uint64_t>(std::llround(exact));
    size = next < kPageBytes ? next : PagesUp(next);
  }
  sizes.push_back(last);
  return {};
}

}  // namespace

Result<SizeList> ParseSizeList(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const BufferValue split, SplitBufferValue(text));
  SizeList list{.buffer = split.buffer, .sizes = {}};
  const auto add = [&](std::string_view part) -> Status {
    const size_t dots = part.find("..");
    if (dots != std::string_view::npos) {
      RS_RETURN_IF_ERROR(AddRange(part, dots, list.sizes));
    } else {
      RS_ASSIGN_OR_RETURN(const uint64_t size, ParseBufferSize(part));
      list.sizes.push_back(size);
    }
    if (list.sizes.size() > kMaxSizes)
      return UsageError("'{}' has more than {} sizes; choose a larger factor", text, kMaxSizes);
    return {};
  };
  RS_RETURN_IF_ERROR(ForEachPart(split.value, add));
  std::sort(list.sizes.begin(), list.sizes.end());
  list.sizes.erase(std::unique(list.sizes.begin(), list.sizes.end()), list.sizes.end());
  return list;
}

Result<NamedReads> ParseSweptReads(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const ReadsChoice choice, ParseReads(text));
  if (!choice.like.empty()) {
    return UsageError(
        "'{}' cannot be swept: store these reads in a log with 'ringscope import --reads-from', "
        "and sweep that",
        text);
  }
  return NamedReads{.name = std::string(text), .choice = choice};
}

Result<SweepTarget> ParseTarget(std::string_view text) {
  SweepTarget target{.text = std::string(text), .keep_ns = {}, .loss_millionths = {}};
  if (text.starts_with("keep=")) {
    RS_ASSIGN_OR_RETURN(target.keep_ns, ParsePositiveDuration(text.substr(5)));
    return target;
  }
  if (text.starts_with("loss=")) {
    std::string_view share = text.substr(5);
    const bool percent = share.ends_with('%');
    if (percent) share.remove_suffix(1);
    const std::optional<double> value = ParseDecimal(share);
    // A share without its sign could mean either; 0 is 0.
    if (value && *value <= 100 && (percent || *value == 0)) {
      target.loss_millionths = static_cast<uint64_t>(std::llround(*value * 1e4));
      return target;
    }
  }
  return UsageError("'{}' is not a target; write keep=30s, loss=0 or loss=0.1%", text);
}

}  // namespace ringscope
