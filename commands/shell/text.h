#ifndef RINGSCOPE_COMMANDS_SHELL_TEXT_H_
#define RINGSCOPE_COMMANDS_SHELL_TEXT_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace ringscope {

// Texts that only commands write; numbers, names and lines: core/base/text.h.

/// Returns at most so many columns of a text, the last one "…" if it was longer.
std::string Shortened(std::string_view text, size_t columns);
/// A word of a shell's command line: quoted if it has other characters than most file names.
std::string ShellWord(std::string_view text);

/// The candidate that a mistyped or shortened word most likely means; nullopt if none is near.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

/// "did you mean 'NEAREST'?", or `otherwise` if no candidate is near.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates,
                       std::string otherwise);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_TEXT_H_
