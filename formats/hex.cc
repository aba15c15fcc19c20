#include "formats/hex.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace ringscope {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

/// Both digits of each byte.
constexpr auto kPairs = [] {
  std::array<char, 512> pairs{};
  for (size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = kDigits[i >> 4];
    pairs[2 * i + 1] = kDigits[i & 15];
  }
  return pairs;
}();

constexpr uint8_t kNoDigit = 0xFF;

constexpr auto kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (uint8_t i = 0; i < 10; ++i) values[static_cast<size_t>('0' + i)] = i;
  for (uint8_t i = 0; i < 6; ++i) {
    values[static_cast<size_t>('a' + i)] = static_cast<uint8_t>(10 + i);
    values[static_cast<size_t>('A' + i)] = static_cast<uint8_t>(10 + i);
  }
  return values;
}();

uint8_t ValueOf(char digit) { return kValues[static_cast<uint8_t>(digit)]; }

}  // namespace

void AppendHex(std::string& out, Bytes bytes) {
  const size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* to = out.data() + start;
  for (const uint8_t byte : bytes) {
    std::memcpy(to, &kPairs[2 * size_t{byte}], 2);
    to += 2;
  }
}

bool DecodeHex(std::string_view hex, std::string& out) {
  if (hex.size() % 2 != 0) return false;
  const size_t start = out.size();
  out.resize(start + hex.size() / 2);
  char* to = out.data() + start;
  uint8_t seen = 0;  // every digit's value: has its top bit once one was none
  for (size_t i = 0; i < hex.size(); i += 2) {
    const uint8_t high = ValueOf(hex[i]);
    const uint8_t low = ValueOf(hex[i + 1]);
    seen = static_cast<uint8_t>(seen | high | low);
    *to++ = static_cast<char>(high << 4 | low);
  }
  if ((seen & 0x80) == 0) return true;
  out.resize(start);
  return false;
}

}  // namespace ringscope
