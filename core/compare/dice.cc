#include "core/compare/dice.h"

#include <array>

namespace ringscope {
namespace {

/// The Mersenne Twister MT19937: the same numbers everywhere for the same seed, and no source of
/// other ones.
class MersenneTwister {
 public:
  explicit MersenneTwister(uint32_t seed) {
    state_[0] = seed;
    for (uint32_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }
  uint32_t Next() {
    if (next_ == kSize) Twist();
    uint32_t number = state_[next_++];
    number ^= number >> 11;
    number ^= number << 7 & 0x9D2C5680u;
    number ^= number << 15 & 0xEFC60000u;
    return number ^ number >> 18;
  }

 private:
  static constexpr uint32_t kSize = 624, kShift = 397;

  void Twist() {
    for (uint32_t i = 0; i < kSize; ++i) {
      const uint32_t both = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7FFFFFFFu);
      state_[i] = state_[(i + kShift) % kSize] ^ both >> 1 ^ (both % 2 == 0 ? 0 : 0x9908B0DFu);
    }
    next_ = 0;
  }

  std::array<uint32_t, kSize> state_;
  uint32_t next_ = kSize;
};

}  // namespace

Dice SeededDice(uint32_t seed) {
  return [random = MersenneTwister(seed)]() mutable { return random.Next(); };
}

Dice InputDice(Bytes input) {
  return [input, at = size_t{0}]() mutable -> uint32_t {
    uint32_t number = 0;
    // Two bytes decide all that is drawn here.
    for (int i = 0; i < 2 && at < input.size(); ++i) number = number << 8 | input[at++];
    return number;
  };
}

}  // namespace ringscope
