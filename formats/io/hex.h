#ifndef RINGSCOPE_FORMATS_IO_HEX_H_
#define RINGSCOPE_FORMATS_IO_HEX_H_

#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace ringscope {
namespace hex {

// Without tables and branches, so that compilers make loops of these that take many digits at once.

constexpr char DigitOf(uint8_t nibble) {
  return static_cast<char>(nibble + '0' + (nibble > 9 ? 'a' - '0' - 10 : 0));
}

/// Returns the value of a digit, and anything for another character.
constexpr uint8_t ValueOf(char digit) {
  return static_cast<uint8_t>((digit & 0x0F) + (digit >= 'A' ? 9 : 0));
}

/// Returns 0 for a hex digit.
constexpr uint8_t Fault(char c) {
  const auto decimal = static_cast<uint8_t>(c - '0');
  const auto letter = static_cast<uint8_t>((c | 0x20) - 'a');
  return static_cast<uint8_t>((decimal > 9) & (letter > 5));
}

}  // namespace hex

/// Appends two lower-case hex digits per byte.
inline void AppendHex(std::string& out, Bytes bytes) {
  const size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* const digits = out.data() + start;
  for (size_t i = 0; i < bytes.size(); ++i) {
    digits[2 * i] = hex::DigitOf(bytes[i] >> 4);
    digits[2 * i + 1] = hex::DigitOf(bytes[i] & 0x0F);
  }
}

/// Appends the bytes that `digits` encode, or nothing if it is malformed. @return true if it did
inline bool DecodeHex(std::string_view digits, std::string& out) {
  if (digits.size() % 2 != 0) return false;
  const size_t start = out.size();
  out.resize(start + digits.size() / 2);
  char* const bytes = out.data() + start;
  uint8_t fault = 0;
  for (size_t i = 0; i < digits.size() / 2; ++i) {
    const char high = digits[2 * i];
    const char low = digits[2 * i + 1];
    fault = static_cast<uint8_t>(fault | hex::Fault(high) | hex::Fault(low));
    bytes[i] = static_cast<char>(hex::ValueOf(high) << 4 | hex::ValueOf(low));
  }
  if (fault != 0) out.resize(start);
  return fault == 0;
}

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_HEX_H_
