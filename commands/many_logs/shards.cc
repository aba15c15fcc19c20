#include "commands/many_logs/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "commands/shell/values.h"

namespace ringscope {
namespace {

/// "1, 3 to 7, 9"
std::string RangesText(const std::vector<uint64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", numbers[i]);
    if (end - i > 1) text += fmt::format("{}{}", end - i > 2 ? " to " : ", ", numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace

Result<Shard> ParseShard(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = ParseNumber(text.substr(0, slash), UINT32_MAX);
    const auto count = ParseNumber(text.substr(slash + 1), UINT32_MAX);
    if (index && count && *index >= 1 && *index <= *count) return Shard{*index, *count};
  }
  return Fail(ErrorCode::kUsage,
              fmt::format("'{}' is not a shard; write I/N with I from 1 to N, like 2/8", text));
}

Status ShardsHeld::Join(const ShardsHeld& other) {
  joined = true;
  if (other.count == 0) return {};
  const bool is_list =
      !other.held.empty() && other.held.front() > 0 && other.held.back() <= other.count &&
      std::ranges::adjacent_find(other.held, std::ranges::greater_equal{}) == other.held.end();
  if (!is_list) return Fail(ErrorCode::kCorrupt, "the shards that a result names make no sense");
  if (count == 0) count = other.count;
  if (count != other.count)
    return Fail(
        ErrorCode::kUsage,
        fmt::format("a result is of one of {} shards, another of one of {}", count, other.count),
        {}, "merge the results of each run separately");
  std::vector<uint64_t> both;
  std::ranges::set_union(held, other.held, std::back_inserter(both));
  if (both.size() != held.size() + other.held.size())
    return Fail(ErrorCode::kUsage, "a shard is in two of the results", {},
                "name each shard's result once");
  held = std::move(both);
  return {};
}

std::string ShardsHeld::MissingText() const {
  if (!joined || all()) return {};
  std::vector<uint64_t> missing;
  // A count that no run had could be huge.
  constexpr size_t kMostNamed = 1000;
  auto next = held.begin();
  for (uint64_t i = 1; i <= count && missing.size() < kMostNamed; ++i) {
    if (next != held.end() && *next == i)
      ++next;
    else
      missing.push_back(i);
  }
  const uint64_t lost = count - std::min<uint64_t>(count, held.size());
  if (lost == 1)
    return fmt::format("shard {} of {} is missing: its logs are not counted", missing.front(),
                       count);
  return fmt::format("{} of {} shards are missing: their logs are not counted ({}{})", lost, count,
                     RangesText(missing), missing.size() < lost ? ", and more" : "");
}

ExitCode ShardsHeld::CodeWith(ExitCode code) const {
  return MissingText().empty() ? code : Worse(code, ExitCode::kNotice);
}

void ReportShards(Report& report, const ShardsHeld& shards) {
  if (shards.all()) return;
  if (report.is_json()) report.Data("shards", FieldsToJson(shards));
  if (const std::string missing = shards.MissingText(); !missing.empty())
    report.Paragraph(missing + ".");
}

}  // namespace ringscope
