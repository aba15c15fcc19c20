// Zip archives of any bytes, and the traces in them: no crash, bounded memory.

#include "formats/inputs/input_kind.h"
#include "formats/io/output_file.h"
#include "formats/trace/trace_file_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = ringscope::TemporaryFile::Create();
  if (!file || !(*file)->Write(ringscope::Bytes(data, size))) return 0;
  auto archive = ringscope::ZipArchive::Open((*file)->OwnName(), "archive");
  if (!archive) return 0;
  for (const ringscope::ZipMember& member : ringscope::FindTraces(*archive)) {
    auto source = archive->OpenMember(member);
    if (!source) continue;
    static_cast<void>(ringscope::ScanTraceFile(*std::move(source)));
  }
  return 0;
}
