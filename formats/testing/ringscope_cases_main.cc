// Runs the generated test cases of testdata/cases/gtest-ringscope. RINGSCOPE_CASE_ENGINE names an
// engine that takes the place of theirs.

#include <cstdlib>

#include "core/testing/chunk_dsl.h"

namespace ringscope::testing {
namespace {

inline std::string EngineInstead(std::string_view engine) {
  const char* const other = std::getenv("RINGSCOPE_CASE_ENGINE");
  return other != nullptr ? other : std::string(engine);
}

}  // namespace
}  // namespace ringscope::testing

#define On(engine, ...) On(EngineInstead(engine), __VA_ARGS__)
#include RS_CASES
#undef On

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
