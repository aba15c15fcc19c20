#include "commands/compare/campaign.h"

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "commands/shell/text.h"
#include "core/compare/explain.h"

namespace ringscope {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Seeds that a thread takes at a time, at most: what it has found of them is added as a whole, in
/// order.
constexpr uint64_t kBlock = 64;

/// How long a finding may be minimized.
constexpr std::chrono::seconds kMinimizingAFinding{60};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A finding, and the seed of its stream.
struct SeededFinding {
  uint32_t seed = 0;
  FuzzFinding finding;
};

/// Buffers are made and dropped all the time: memory that was used once is kept.
void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kLarge = 1 << 28;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
#endif
}

/// What the streams of a block gave.
struct BlockResult {
  std::vector<SeededFinding> findings;
  FuzzCoverage coverage;
  uint64_t streams = 0;
  uint64_t operations = 0;
  uint64_t differing = 0;
  double cpu_seconds = 0;
};

/// Threads that take one block of seeds after the other.
class BlockWorkers {
 public:
  BlockWorkers(const FuzzPlan& plan, const CampaignLimits& limits, unsigned threads)
      : plan_(plan), limits_(limits), start_(SteadyClock::now()) {
    try {
      for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // The system has no more threads: those that were started do the work, or Next.
    }
  }
  ~BlockWorkers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  /// The next block's result, in the order of the seeds; nullopt: there is none.
  /// @param wait how long; then `waited` is called, and so on
  template <typename Waited>
  std::optional<BlockResult> Next(std::chrono::milliseconds wait, Waited waited) {
    if (threads_.empty()) {
      if (IsLast(next_block_)) return std::nullopt;
      return Run(next_block_++);
    }
    std::unique_lock lock(mutex_);
    while (true) {
      if (const auto done = results_.find(next_result_); done != results_.end()) {
        BlockResult result = std::move(done->second);
        results_.erase(done);
        ++next_result_;
        return result;
      }
      if (finished_ == threads_.size()) return std::nullopt;
      if (changed_.wait_for(lock, wait) == std::cv_status::timeout) waited();
    }
  }

 private:
  /// The number of seeds before a block. With a limit of time, blocks grow (16 of 1 seed, 16 of 4,
  /// 16 of 16), so that it holds where each stream takes long, too.
  uint64_t SeedsBefore(uint64_t block) const {
    constexpr uint64_t kOfASize = 16;
    uint64_t seeds = 0;
    for (uint64_t size = limits_.time_ns ? 1 : kBlock; size < kBlock; size *= 4) {
      if (block < kOfASize) return seeds + block * size;
      block -= kOfASize;
      seeds += kOfASize * size;
    }
    return seeds + block * kBlock;
  }

  bool IsLast(uint64_t block) const {
    if (limits_.streams && SeedsBefore(block) >= *limits_.streams) return true;
    return limits_.time_ns &&
           SteadyClock::now() - start_ >= std::chrono::nanoseconds(*limits_.time_ns);
  }

  void Work() {
    while (!stop_) {
      uint64_t block = 0;
      {
        // A block that is taken is done, so that there is no hole before another.
        const std::lock_guard lock(mutex_);
        if (IsLast(next_block_)) break;
        block = next_block_++;
      }
      BlockResult result = Run(block);
      const std::lock_guard lock(mutex_);
      results_.emplace(block, std::move(result));
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    ++finished_;
    changed_.notify_all();
  }

  BlockResult Run(uint64_t block) const {
    BlockResult result;
    const double begin = ThreadSeconds();
    const uint64_t end = std::min(limits_.streams.value_or(UINT64_MAX), SeedsBefore(block + 1));
    for (uint64_t n = SeedsBefore(block); n < end; ++n) {
      const auto seed = limits_.first_seed + static_cast<uint32_t>(n);
      StreamResult stream = FuzzSeed(plan_, seed);
      result.coverage += stream.coverage;
      result.operations += stream.operations;
      ++result.streams;
      result.differing += stream.findings.empty() ? 0 : 1;
      for (FuzzFinding& finding : stream.findings)
        result.findings.push_back({seed, std::move(finding)});
    }
    result.cpu_seconds = ThreadSeconds() - begin;
    return result;
  }

  const FuzzPlan& plan_;
  const CampaignLimits& limits_;
  const SteadyClock::time_point start_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_block_ = 0;
  uint64_t next_result_ = 0;
  size_t finished_ = 0;
  std::map<uint64_t, BlockResult> results_;
  std::vector<std::thread> threads_;
};

class Campaign {
 public:
  Campaign(const FuzzPlan& plan, const CampaignLimits& limits, Context& context)
      : plan_(plan), limits_(limits), context_(context) {}

