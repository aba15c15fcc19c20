// Zip archives of any bytes, and the traces in them: no crash, bounded memory.

#include "core/base/wire.h"
#include "formats/inputs/input_kind.h"
#include "formats/trace/trace_file_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto archive = ringscope::ZipArchive::Open(
      ringscope::MakeMemorySource(std::string(ringscope::wire::AsText({data, size}))));
  if (!archive) return 0;
  for (const ringscope::ZipMember& member : ringscope::FindTraces(**archive)) {
    auto source = (*archive)->OpenMember(member);
    if (!source) continue;
    static_cast<void>(ringscope::ScanTraceFile(*std::move(source)));
  }
  return 0;
}
