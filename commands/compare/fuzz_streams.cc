// The streams of fuzz, on all threads.

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "commands/compare/fuzz.h"
#include "commands/plugin/guard.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Time for minimizing a finding.
constexpr std::chrono::seconds kMinimizingAFinding{60};
constexpr std::chrono::milliseconds kProgressPeriod{200};

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
  const auto start = SteadyClock::now();
  SteadyClock::time_point next_line;
  const auto show_progress = [&] {
    const auto now = SteadyClock::now();
    if (!console.shows_progress() || now < next_line) return;
    next_line = now + kProgressPeriod;
    console.ShowProgressLine(
        fmt::format("fuzzing: {}{}, {}", Count(result.streams, "stream"),
                    args.streams ? fmt::format(" of {}", Count(*args.streams, "stream")) : "",
                    Count(result.findings.size(), "finding")));
  };
  std::mutex mutex;  // for all of these
  std::condition_variable changed;
  uint64_t begun = 0;
  bool is_over = false;
  std::map<uint64_t, Findings> done;  // by stream, until they are taken

  const auto may_begin = [&] {
    return !is_over && (!args.streams || begun < *args.streams) &&
           (!args.time_ns || SteadyClock::now() - start < std::chrono::nanoseconds(*args.time_ns));
  };
  const auto run_one = [&](std::unique_lock<std::mutex>& lock) {
    const uint64_t stream = begun++;
    lock.unlock();
    const auto seed = static_cast<uint32_t>(args.seed + stream);
    NotePluginWork(fmt::format("the stream of seed {}", seed));
    Findings findings = FuzzSeed(plan, seed);
    lock.lock();
    done.emplace(stream, std::move(findings));
    changed.notify_all();
  };
  std::vector<std::thread> threads;
  try {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < (context.threads != 0 ? context.threads : cores); ++i) {
      threads.emplace_back([&] {
        std::unique_lock lock(mutex);
        while (may_begin()) run_one(lock);
      });
    }
  } catch (const std::system_error&) {
    // The system has no more threads: those that were started do the work, or this one.
  }

  std::unique_lock lock(mutex);
  while (!result.at_limit) {
    if (threads.empty() && may_begin()) run_one(lock);
    const auto next = done.extract(result.streams);
    if (!next) {
      if (begun == result.streams && !may_begin()) break;
      changed.wait_for(lock, kProgressPeriod);
      show_progress();
      continue;
    }
    const auto seed = static_cast<uint32_t>(args.seed + result.streams++);
    result.operations += OperationsOf(plan, seed);
    result.differing += next.mapped().empty() ? 0 : 1;
    for (FuzzFinding& finding : next.mapped())
      AddFinding(std::move(finding), seed, args.findings, result);
    show_progress();
    result.at_limit = result.findings.size() >= args.findings;
  }
  is_over = true;
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
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
