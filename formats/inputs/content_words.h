#ifndef RINGSCOPE_FORMATS_INPUTS_CONTENT_WORDS_H_
#define RINGSCOPE_FORMATS_INPUTS_CONTENT_WORDS_H_

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// What a file of a well-known format is: "a PNG image", "a text file". Compressed ones are what
/// they are once decompressed. Empty: the format is not known.
/// @param start of the file; up to kKindBytes
std::string ContentWords(std::string_view start);

/// The error for a file that is not what a command needs: names what it is, as far as that is
/// known.
/// @param needed "a log"
/// @param expected which formats that has, for the hint
Error WrongContent(std::string_view start, const std::string& path, std::string_view needed,
                   std::string expected);

/// Reads a text to its end; what is no text is an error as above, more than `max_bytes` is, too.
Result<std::string> ReadText(ByteSource& source, size_t max_bytes, std::string_view needed,
                             std::string expected);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_CONTENT_WORDS_H_
