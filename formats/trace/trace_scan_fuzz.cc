// Any bytes scanned as a trace and judged: no crash, and figures that agree with each other.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/examine/examination.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

void Check(const TraceFacts& facts) {
  for (const TraceSequence& sequence : facts.sequences)
    if (sequence.skipped > sequence.needing || sequence.needing > sequence.all.packets)
      std::abort();
  const Examination diagnosis = ExamineTrace(facts);
  if (diagnosis.answer.headline.empty()) std::abort();
  for (const Finding& finding : diagnosis.findings)
    if (finding.what.empty() || finding.harm == Harm::kOk) std::abort();
  for (const StatRow& row : diagnosis.counters)
    if (row.value == 0 || row.severity == StatSeverity::kInfo) std::abort();
}

}  // namespace
}  // namespace ringscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;
  const auto scanned =
      ScanTraceFile(MakeMemorySource(std::string(reinterpret_cast<const char*>(data), size)));
  if (!scanned) return 0;
  if (scanned->sessions.empty()) std::abort();
  for (const TraceFacts& facts : scanned->sessions) Check(facts);
  return 0;
}
