#ifndef RINGSCOPE_COMMANDS_SHELL_TEXT_H_
#define RINGSCOPE_COMMANDS_SHELL_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"

namespace ringscope {

// Rates and lines as people read them; other numbers and names: core/base/text.h.

/// A rate per second: "512", "1,234", "0.25"; "-" where no time passed.
std::string HumanRate(uint64_t count, uint64_t ns);
/// Columns that UTF-8 text takes on a terminal, for text of one column per character.
size_t DisplayWidth(std::string_view text);
/// At most so many columns of a text, the last one "…" if it was longer.
std::string Shortened(std::string_view text, size_t columns);
/// A word of a shell's command line: quoted if it has other characters than most file names.
std::string ShellWord(std::string_view text);
/// Breaks text into lines of at most 80 columns, the first after `mark`, the others indented as
/// far; no line break at the end.
std::string Wrap(std::string_view text, std::string_view mark);
/// The same with `indent` spaces before each line.
std::string Wrap(std::string_view text, size_t indent);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_TEXT_H_
