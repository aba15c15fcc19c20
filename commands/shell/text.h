#ifndef RINGSCOPE_COMMANDS_SHELL_TEXT_H_
#define RINGSCOPE_COMMANDS_SHELL_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"

namespace ringscope {

// Times, rates and shares as people read them; other numbers and names: core/base/text.h.

/// "0 ns", "12.5 ms", "1.130 s", "3 min 20 s", "2 h 5 min".
std::string HumanDuration(uint64_t ns);
/// A rate per second: "512", "1,234", "0.25"; "-" where no time passed.
std::string HumanRate(uint64_t count, uint64_t ns);
/// "96.8%"; "" of nothing.
std::string Percent(uint64_t part, uint64_t whole);
/// As Percent, but 0% and 100% only of nothing and of all: "<0.1%", ">99.9%"; "-" of nothing.
std::string ShareText(uint64_t part, uint64_t whole);
/// Columns that UTF-8 text takes on a terminal, for text of one column per character.
size_t DisplayWidth(std::string_view text);
/// Breaks text into lines of at most 80 columns, the first after `mark`, the others indented as
/// far; no line break at the end.
std::string Wrap(std::string_view text, std::string_view mark);
/// The same with `indent` spaces before each line.
std::string Wrap(std::string_view text, size_t indent);
/// "a, b, c"
std::string Joined(const std::vector<std::string>& parts, std::string_view between = ", ");

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_TEXT_H_
