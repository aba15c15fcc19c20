// Files of events and traces of any bytes, compared with themselves: no crash, and no difference.

#include <cstdlib>

#include "core/base/wire.h"
#include "formats/inputs/result_reader.h"

namespace {

void CompareWithItself(const ringscope::Result<ringscope::ReplayOutput>& file) {
  if (!file) return;
  const auto diff = ringscope::DiffOutputs(*file, *file, 4);
  if (!diff || !diff->Same()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(ringscope::wire::AsText({data, size}));
  CompareWithItself(ringscope::ReadEvents(ringscope::MakeMemorySource(bytes)));
  CompareWithItself(ringscope::ReadTraceResults(ringscope::MakeMemorySource(bytes)));
  return 0;
}