  CampaignResult Run(const std::vector<CorpusStream>& corpus) {
    for (const CorpusStream& stream : corpus) AddCorpus(stream);
    RunSeeds();
    Minimize(corpus);
    context_.console.ShowProgressLine("");
    return std::move(result_);
  }

 private:
  void Add(FuzzFinding finding, std::optional<uint32_t> seed, const std::string& file) {
    auto known = std::find_if(
        result_.findings.begin(), result_.findings.end(),
        [&](const CampaignFinding& other) { return other.first.cause == finding.cause; });
    if (known == result_.findings.end()) {
      if (result_.findings.size() >= limits_.findings) return;  // of the block that reached it
      result_.findings.push_back(
          {.first = std::move(finding), .seed = seed, .corpus_file = file, .smallest = {}});
      known = result_.findings.end() - 1;
    }
    ++known->streams;
  }

  void AddCorpus(const CorpusStream& stream) {
    StreamResult found = FuzzStream(plan_, stream.stream);
    ++result_.corpus_streams;
    result_.operations += found.operations;
    result_.coverage += found.coverage;
    result_.differing += found.findings.empty() ? 0 : 1;
    for (FuzzFinding& finding : found.findings) Add(std::move(finding), {}, stream.path);
  }

  bool IsAtLimit() const { return result_.findings.size() >= limits_.findings; }

  void RunSeeds() {
    if (IsAtLimit()) {
      result_.at_limit = true;
      return;
    }
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    BlockWorkers workers(plan_, limits_, context_.threads != 0 ? context_.threads : cores);
    const auto start = SteadyClock::now();
    while (auto block =
               workers.Next(std::chrono::milliseconds(200), [&] { ShowProgress(start); })) {
      result_.coverage += block->coverage;
      result_.streams += block->streams;
      result_.operations += block->operations;
      result_.differing += block->differing;
      result_.cpu_seconds += block->cpu_seconds;
      for (SeededFinding& found : block->findings) Add(std::move(found.finding), found.seed, {});
      ShowProgress(start);
      if (IsAtLimit()) {
        result_.at_limit = true;
        return;
      }
    }
  }

  void ShowProgress(SteadyClock::time_point start) {
    const auto now = SteadyClock::now();
    if (!context_.console.shows_progress() || now < next_line_) return;
    next_line_ = now + std::chrono::milliseconds(200);
    const double seconds = std::chrono::duration<double>(now - start).count();
    context_.console.ShowProgressLine(fmt::format(
        "fuzzing: {}{}, {} per second, {}", Count(result_.streams, "stream"),
        limits_.streams ? fmt::format(" of {}", Count(*limits_.streams, "stream")) : "",
        static_cast<uint64_t>(static_cast<double>(result_.streams) / std::max(seconds, 0.001)),
        Count(result_.findings.size(), "finding")));
  }

  void Minimize(const std::vector<CorpusStream>& corpus) {
    for (size_t i = 0; i < result_.findings.size(); ++i) {
      CampaignFinding& finding = result_.findings[i];
      if (context_.console.shows_progress()) {
        context_.console.ShowProgressLine(
            fmt::format("minimizing finding {} of {}", i + 1, result_.findings.size()));
      }
      PlainStream stream;
      if (finding.seed) {
        stream = StreamOfSeed(plan_, *finding.seed);
      } else {
        stream = std::find_if(corpus.begin(), corpus.end(), [&](const CorpusStream& of_corpus) {
                   return of_corpus.path == finding.corpus_file;
                 })->stream;
      }
      const auto end = SteadyClock::now() + kMinimizingAFinding;
      finding.smallest = Smallest(plan_, finding.first, std::move(stream),
                                  [end] { return SteadyClock::now() >= end; });
      const Oracle oracle = finding.first.mismatch.oracle;
      if (oracle != Oracle::kLedger && oracle != Oracle::kLosses)
        finding.shown = FirstFinding(plan_, finding.smallest);
      finding.text = finding.shown ? finding.shown->mismatch.text
                                   : TextOf(plan_, finding.first, finding.smallest);
    }
  }

  const FuzzPlan& plan_;
  const CampaignLimits& limits_;
  Context& context_;
  CampaignResult result_;
  SteadyClock::time_point next_line_;
};

}  // namespace

CampaignResult RunCampaign(const FuzzPlan& plan, const CampaignLimits& limits,
                           const std::vector<CorpusStream>& corpus, Context& context) {
  KeepFreedMemory();
  return Campaign(plan, limits, context).Run(corpus);
}

}  // namespace ringscope
