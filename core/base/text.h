#ifndef RINGSCOPE_CORE_BASE_TEXT_H_
#define RINGSCOPE_CORE_BASE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// Returns the bytes of the UTF-8 character at the front of `text`, which is not empty, or 0.
/// Accepted are shortest forms up to U+10FFFF, without surrogates, as JSON requires.
size_t Utf8Length(std::string_view text);
/// Returns true if all of `text` is UTF-8.
bool IsUtf8(std::string_view text);
/// Text of unknown origin made fit for people: control characters, those that change the direction
/// of text, and invalid UTF-8 are escaped.
std::string Printable(std::string_view text);

/// "1,234,567"
std::string WithCommas(uint64_t number);
/// A size that goes into a trace config: "6.39 MiB (size_kb: 6548)".
std::string SizeWithKb(uint64_t bytes);
/// "640 B", "64 KiB", "1.23 MiB": three significant digits, powers of 1024.
std::string HumanSize(uint64_t bytes);
/// "0 ns", "12.5 ms", "1.130 s", "3 min 20 s", "2 h 5 min".
std::string HumanDuration(uint64_t ns);
/// "96.8%"; 0% and 100% only of nothing and of all, else "<0.1%", ">99.9%"; "-" of no whole.
std::string ShareText(uint64_t part, uint64_t whole);
/// Returns the share for a table, where no whole has "".
std::string Percent(uint64_t part, uint64_t whole);
/// "1 packet", "2 packets", "2 patches": the plural of `noun` unless the count is 1.
std::string Count(uint64_t count, std::string_view noun);
/// "was" or "were", "is" or "are", "has" or "have": the verb after a count.
inline const char* Was(uint64_t count) { return count == 1 ? "was" : "were"; }
inline const char* Is(uint64_t count) { return count == 1 ? "is" : "are"; }
inline const char* Has(uint64_t count) { return count == 1 ? "has" : "have"; }
/// "a, b, c"
std::string Joined(const std::vector<std::string>& parts, std::string_view between = ", ");
/// Parts of a whole: their names and amounts, the largest first.
using SharesOf = std::vector<std::pair<std::string, uint64_t>>;
/// A sequence as it is written everywhere: "2:17".
std::string ToString(SequenceKey key);
/// "buffers[1]"; of an id "1".
std::string ToString(BufferKey key);

/// Columns that UTF-8 text takes on a terminal, for text of one column per character.
size_t DisplayWidth(std::string_view text);
/// Columns of text for people, whatever reads it: so that answers look the same everywhere.
inline constexpr size_t kTextColumns = 80;

/// Returns at most so many columns of a text, the last one "…" if it was longer.
std::string Shortened(std::string_view text, size_t columns);
/// A file's name as a word of a shell's command line: quoted if it has other characters than most
/// names, as $'...' of bash if it has some that cannot be printed; never an option.
std::string ShellWord(std::string_view text);

/// Breaks text into lines of at most `width` columns, the first after `mark`, the others indented
/// as far and by `hanging` columns more; no line break at the end.
std::string Wrap(std::string_view text, std::string_view mark, size_t hanging = 0,
                 size_t width = kTextColumns);
/// Breaks text into lines with `indent` spaces before each.
std::string Wrap(std::string_view text, size_t indent, size_t width = kTextColumns);

/// Returns the candidate that someone who typed `word` probably meant: the first of those with the
/// fewest edits of one character. Returns nullopt if each differs in more than a third of the word
/// (at least one character), or if the word has more than 64 characters.
std::optional<std::string_view> NearestName(std::string_view word,
                                            std::span<const std::string_view> candidates);
/// "did you mean 'NEAREST'?", also for a word that only one candidate begins with, or `otherwise`
/// if no candidate is near.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates,
                       std::string otherwise);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_TEXT_H_
