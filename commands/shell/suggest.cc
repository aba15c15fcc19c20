#include "commands/shell/suggest.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/nearest.h"

namespace ringscope {

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  if (const auto nearest = NearestName(word, views)) return std::string(*nearest);
  // "comp" for "completions", if it can mean nothing else.
  const std::string* longer = nullptr;
  for (const std::string& candidate : candidates) {
    if (word.size() < 2 || !candidate.starts_with(word)) continue;
    if (longer != nullptr) return std::nullopt;
    longer = &candidate;
  }
  return longer == nullptr ? std::nullopt : std::optional(*longer);
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates,
                       std::string otherwise) {
  const std::optional<std::string> nearest = Nearest(word, candidates);
  return nearest ? fmt::format("did you mean '{}'?", *nearest) : std::move(otherwise);
}

}  // namespace ringscope
