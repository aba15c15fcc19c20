#include "core/base/sha256.h"

#include <bit>

namespace ringscope {
namespace {

constexpr size_t kBlock = 64;  // bytes

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRoots = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

void AddBlock(std::string_view block, std::array<uint32_t, 8>& state) {
  std::array<uint32_t, 64> words{};
  for (size_t i = 0; i < 16; ++i)
    words[i] = ByteAt(block, 4 * i) << 24 | ByteAt(block, 4 * i + 1) << 16 |
               ByteAt(block, 4 * i + 2) << 8 | ByteAt(block, 4 * i + 3);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & f) ^ (~e & g)) + kRoots[i] + words[i];
    const uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const std::array<uint32_t, 8> after = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += after[i];
}

}  // namespace

std::array<uint8_t, 32> Sha256(std::string_view bytes) {
  // The fractions of the square roots of the first eight primes.
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock))
    AddBlock(bytes.substr(0, kBlock), state);
  std::string last(bytes);
  last += '\x80';
  while (last.size() % kBlock != kBlock - 8) last += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) last += static_cast<char>(bits >> shift & 0xFF);
  for (std::string_view rest = last; !rest.empty(); rest.remove_prefix(kBlock))
    AddBlock(rest.substr(0, kBlock), state);
  std::array<uint8_t, 32> digest{};
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xFF);
  return digest;
}

std::string Sha256Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::array<uint8_t, 32> digest = Sha256(bytes);
  std::string text;
  for (size_t i = 0; i < digest.size(); i += 3) {
    const size_t left = digest.size() - i;
    const uint32_t three = uint32_t{digest[i]} << 16 |
                           (left > 1 ? uint32_t{digest[i + 1]} << 8 : 0) |
                           (left > 2 ? uint32_t{digest[i + 2]} : 0);
    for (size_t digit = 0; digit < 4; ++digit)
      text += digit <= left ? kDigits[three >> (18 - 6 * digit) & 63] : '=';
  }
  return text;
}

}  // namespace ringscope
