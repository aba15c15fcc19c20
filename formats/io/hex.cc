#include "formats/io/hex.h"

#include <cstdint>

namespace ringscope {
namespace {

// Without tables and branches, so that compilers make loops of these that take many digits at once.

constexpr uint8_t DigitOf(uint8_t nibble) {
  return static_cast<uint8_t>(nibble + '0' + (nibble > 9 ? 'a' - '0' - 10 : 0));
}

/// Of a digit; of anything else it means nothing.
constexpr uint8_t ValueOf(uint8_t digit) {
  return static_cast<uint8_t>((digit & 0x0F) + (digit >= 'A' ? 9 : 0));
}

/// 0 for a hex digit.
constexpr uint8_t Fault(uint8_t c) {
  const auto decimal = static_cast<uint8_t>(c - '0');
  const auto letter = static_cast<uint8_t>((c | 0x20) - 'a');
  return static_cast<uint8_t>((decimal > 9) & (letter > 5));
}

void Encode(const uint8_t* __restrict from, size_t count, uint8_t* __restrict to) {
  for (size_t i = 0; i < count; ++i) {
    to[2 * i] = DigitOf(from[i] >> 4);
    to[2 * i + 1] = DigitOf(from[i] & 0x0F);
  }
}

/// @return 0 if all were digits
uint8_t Decode(const uint8_t* __restrict from, size_t count, uint8_t* __restrict to) {
  uint8_t fault = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t high = from[2 * i];
    const uint8_t low = from[2 * i + 1];
    fault = static_cast<uint8_t>(fault | Fault(high) | Fault(low));
    to[i] = static_cast<uint8_t>(ValueOf(high) << 4 | ValueOf(low));
  }
  return fault;
}

}  // namespace

void AppendHex(std::string& out, Bytes bytes) {
  const size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  Encode(bytes.data(), bytes.size(), reinterpret_cast<uint8_t*>(out.data()) + start);
}

bool DecodeHex(std::string_view hex, std::string& out) {
  if (hex.size() % 2 != 0) return false;
  const size_t start = out.size();
  out.resize(start + hex.size() / 2);
  const auto* digits = reinterpret_cast<const uint8_t*>(hex.data());
  if (Decode(digits, hex.size() / 2, reinterpret_cast<uint8_t*>(out.data()) + start) == 0)
    return true;
  out.resize(start);
  return false;
}

}  // namespace ringscope
