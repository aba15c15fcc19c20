// Writes the recorded sessions of testdata as commit logs, which take a third less time to read.
//   import_captures FROM TO      FROM/NAME/session.ops.jsonl.zst as TO/NAME.tblog

#include <fmt/format.h>

#include <filesystem>

#include "formats/inputs/open_log.h"
#include "formats/io/output_file.h"
#include "formats/log/commit_log_writer.h"

namespace {

namespace fs = std::filesystem;
using ringscope::Status;

Status Import(const fs::path& from, const fs::path& to) {
  RS_ASSIGN_OR_RETURN(const auto log, ringscope::OpenLog(from.string()));
  RS_ASSIGN_OR_RETURN(
      const auto file,
      ringscope::OutputFile::Create(to.string(), ringscope::kLogOutput, ringscope::Replace::kAny));
  RS_ASSIGN_OR_RETURN(const auto writer, ringscope::CommitLogWriter::Create(*file));
  RS_RETURN_IF_ERROR(writer->Append({.time_ns = {}, .body = ringscope::ImportHeader()}));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<ringscope::Op> op, log->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(writer->Append(*op));
  }
  RS_RETURN_IF_ERROR(writer->Close());
  return file->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: import_captures FROM TO\n");
    return 2;
  }
  fs::create_directories(argv[2]);
  for (const auto& capture : fs::directory_iterator(argv[1])) {
    const fs::path log = fs::path(argv[2]) / (capture.path().filename().string() + ".tblog");
    if (const Status done = Import(capture.path() / "session.ops.jsonl.zst", log); !done) {
      fmt::print(stderr, "import_captures: {}\n", done.error().ToString());
      return 1;
    }
  }
  return 0;
}
