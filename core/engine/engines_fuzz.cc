// Random streams that the fuzzer's input decides, through all engines: what is true of each, and
// what they have in common, holds. The first byte selects how the writers behave.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "core/testing/engine_agreement.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;
  if (size == 0) return 0;
  const auto conduct = data[0] % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
  size_t at = 1;
  const auto next_number = [&]() -> uint32_t {
    uint32_t number = 0;
    // Two bytes decide all that is drawn here; zeros follow the input.
    for (int i = 0; i < 2 && at < size; ++i) number = number << 8 | data[at++];
    return number;
  };
  testing::WrittenStream stream(next_number, conduct);
  // A step takes some ten bytes; without any left, streams only repeat themselves.
  const int steps = static_cast<int>(size / 8);
  const std::string wrong = testing::CheckAgreement(stream, steps);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
