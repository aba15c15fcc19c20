// The streams of fuzz, on all threads.

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "commands/compare/fuzz.h"
#include "commands/plugin/guard.h"
#include "commands/replays/parallel_tasks.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Time for minimizing a finding.
constexpr std::chrono::seconds kMinimizingAFinding{60};
/// Streams after which findings are gathered and progress is shown.
constexpr uint64_t kStreamsAtOnce = 256;

using Findings = std::vector<FuzzFinding>;

void AddFinding(FuzzFinding finding, uint32_t seed, uint64_t most, FuzzResult& result) {
  const auto known = std::ranges::find(result.findings, finding.Cause(),
                                       [](const KnownFinding& each) { return each.first.Cause(); });
  if (known != result.findings.end()) {
    ++known->streams;
  } else if (result.findings.size() < most) {  // of the seed that reached it, none is left over
    result.findings.push_back({.first = std::move(finding),
                               .streams = 1,
                               .seed = seed,
                               .smallest = {},
                               .written_to = {}});
  }
}

}  // namespace

FuzzResult RunStreams(const FuzzPlan& plan, const FuzzArgs& args, Context& context) {
#ifdef __GLIBC__
  // Buffers are made and dropped all the time: memory that was used once is kept.
  constexpr int kLarge = 1 << 28;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
#endif
  FuzzResult result;
  Console& console = context.console;
  const TaskRunner run_tasks = TasksOnCores(context);
  const auto start = SteadyClock::now();
  const auto in_time = [&] {
    return !args.time_ns || SteadyClock::now() - start < std::chrono::nanoseconds(*args.time_ns);
  };
  const auto seed_of = [&](uint64_t stream) { return static_cast<uint32_t>(args.seed + stream); };
  bool is_over = false;
  while (!is_over) {
    const uint64_t left = args.streams ? *args.streams - result.streams : kStreamsAtOnce;
    std::vector<std::optional<Findings>> found(std::min(left, kStreamsAtOnce));
    const uint64_t first = result.streams;
    run_tasks(found.size(), [&](size_t i) {
      if (!in_time()) return;
      NotePluginWork(fmt::format("the stream of seed {}", seed_of(first + i)));
      found[i] = FuzzSeed(plan, seed_of(first + i));
    });
    size_t taken = 0;
    for (; taken < found.size() && found[taken] && !result.at_limit; ++taken) {
      const uint32_t seed = seed_of(result.streams++);
      result.operations += OperationsOf(plan, seed);
      result.differing += found[taken]->empty() ? 0 : 1;
      for (FuzzFinding& finding : *found[taken])
        AddFinding(std::move(finding), seed, args.findings, result);
      result.at_limit = result.findings.size() >= args.findings;
    }
    is_over = taken < kStreamsAtOnce || result.at_limit;
    if (console.shows_progress())
      console.ShowProgressLine(
          fmt::format("fuzzing: {}{}, {}", Count(result.streams, "stream"),
                      args.streams ? fmt::format(" of {}", Count(*args.streams, "stream")) : "",
                      Count(result.findings.size(), "finding")));
  }
  for (KnownFinding& finding : result.findings) {
    if (console.shows_progress())
      console.ShowProgressLine(fmt::format("minimizing {}", finding.first.Cause()));
    const auto end = SteadyClock::now() + kMinimizingAFinding;
    finding.smallest = Smallest(plan, finding.first, StreamOfSeed(plan, finding.seed),
                                [end] { return SteadyClock::now() >= end; });
  }
  console.ShowProgressLine("");
  return result;
}

}  // namespace ringscope
