// Writers that wait for chunks of their shared memory with Perfetto's pauses, recorded: for how
// long the log shows no free chunk is what the producer measured. The service is slow on purpose.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "commands/record/boot_time.h"
#include "commands/shell/commands.h"
#include "commands/testing/live_recording.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/memory_run.h"
#include "core/gaps/memory_looks.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope::testing {
namespace {


constexpr size_t kChunkPage = TestMemory::kPage;
constexpr size_t kChunks = 8;
constexpr uint64_t kMs = 1'000'000;

std::string PacketOf(size_t bytes) {
  std::string packet;
  wire::AppendBytes(packet, 900, wire::AsBytes(std::string(bytes, 'x')));
  return packet;
}

/// Limits of a time in ns.
struct TimeLimits {
  uint64_t least = 0;
  uint64_t most = 0;
};

/// A producer whose packets a recorder passes to a service, which takes so long for each chunk.
class SlowService {
 public:
  SlowService(std::function<std::chrono::microseconds()> delay, ProducerOptions options)
      : service_({.smb_bytes = kChunks * kChunkPage,
                  .keep_effects = false,
                  .on_chunk =
                      [this, delay](Bytes) {
                        const uint64_t begin_ns = record::BootTimeNs();
                        std::this_thread::sleep_for(delay());
                        const std::lock_guard lock(mutex_);
                        handled_.push_back({begin_ns, record::BootTimeNs()});
                      }}),
        recorder_({.producer = {listen_, service_.socket()},
                   .scraping = record::Scraping::kObserve,
                   .strict_order = false,
                   .looks = record::LookLimits{.is_cheap = false}},
                  log_) {
    options.name = "p";
    options.sources = {{.name = "source"}};
    producer_ = Producer::Connect(listen_, std::move(options)).value();
    EXPECT_TRUE(producer_->WaitForSources(1));
  }

  Producer& producer() { return *producer_; }
  SharedMemoryWriter& AddWriter() {
    return *producer_->AddWriter(producer_->started()[0].buffer).value();
  }
  /// Ends the producer when all is committed. @return for how long no chunk was free, as the
  /// producer and the service know it
  TimeLimits End() {
    EXPECT_TRUE(producer_->Commit());
    EXPECT_TRUE(producer_->Sync());
    producer_->WatchMemory();
    producer_->Kill();
    EXPECT_TRUE(log_.WaitFor<ProducerDisconnected>());
    recorder_.Stop();
    TimeLimits sum;
    const std::lock_guard lock(mutex_);
    for (const FullPeriod& period : producer_->full_periods()) {
      const TimeLimits one = LimitsOf(period);
      sum.least += one.least;
      sum.most += one.most;
    }
    return sum;
  }
  /// The log, with a buffer that holds all.
  std::vector<Op> Ops() const {
    std::vector<Op> ops = log_.TimedOps();
    ops.insert(ops.begin(), Op{.time_ns = ops.front().time_ns,
                               .body = BufferSetUp{.id = BufferId{1}, .size = size_t{64} << 20}});
    return ops;
  }

 private:
  /// A chunk that the service takes. It is free after that, and before the next one.
  struct Handled {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
  };
  TimeLimits LimitsOf(const FullPeriod& period) const {
    uint64_t ends_after = period.end_ns, ends_before = period.end_ns;
    for (size_t i = handled_.size(); i-- > 0;) {
      const uint64_t next =
          i + 1 < handled_.size() ? handled_[i + 1].begin_ns : std::numeric_limits<uint64_t>::max();
      if (next <= period.latest_ns) break;
      ends_after = std::min(ends_after, handled_[i].end_ns);
      if (handled_[i].end_ns >= period.latest_ns) ends_before = std::min(ends_before, next);
    }
    ends_after = std::max({ends_after, period.latest_ns, period.seen_ns});
    return {ends_after - period.latest_ns, std::max(ends_after, ends_before) - period.earliest_ns};
  }

