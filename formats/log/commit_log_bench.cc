// Measures how fast a commit log is written. Compare within one run only.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_reader.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/generate_log.h"
#include "formats/testing/string_sink.h"

namespace ringscope {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{128} << 20;

/// The records of a generated log, whose requests are in `storage`.
struct Records {
  std::vector<std::string> storage;
  std::vector<Op> ops;
  int64_t request_bytes = 0;
};

const Records& GeneratedRecords() {
  static const Records records = [] {
    StringSink log;
    static_cast<void>(testing::GenerateLog({.chunk_bytes = kChunkBytes}, log));
    const auto reader = OpenLog(MakeMemorySource(std::move(log.text))).value();
    Records made;
    while (std::optional<Op> op = reader->Next().value()) {
      std::string request;
      if (const auto* commit = std::get_if<Commit>(&op->body))
        request = wire::AsText(commit->request);
      made.request_bytes += static_cast<int64_t>(request.size());
      made.storage.push_back(std::move(request));
      made.ops.push_back(*std::move(op));
    }
    for (size_t i = 0; i < made.ops.size(); ++i) {
      if (auto* commit = std::get_if<Commit>(&made.ops[i].body))
        commit->request = wire::AsBytes(made.storage[i]);
    }
    return made;
  }();
  return records;
}

/// A file on a disk that is never the limit.
class NullSink : public ByteSink {
 public:
  using ByteSink::Write;
  Status Write(Bytes) override { return {}; }
};

/// At the default level; bytes of raw requests per second.
void BM_WriteLog(benchmark::State& state) {
  const Records& records = GeneratedRecords();
  for (auto _ : state) {
    NullSink sink;
    const auto writer =
        CommitLogWriter::Create(sink, {.threads = static_cast<unsigned>(state.range(0))}).value();
    for (const Op& op : records.ops) static_cast<void>(writer->Append(op));
    static_cast<void>(writer->Close());
  }
  state.SetBytesProcessed(state.iterations() * records.request_bytes);
}
BENCHMARK(BM_WriteLog)
    ->ArgName("threads")
    ->Arg(0)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace ringscope
