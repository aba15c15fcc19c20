// Runs the generated test cases of testdata/cases on the engine that RINGSCOPE_CASE_ENGINE names.

#include "formats/testing/perfetto_fixture.h"

namespace perfetto {
namespace {

#include RS_CASES

}  // namespace
}  // namespace perfetto

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
