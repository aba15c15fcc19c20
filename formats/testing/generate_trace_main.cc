// generate_trace OUT.pftrace [BYTES [SEQUENCES [time|sequences [plain|compressed]]]]: writes a
// made-up trace, for measurements.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/testing/generate_trace.h"
#include "formats/trace/perfetto_trace.h"

namespace {

ringscope::Status Run(const char* path, const ringscope::testing::GeneratedTrace& trace) {
  RS_ASSIGN_OR_RETURN(const auto file, ringscope::OutputFile::Create(path, ringscope::kTraceOutput,
                                                                     ringscope::Replace::kAny));
  RS_RETURN_IF_ERROR(ringscope::testing::GenerateTrace(trace, *file));
  return file->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    fmt::print(stderr,
               "usage: generate_trace OUT.pftrace "
               "[BYTES [SEQUENCES [time|sequences [plain|compressed]]]]\n");
    return 2;
  }
  ringscope::testing::GeneratedTrace trace;
  if (argc > 2) trace.packet_bytes = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) trace.sequences = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  if (argc > 4) trace.sequence_by_sequence = std::string_view(argv[4]) == "sequences";
  if (argc > 5) trace.compressed = std::string_view(argv[5]) == "compressed";
  if (const auto done = Run(argv[1], trace); !done) {
    fmt::print(stderr, "generate_trace: {}\n", done.error().ToString());
    return 1;
  }
}
