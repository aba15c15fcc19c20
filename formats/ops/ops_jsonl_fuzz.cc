// Whatever parses as a line of operations must format to a line that parses to the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/ops/ops_jsonl.h"
#include "formats/testing/same_op.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto reader = MakeOpsReader(MakeMemorySource(text), LogFormat::kOps);
  while (true) {
    const auto op = reader->Next();
    if (!op || !*op) return 0;
    std::string storage;
    const auto again = ParseOp(FormatOp(**op), storage);
    if (!again || !testing::SameOp(**op, *again)) std::abort();
  }
}
