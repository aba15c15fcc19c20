#ifndef RINGSCOPE_CORE_NEAREST_H_
#define RINGSCOPE_CORE_NEAREST_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace ringscope {

/// Single-character insertions, deletions, replacements and swaps of neighbours between two words.
size_t EditDistance(std::string_view a, std::string_view b);

/// The candidate that someone who typed `word` probably meant; nullopt if none is near.
std::optional<std::string_view> NearestName(std::string_view word,
                                            std::span<const std::string_view> candidates);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_NEAREST_H_
