#ifndef RINGSCOPE_CORE_BASE_TEXT_H_
#define RINGSCOPE_CORE_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace ringscope {

/// Bytes of the UTF-8 character at the front of `text`, which is not empty; 0: it is not one.
/// Accepted are shortest forms up to U+10FFFF, without surrogates, as JSON requires.
size_t Utf8Length(std::string_view text);
/// Whether all of `text` is UTF-8.
bool IsUtf8(std::string_view text);
/// Text of unknown origin made fit for a terminal: control characters and invalid UTF-8 escaped.
std::string Printable(std::string_view text);

/// "1,234,567"
std::string WithCommas(uint64_t number);
/// "640 B", "64 KiB", "1.23 MiB": three significant digits, powers of 1024.
std::string HumanSize(uint64_t bytes);
/// "1 packet", "2 packets": `noun` takes an s unless the count is 1.
std::string Count(uint64_t count, std::string_view noun);
/// A sequence as it is written everywhere: "2:17".
std::string ToString(SequenceKey key);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_TEXT_H_
