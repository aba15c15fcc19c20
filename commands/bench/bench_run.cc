#include "commands/bench/bench_run.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;

constexpr int kWorstRuns = 3;

double CpuNow() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double WallNow() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Instructions of this thread in user mode, where the system lets them be counted.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  }
  ~InstructionCounter() {
    if (file_ >= 0) close(file_);
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  std::optional<uint64_t> Read() const {
    uint64_t count = 0;
    if (file_ < 0 || read(file_, &count, sizeof(count)) != sizeof(count)) return std::nullopt;
    return count;
  }

 private:
  int file_ = -1;
};

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// A workload's steps as engines take them, made before anything is measured.
class ReadySteps {
 public:
  explicit ReadySteps(const PlainStream& stream) {
    size_t patches = 0;
    for (const auto& step : stream.steps) patches += step->patches.size();
    patches_.reserve(patches);  // addresses stay
    steps_.reserve(stream.steps.size());
    for (const auto& step : stream.steps) {
      StreamStep& ready = steps_.emplace_back(step->step);
      ready.commit.payload = {reinterpret_cast<const uint8_t*>(step->payload.data()),
                              step->payload.size()};
      const size_t first = patches_.size();
      for (const auto& [offset, data] : step->patches)
        patches_.push_back(
            {.offset = offset, .data = reinterpret_cast<const uint8_t*>(data.data())});
      ready.patches.patches = {patches_.data() + first, patches_.size() - first};
    }
  }
  const std::vector<StreamStep>& steps() const { return steps_; }

 private:
  std::vector<StreamStep> steps_;
  std::vector<Patch> patches_;
};

void ReadAll(Engine& engine, uint64_t max_packets, BenchWork& work) {
  ++work.reads;
  engine.BeginRead();
  for (uint64_t n = 0; n < max_packets; ++n) {
    const Packet* const packet = engine.NextPacket();
    if (packet == nullptr) return;
    ++work.packets;
    work.packet_bytes += packet->size;
  }
}

void Apply(Engine& engine, const StreamStep& step, BenchWork& work) {
  switch (step.kind) {
    case StepKind::kCommit:
      engine.Commit(step.commit);
      ++work.commits;
      work.committed_bytes += step.commit.payload.size();
      break;
    case StepKind::kPatch:
      engine.ApplyPatches(step.patches);
      ++work.patches;
      break;
    case StepKind::kRead:
      ReadAll(engine, step.max_packets, work);
      break;
    case StepKind::kClone:
      if (const auto clone = engine.Clone()) ReadAll(**clone, UINT64_MAX, work);
      break;
  }
}

double& TimeOf(BenchTimes& times, StepKind kind) {
  if (kind == StepKind::kCommit) return times.commit_ns;
  return kind == StepKind::kPatch ? times.patch_ns : times.read_ns;
}

Result<std::unique_ptr<Engine>> MakeFor(const EngineInfo& info, const PlainStream& stream) {
  return info.create({.size = stream.size, .policy = stream.policy});
}

/// Runs in which each operation is measured by itself: the clock costs as much as a commit, so that
/// only the worst of these times mean anything. An operation's time is the least of the runs, as
/// whatever interrupts one of them is not the engine's.
Status FindWorst(const EngineInfo& info, const PlainStream& stream, const ReadySteps& steps,
                 int runs, BenchResult& result) {
  std::vector<double> least(steps.steps().size(), std::numeric_limits<double>::infinity());
  for (int run = 0; run < runs; ++run) {
    result.work = {};
    const uint64_t before = HeapBytes();
    RS_ASSIGN_OR_RETURN(const auto engine, MakeFor(info, stream));
    for (size_t i = 0; i < least.size(); ++i) {
      const double begin = CpuNow();
      Apply(*engine, steps.steps()[i], result.work);
      least[i] = std::min(least[i], CpuNow() - begin);
    }
    const uint64_t after = HeapBytes();
    result.heap_bytes = after > before ? after - before : 0;
    static_cast<void>(engine->stats());  // in another process the last operations may still wait
    if (engine->failure() != nullptr) return tl::unexpected<Error>(*engine->failure());
  }
  for (size_t i = 0; i < least.size(); ++i) {
    const StepKind kind = steps.steps()[i].kind;
    if (kind == StepKind::kCommit)
      result.worst_commit_ns = std::max(result.worst_commit_ns, least[i]);
    if (kind == StepKind::kRead) result.worst_read_ns = std::max(result.worst_read_ns, least[i]);
  }
  return {};
}

/// A run of all operations. Its CPU time is divided among the kinds of operations by the wall
/// clock, which is read in a fraction of the time that the other clock takes.
Result<BenchTimes> Measure(const EngineInfo& info, const PlainStream& stream,
                           const ReadySteps& steps, const InstructionCounter& instructions) {
  RS_ASSIGN_OR_RETURN(const auto engine, MakeFor(info, stream));
  BenchTimes times;
  BenchWork work;
  const std::optional<uint64_t> counted = instructions.Read();
  const double cpu_begin = CpuNow();
  double begin = WallNow();
  const auto& all = steps.steps();
  for (size_t i = 0; i < all.size(); ++i) {
    Apply(*engine, all[i], work);
    if (i + 1 < all.size() && all[i + 1].kind == all[i].kind) continue;
    const double now = WallNow();
    TimeOf(times, all[i].kind) += now - begin;
    begin = now;
  }
  const double cpu = CpuNow() - cpu_begin;
  const std::optional<uint64_t> end = instructions.Read();
  if (counted && end) times.instructions = *end - *counted;
  if (engine->failure() != nullptr) return tl::unexpected<Error>(*engine->failure());
  const double share = times.all() > 0 ? cpu / times.all() : 0;
  for (double* const part : {&times.commit_ns, &times.patch_ns, &times.read_ns}) *part *= share;
  return times;
}

double Middle(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

double BenchResult::Median(double (*of)(const BenchTimes&)) const {
  std::vector<double> values;
  for (const BenchTimes& round : rounds) values.push_back(of(round));
  return Middle(std::move(values));
}

double BenchResult::Spread() const {
  double least = rounds.front().all(), most = least;
  for (const BenchTimes& round : rounds) {
    least = std::min(least, round.all());
    most = std::max(most, round.all());
  }
  const double median = Median([](const BenchTimes& times) { return times.all(); });
  return median > 0 ? (most - least) / median : 0;
}

Status TryWorkload(const Workload& workload, const EngineInfo& engine) {
  BenchResult nowhere;
  return FindWorst(engine, workload.stream, ReadySteps(workload.stream), /*runs=*/1, nowhere);
}

Result<std::vector<BenchResult>> RunBench(const Workload& workload,
                                          const std::vector<const EngineInfo*>& engines,
                                          int rounds) {
  const ReadySteps steps(workload.stream);
  const InstructionCounter instructions;
  std::vector<BenchResult> results(engines.size());
  for (size_t i = 0; i < engines.size(); ++i)
    RS_RETURN_IF_ERROR(FindWorst(*engines[i], workload.stream, steps, kWorstRuns, results[i]));
  for (int round = 0; round < rounds; ++round) {
    for (size_t n = 0; n < engines.size(); ++n) {
      // Each has each place in the turn.
      const size_t i = (n + static_cast<size_t>(round)) % engines.size();
      RS_ASSIGN_OR_RETURN(const BenchTimes times,
                          Measure(*engines[i], workload.stream, steps, instructions));
      results[i].rounds.push_back(times);
    }
  }
  return results;
}

}  // namespace ringscope
