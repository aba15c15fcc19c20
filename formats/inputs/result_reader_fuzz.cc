// Traces of any bytes, compared with themselves: no crash, and no difference.

#include <cstdlib>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;
  const auto file = ReadTraceResults(MakeMemorySource(std::string(wire::AsText({data, size}))));
  if (!file) return 0;
  const auto diff = DiffOutputs(*file, *file, 4);
  if (!diff || !diff->Same()) std::abort();
  return 0;
}