  const std::string listen_ = UniqueSocketName("listen");
  std::mutex mutex_;
  std::vector<Handled> handled_;
  FakeService service_;
  MemoryLog log_;
  RecorderRun recorder_;
  std::unique_ptr<Producer> producer_;
};

smb::MemoryUse UseIn(const std::vector<Op>& ops) {
  smb::MemoryLooks story{1};
  for (const Op& op : ops) story.Add(op);
  EXPECT_EQ(story.Memories().size(), 1u);
  const smb::MemoryUse use = story.Memories().front()->use();
  EXPECT_EQ(use.chunks, kChunks);
  EXPECT_EQ(use.missing, 0u);
  EXPECT_EQ(use.bad_pages, 0u);
  return use;
}

/// The looks' limits and the measured ones are limits of the same time. The log has the time at
/// which a look was written down, which can be a moment later where others use the processor.
void ExpectSameTime(const smb::SampledTime& seen, const TimeLimits& measured) {
  const uint64_t later = 5 * kMs + measured.most / 20;
  EXPECT_LE(seen.least, measured.most + later);
  EXPECT_GE(seen.most + later, measured.least);
}

/// What 'gaps' reports: packets that writers dropped, and how often each cause.
struct Drops {
  uint64_t packets = 0;
  std::map<std::string, uint64_t> causes;
};
Drops DropsIn(const std::vector<Op>& ops) {
  std::string log;
  for (const Op& op : ops) log += FormatOp(op) + "\n";
  const Ran ran = RunCommand(GapsCommand(), {"--format", "json", "-"}, log);
  EXPECT_EQ(ran.error, "");
  Drops drops;
  const auto report = nlohmann::json::parse(ran.out);
  for (const auto& session : report["sessions"])
    for (const auto& buffer : session["buffers"])
      drops.packets += buffer["fates"]["writer_dropped"]["packets"].get<uint64_t>();
  const std::string_view key = "\"reason\": \"";
  for (size_t at = ran.out.find(key); at != std::string::npos; at = ran.out.find(key, at + 1)) {
    const size_t begin = at + key.size();
    ++drops.causes[ran.out.substr(begin, ran.out.find('"', begin) - begin)];
  }
  return drops;
}

/// Chooses packets of one to some chunks, writers for them, and moments in which all is sent.
class RandomUse {
 public:
  RandomUse(uint32_t seed, SlowService& run, size_t writers) : random_(seed), run_(run) {
    for (size_t i = 0; i < writers; ++i) writers_.push_back(&run.AddWriter());
  }
  void Step() {
    constexpr size_t kSizes[] = {10, 300, 4000, 2 * kChunkPage, 3 * kChunkPage};
    SharedMemoryWriter& writer = *writers_[random_() % writers_.size()];
    ASSERT_TRUE(writer.Write(wire::AsBytes(PacketOf(kSizes[random_() % std::size(kSizes)]))));
    if (random_() % 16 != 0) return;
    ASSERT_TRUE(run_.producer().Commit());
  }
  void Finish() {
    for (SharedMemoryWriter* const writer : writers_) ASSERT_TRUE(writer->Finish());
  }
  uint64_t Sum(uint64_t (SharedMemoryWriter::*figure)() const) const {
    uint64_t sum = 0;
    for (const SharedMemoryWriter* const writer : writers_) sum += (writer->*figure)();
    return sum;
  }

 private:
  std::mt19937 random_;
  SlowService& run_;
  std::vector<SharedMemoryWriter*> writers_;
};

/// A service that takes up to so long for each chunk, at random.
std::function<std::chrono::microseconds()> UpTo(uint32_t seed, uint32_t us) {
  auto random = std::make_shared<std::mt19937>(seed);
  return [random, us] { return std::chrono::microseconds((*random)() % us); };
}

// Those who wait lose nothing; how long that was is in the log.
TEST(Stalls, TimeWithoutAFreeChunk_IsWhatTheProducerMeasured) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const size_t writers = 1 + seed % 4;
    SCOPED_TRACE(fmt::format("seed {}, {} writers", seed, writers));
    SlowService run(UpTo(seed, 4000),
                    {.batch_bytes = seed % 2 == 0 ? size_t{1} << 30 : 3 * kChunkPage,
                     .when_full = WhenFull::kWait});
    RandomUse use(seed, run, writers);
    for (int step = 0; step < 150; ++step) ASSERT_NO_FATAL_FAILURE(use.Step());
    use.Finish();
    EXPECT_EQ(use.Sum(&SharedMemoryWriter::dropped), 0u);
    const uint64_t waited = run.producer().waited_ns();
    const TimeLimits measured = run.End();
    EXPECT_GT(run.producer().stalls(), 10u);
    EXPECT_GT(measured.least, 20 * kMs);
    const std::vector<Op> ops = run.Ops();
    const smb::MemoryUse seen = UseIn(ops);
    ExpectSameTime(seen.full, measured);
    EXPECT_GE(seen.full.least, measured.most / 10) << "the looks prove too little";
    EXPECT_EQ(DropsIn(ops).packets, 0u);
    std::printf(
        "%zu writers: waited %.1f ms; no chunk free for %.1f to %.1f ms, by looks for %.1f "
        "to %.1f ms\n",
        writers, static_cast<double>(waited) / 1e6, static_cast<double>(measured.least) / 1e6,
        static_cast<double>(measured.most) / 1e6, static_cast<double>(seen.full.least) / 1e6,
        static_cast<double>(seen.full.most) / 1e6);
  }
}

