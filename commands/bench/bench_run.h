#ifndef RINGSCOPE_COMMANDS_BENCH_BENCH_RUN_H_
#define RINGSCOPE_COMMANDS_BENCH_BENCH_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/plain_stream.h"
#include "core/engine/catalogue.h"

namespace ringscope {

/// What engines are measured with.
struct Workload {
  std::string name;
  PlainStream stream;
};

/// CPU time of one run of a workload through an engine, by what it was spent on.
struct BenchTimes {
  double commit_ns = 0, patch_ns = 0, read_ns = 0;
  std::optional<uint64_t> instructions;  // of all; absent: they may not be counted here

  double all() const { return commit_ns + patch_ns + read_ns; }
};

/// What a workload consists of, for one engine.
struct BenchWork {
  uint64_t commits = 0, patches = 0, reads = 0, packets = 0;
  uint64_t committed_bytes = 0;  // of payloads
  uint64_t packet_bytes = 0;     // that were read
};

/// An engine's measurements of one workload.
struct BenchResult {
  BenchWork work;
  std::vector<BenchTimes> rounds;
  double worst_commit_ns = 0;  // one operation, the least of a few runs
  double worst_read_ns = 0;    // one read pass
  uint64_t heap_bytes = 0;     // held after the last operation

  /// The middle of the rounds.
  double Median(double (*of)(const BenchTimes&)) const;
  /// How far the rounds are apart, for the whole: largest less smallest, by the median.
  double Spread() const;
};

/// Runs an engine through a workload, without measuring. Fails if the engine does.
Status TryWorkload(const Workload& workload, const EngineInfo& engine);

/// Measures the engines in turn, so that what slows the machine down slows all of them.
/// kUnsupported: an engine fails on the workload
/// @param rounds at least 1; three more runs warm up and find the worst operations
Result<std::vector<BenchResult>> RunBench(const Workload& workload,
                                          const std::vector<const EngineInfo*>& engines,
                                          int rounds);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_BENCH_BENCH_RUN_H_
