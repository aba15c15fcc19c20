// generate_log OUT.tblog [BYTES [WRITERS [BUFFER_BYTES]]]: writes a made-up log, for measurements.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "formats/log/commit_log_writer.h"
#include "formats/testing/generate_log.h"

namespace {

ringscope::Status Run(const char* path, const ringscope::testing::GeneratedLog& log) {
  RS_ASSIGN_OR_RETURN(const auto file, ringscope::OutputFile::Create(path, ringscope::kLogOutput,
                                                                     ringscope::Replace::kAny));
  RS_RETURN_IF_ERROR(ringscope::testing::GenerateLog(log, *file));
  return file->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    fmt::print(stderr, "usage: generate_log OUT.tblog [BYTES [WRITERS [BUFFER_BYTES]]]\n");
    return 2;
  }
  ringscope::testing::GeneratedLog log;
  if (argc > 2) log.chunk_bytes = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) log.writers = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  if (argc > 4) log.buffer_size = std::strtoull(argv[4], nullptr, 10);
  if (const auto done = Run(argv[1], log); !done) {
    fmt::print(stderr, "generate_log: {}\n", done.error().ToString());
    return 1;
  }
}
