// Archives of any bytes, and the traces in them: no crash, bounded memory.

#include "formats/inputs/input_kind.h"
#include "formats/trace/trace_file_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto members = ringscope::MembersOf(
      ringscope::MakeMemorySource(std::string(reinterpret_cast<const char*>(data), size)));
  if (!members) return 0;
  for (const ringscope::ArchiveMember& member : *members) {
    if (!member.is_trace()) continue;
    if (auto source = member.open())
      static_cast<void>(ringscope::ScanTraceFile(*std::move(source)));
  }
  return 0;
}
