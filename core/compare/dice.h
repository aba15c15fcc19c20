#ifndef RINGSCOPE_CORE_COMPARE_DICE_H_
#define RINGSCOPE_CORE_COMPARE_DICE_H_

#include <cstdint>
#include <functional>

#include "core/perfetto/chunk.h"

namespace ringscope {

/// Where random choices come from: a seed, or a fuzzer's input.
using Dice = std::function<uint32_t()>;
/// The same numbers everywhere for the same seed.
Dice SeededDice(uint32_t seed);
/// The input's bytes, then zeros. The input must outlive it.
Dice InputDice(Bytes input);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DICE_H_
