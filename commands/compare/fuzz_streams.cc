// The streams of fuzz, on all threads.

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
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
using std::chrono::milliseconds;

/// Time for minimizing a finding.
constexpr std::chrono::seconds kMinimizingAFinding{60};

struct SeedResult {
  std::vector<FuzzFinding> findings;
  uint64_t operations = 0;
};

/// Threads that take one seed after the other.
class SeedWorkers {
 public:
  SeedWorkers(const FuzzPlan& plan, const FuzzArgs& args, unsigned threads)
      : plan_(plan), args_(args), start_(SteadyClock::now()) {
    try {
      for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // The system has no more threads: those that were started do the work, or Next.
    }
  }
  ~SeedWorkers() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// The next seed's result, in order; nullopt: there is none.
  /// @param waited called while it takes time
  template <typename Waited>
  std::optional<SeedResult> Next(Waited waited) {
    if (threads_.empty()) return IsLast(next_) ? std::nullopt : std::optional(Run(next_++));
    std::unique_lock lock(mutex_);
    while (true) {
      if (auto done = results_.extract(next_result_)) {
        ++next_result_;
        changed_.notify_all();
        return std::move(done.mapped());
      }
      if (finished_ == threads_.size()) return std::nullopt;
      if (changed_.wait_for(lock, milliseconds(200)) == std::cv_status::timeout) waited();
    }
  }

 private:
  /// Results that wait for an earlier one, at most.
  static constexpr uint64_t kMostAhead = 4096;

  bool IsLast(uint64_t stream) const {
    if (args_.streams && stream >= *args_.streams) return true;
    return args_.time_ns && SteadyClock::now() - start_ >= std::chrono::nanoseconds(*args_.time_ns);
  }
  SeedResult Run(uint64_t stream) const {
    const auto seed = static_cast<uint32_t>(args_.seed + stream);
    NotePluginWork(fmt::format("the stream of seed {}", seed));
    return {FuzzSeed(plan_, seed), OperationsOf(plan_, seed)};
  }
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || next_ < next_result_ + kMostAhead; });
      // A seed that is taken is done, so that there is no hole before another.
      if (stop_ || IsLast(next_)) break;
      const uint64_t stream = next_++;
      lock.unlock();
      SeedResult result = Run(stream);
      lock.lock();
      results_.emplace(stream, std::move(result));
      changed_.notify_all();
    }
    ++finished_;
    changed_.notify_all();
  }

  const FuzzPlan& plan_;
  const FuzzArgs& args_;
  const SteadyClock::time_point start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  uint64_t next_ = 0;
  uint64_t next_result_ = 0;
  size_t finished_ = 0;
  std::map<uint64_t, SeedResult> results_;
  std::vector<std::thread> threads_;
};

void AddFinding(FuzzFinding finding, uint32_t seed, uint64_t most, FuzzResult& result) {
  const auto known = std::ranges::find_if(result.findings, [&](const KnownFinding& other) {
    return other.first.cause == finding.cause;
  });
  if (known != result.findings.end()) {
    ++known->streams;
    return;
  }
  if (result.findings.size() >= most) return;  // of the seed that reached it
  KnownFinding& added = result.findings.emplace_back();
  added.first = std::move(finding);
  added.streams = 1;
  added.seed = seed;
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
    next_line = now + milliseconds(200);
    const double seconds = std::chrono::duration<double>(now - start).count();
    console.ShowProgressLine(fmt::format(
        "fuzzing: {}{}, {} per second, {}", Count(result.streams, "stream"),
        args.streams ? fmt::format(" of {}", Count(*args.streams, "stream")) : "",
        static_cast<uint64_t>(static_cast<double>(result.streams) / std::max(seconds, 0.001)),
        Count(result.findings.size(), "finding")));
  };
  {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    SeedWorkers workers(plan, args, context.threads != 0 ? context.threads : cores);
    while (auto of_seed = workers.Next(show_progress)) {
      const auto seed = static_cast<uint32_t>(args.seed + result.streams);
      ++result.streams;
      result.operations += of_seed->operations;
      result.differing += of_seed->findings.empty() ? 0 : 1;
      for (FuzzFinding& finding : of_seed->findings)
        AddFinding(std::move(finding), seed, args.findings, result);
      show_progress();
      result.at_limit = result.findings.size() >= args.findings;
      if (result.at_limit) break;
    }
  }
  for (KnownFinding& finding : result.findings) {
    if (console.shows_progress())
      console.ShowProgressLine(fmt::format("minimizing {}", finding.first.cause));
    const auto end = SteadyClock::now() + kMinimizingAFinding;
    finding.smallest = Smallest(plan, finding.first, StreamOfSeed(plan, finding.seed),
                                [end] { return SteadyClock::now() >= end; });
    finding.shown = ShownBy(plan, finding.first, finding.smallest);
  }
  console.ShowProgressLine("");
  return result;
}

}  // namespace ringscope