// After so many searches packets are dropped, and nobody waits until one is written again.
TEST(Stalls, ThenDrop_AsTheServiceIsLate) {
  uint64_t late = 0, dropped = 0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const size_t writers = 1 + seed % 3;
    SCOPED_TRACE(fmt::format("seed {}, {} writers", seed, writers));
    auto random = std::make_shared<std::mt19937>(seed);
    const auto delay = [random] {  // now and then very long
      return std::chrono::microseconds((*random)() % 24 == 0 ? 60'000 : (*random)() % 500);
    };
    SlowService run(
        delay,
        {.batch_bytes = 3 * kChunkPage, .when_full = WhenFull::kWaitThenDrop, .most_searches = 10});
    RandomUse use(seed, run, writers);
    for (int step = 0; step < 300; ++step) ASSERT_NO_FATAL_FAILURE(use.Step());
    use.Finish();
    const TimeLimits measured = run.End();
    const std::vector<Op> ops = run.Ops();
    ExpectSameTime(UseIn(ops).full, measured);
    Drops drops = DropsIn(ops);
    EXPECT_EQ(drops.packets, use.Sum(&SharedMemoryWriter::aborted));
    dropped += use.Sum(&SharedMemoryWriter::dropped);
    late += drops.causes["service_late"];
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(late, 0u);
}

// What is complete is not sent while the writer waits: that is what is to blame.
TEST(Stalls, ThenDrop_AsTheProducerHoldsChunksBack) {
  SlowService run(UpTo(1, 200), {.batch_bytes = size_t{1} << 30,
                                 .when_full = WhenFull::kWaitThenDrop,
                                 .most_searches = 9,
                                 .sends_while_waiting = false});
  SharedMemoryWriter& first = run.AddWriter();
  SharedMemoryWriter& second = run.AddWriter();
  ASSERT_TRUE(first.Write(wire::AsBytes(PacketOf(10))));
  ASSERT_TRUE(second.Write(wire::AsBytes(PacketOf(10))));
  ASSERT_TRUE(second.Finish());
  ASSERT_TRUE(run.producer().Commit());  // a look follows while a chunk is in use
  ASSERT_TRUE(run.producer().Sync());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(second.Write(wire::AsBytes(PacketOf(4000))).value());
  EXPECT_FALSE(second.Write(wire::AsBytes(PacketOf(3 * kChunkPage))).value());
  const uint64_t waited = run.producer().waited_ns();
  EXPECT_GT(waited, 40 * kMs);
  EXPECT_FALSE(second.Write(wire::AsBytes(PacketOf(10))).value());
  EXPECT_EQ(run.producer().waited_ns(), waited);  // it does not wait again
  EXPECT_EQ(run.producer().stalls(), 1u);
  const TimeLimits measured = run.End();
  const std::vector<Op> ops = run.Ops();
  const smb::MemoryUse seen = UseIn(ops);
  ExpectSameTime(seen.full, measured);
  Drops drops = DropsIn(ops);
  EXPECT_EQ(drops.packets, 1u);
  EXPECT_EQ(drops.causes["held_back"], 1u);
}

}  // namespace
}  // namespace ringscope::testing
