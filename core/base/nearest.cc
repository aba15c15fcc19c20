#include "core/base/nearest.h"

#include <algorithm>
#include <vector>

namespace ringscope {
namespace {

/// The least number of insertions, deletions, replacements, and swaps of two neighbours that make
/// one word of the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> table((a.size() + 1) * width);
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& cost = table[i * width + j];
      if (i == 0 || j == 0) {
        cost = i + j;
        continue;
      }
      const size_t replace = table[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost = std::min({replace, table[(i - 1) * width + j] + 1, table[i * width + j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost = std::min(cost, table[(i - 2) * width + j - 2] + 1);
    }
  }
  return table.back();
}

}  // namespace

std::optional<std::string_view> NearestName(std::string_view word,
                                            std::span<const std::string_view> candidates) {
  // A third of the word may be wrong; beyond that a suggestion is noise.
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::optional<std::string_view> nearest;
  constexpr size_t kLongestWord = 64;
  if (word.size() > kLongestWord) return std::nullopt;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best) best = distance, nearest = candidate;
  }
  return nearest;
}

}  // namespace ringscope
