#ifndef RINGSCOPE_COMMANDS_SHELL_SUGGEST_H_
#define RINGSCOPE_COMMANDS_SHELL_SUGGEST_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringscope {

/// The candidate that a mistyped or shortened word most likely means; nullopt if none is near.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

/// "did you mean 'NEAREST'?", or `otherwise` if no candidate is near.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates,
                       std::string otherwise);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_SUGGEST_H_
