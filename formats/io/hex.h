#ifndef RINGSCOPE_FORMATS_IO_HEX_H_
#define RINGSCOPE_FORMATS_IO_HEX_H_

#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace ringscope {

/// Appends two lower-case hex digits per byte.
void AppendHex(std::string& out, Bytes bytes);

/// Appends the bytes that `hex` encodes, or nothing if it is malformed. @return true if it did
bool DecodeHex(std::string_view hex, std::string& out);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_HEX_H_
