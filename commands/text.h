#ifndef RINGSCOPE_COMMANDS_TEXT_H_
#define RINGSCOPE_COMMANDS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.h"

namespace ringscope {

// Numbers and names as people read them.

/// "1,234,567"
std::string WithCommas(uint64_t number);
/// "640 B", "64 KiB", "1.23 MiB": three digits that matter, powers of 1024.
std::string HumanSize(uint64_t bytes);
/// "0 ns", "12.5 ms", "1.130 s", "3 min 20 s", "2 h 5 min".
std::string HumanDuration(uint64_t ns);
/// A rate per second: "512", "1,234", "0.25"; "-" where no time passed.
std::string HumanRate(uint64_t count, uint64_t ns);
/// "96.8%"; "" of nothing.
std::string Percent(uint64_t part, uint64_t whole);
/// "1 packet", "2 packets": `noun` takes an s unless the count is 1.
std::string Count(uint64_t count, std::string_view noun);
/// A sequence as it is written everywhere: "2:17".
std::string ToString(SequenceKey key);
/// Text of unknown origin made fit for a terminal: control characters and invalid UTF-8 escaped.
std::string Printable(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_TEXT_H_
