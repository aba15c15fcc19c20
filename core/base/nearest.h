#ifndef RINGSCOPE_CORE_BASE_NEAREST_H_
#define RINGSCOPE_CORE_BASE_NEAREST_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace ringscope {

/// Returns the candidate that someone who typed `word` probably meant: the first of those with the
/// fewest edits of one character. Returns nullopt if each differs in more than a third of the word
/// (at least one character), or if the word has more than 64 characters.
std::optional<std::string_view> NearestName(std::string_view word,
                                            std::span<const std::string_view> candidates);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_NEAREST_H_
