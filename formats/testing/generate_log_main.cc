// generate_log [--sparse] OUT.tblog [BYTES [WRITERS [BUFFER_BYTES]]]: writes a made-up log, for
// measurements. With --sparse it has BYTES in all, but is mostly a hole.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "formats/log/commit_log_writer.h"
#include "formats/testing/generate_log.h"
#include "formats/testing/sparse_log.h"

namespace {

using ringscope::Status;

Status WriteLog(const char* path, const ringscope::testing::GeneratedLog& log) {
  RS_ASSIGN_OR_RETURN(const auto file, ringscope::OutputFile::Create(path, ringscope::kLogOutput,
                                                                     ringscope::Replace::kAny));
  RS_RETURN_IF_ERROR(ringscope::testing::GenerateLog(log, *file));
  return file->Commit();
}

Status WriteSparseLog(const char* path, const ringscope::testing::SparseLog& log) {
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](uint64_t offset, ringscope::Bytes bytes) -> Status {
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (file) return {};
    return ringscope::Fail(ringscope::ErrorCode::kIo, "cannot write", {path, offset, {}});
  };
  RS_RETURN_IF_ERROR(ringscope::testing::GenerateSparseLog(log, write));
  file.close();
  if (file) return {};
  return ringscope::Fail(ringscope::ErrorCode::kIo, "cannot write", {path, {}, {}});
}

}  // namespace

int main(int argc, char** argv) {
  const bool sparse = argc > 1 && std::string_view(argv[1]) == "--sparse";
  char** const args = argv + (sparse ? 1 : 0);
  const int count = argc - (sparse ? 1 : 0);
  if (count < 2 || args[1][0] == '-' || (sparse && count > 3)) {
    fmt::print(stderr,
               "usage: generate_log OUT.tblog [BYTES [WRITERS [BUFFER_BYTES]]]\n"
               "       generate_log --sparse OUT.tblog [BYTES]\n");
    return 2;
  }
  const auto number = [&](int at, uint64_t otherwise) {
    return count > at ? std::strtoull(args[at], nullptr, 10) : otherwise;
  };
  Status done;
  if (sparse) {
    ringscope::testing::SparseLog log;
    log.file_bytes = number(2, log.file_bytes);
    done = WriteSparseLog(args[1], log);
  } else {
    ringscope::testing::GeneratedLog log;
    log.chunk_bytes = number(2, log.chunk_bytes);
    log.writers = static_cast<uint32_t>(number(3, log.writers));
    log.buffer_size = number(4, log.buffer_size);
    done = WriteLog(args[1], log);
  }
  if (!done) {
    fmt::print(stderr, "generate_log: {}\n", done.error().ToString());
    return 1;
  }
}
