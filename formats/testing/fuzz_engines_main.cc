// fuzz_engines [COUNT [FIRST_SEED]]: puts random streams through all engines, on all cores, and
// holds the engines to what they must have in common. Even seeds are correct writers, odd ones
// hostile. A stream that finds something is cut down to what is needed and written as
// engines-SEED.ops.jsonl.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "core/testing/engine_agreement.h"
#include "formats/testing/stream_ops.h"

namespace ringscope::testing {
namespace {

constexpr int kSteps = 200;
constexpr uint64_t kMaxFindings = 10;

class Campaign {
 public:
  Campaign(uint64_t count, uint32_t first) : count_(count), first_(first) {}

  /// @return how many streams found something
  uint64_t Run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    return findings_;
  }
  uint64_t done() const { return std::min<uint64_t>(next_, count_); }

 private:
  void Work() {
    while (findings_ < kMaxFindings) {
      const uint64_t number = next_++;
      if (number >= count_) return;
      const auto seed = first_ + static_cast<uint32_t>(number);
      const Conduct conduct = seed % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
      WrittenStream stream(seed, conduct);
      const std::string wrong = CheckAgreement(stream, kSteps);
      if (!wrong.empty()) Report(seed, conduct, wrong);
    }
  }

  void Report(uint32_t seed, Conduct conduct, const std::string& wrong) {
    ++findings_;
    const RecordedStream recorded = CutDown(Record(WrittenStream(seed, conduct), kSteps));
    const std::string path = fmt::format("engines-{}.ops.jsonl", seed);
    const Status written = WriteOps(recorded, path);
    const std::lock_guard lock(mutex_);
    fmt::print("seed {}: {}\n  {}\n", seed, wrong,
               written ? fmt::format("{} steps of it are in {}", recorded.steps.size(), path)
                       : written.error().ToString());
  }

  const uint64_t count_;
  const uint32_t first_;
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> findings_ = 0;
  std::mutex mutex_;
};

}  // namespace
}  // namespace ringscope::testing

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const auto first = static_cast<uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0);
  if (argc > 3 || count == 0) {
    fmt::print(stderr, "usage: fuzz_engines [COUNT [FIRST_SEED]]\n");
    return 2;
  }
  ringscope::testing::Campaign campaign(count, first);
  const uint64_t findings = campaign.Run();
  fmt::print("{} streams, seeds from {}: {} with findings\n", campaign.done(), first, findings);
  return findings == 0 ? 0 : 1;
}
