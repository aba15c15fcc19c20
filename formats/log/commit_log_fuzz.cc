// Reads any bytes as a log. What can be read is written as a commit log, which must read back equal
// and free of damage, and be written the same again.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/string_sink.h"

namespace {

using namespace ringscope;

constexpr size_t kFrameBytes = 4096;

/// Opens bytes as a log; nullptr if they are none.
std::unique_ptr<LogSource> Open(std::string bytes) {
  auto log = OpenLog(MakeMemorySource(std::move(bytes)));
  return log ? std::move(*log) : nullptr;
}

/// Copies a log to a new one, as far as it can be read.
std::string Copy(LogSource& log) {
  StringSink sink;
  auto writer = CommitLogWriter::Create(sink, {.level = 1, .frame_bytes = kFrameBytes});
  if (!writer) std::abort();
  bool started = false;
  for (;;) {
    const auto op = log.Next();
    if (!op || !*op) break;
    if (!started && !std::holds_alternative<LogHeader>((*op)->body)) {
      if (!(*writer)->Append(Op{{}, ImportHeader()})) std::abort();
    }
    started = true;
    const Status status = (*writer)->Append(**op);
    // A text may hold a header of a version that cannot be written.
    if (!status && status.error().code != ErrorCode::kUnsupported) std::abort();
    if (!status) break;
  }
  if (!(*writer)->Close()) std::abort();
  return sink.text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::unique_ptr<LogSource> log =
      Open(std::string(reinterpret_cast<const char*>(data), size));
  if (!log) return 0;
  const std::string first = Copy(*log);
  const std::unique_ptr<LogSource> written = Open(first);
  if (!written) std::abort();
  const std::string second = Copy(*written);
  // Equal bytes mean equal records: the writer is deterministic.
  if (written->damage_count() > 0 || second != first) std::abort();
  return 0;
}
