// How far the engine is from the limits of the memory it works on. Compare within one run only.

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "core/engine/catalogue.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/payload_store.h"
#include "core/perfetto/fragment.h"
#include "core/session/session.h"

namespace ringscope {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kRing = 64 * kMiB;
constexpr uint64_t kReadBuffer = 128 * kMiB;
constexpr int64_t kNominalChunk = 4096;

/// As in the tool, large buffers lie on large pages.
[[maybe_unused]] const bool uses_large_pages = [] {
  large_pages_advice = [](void* begin, size_t bytes) {
    static_cast<void>(madvise(begin, bytes, MADV_HUGEPAGE));
  };
  return true;
}();

/// Chunks of 5 to 15 whole packets of 50 to 500 bytes, in at most 4080 bytes; always the same.
struct Payload {
  std::vector<uint8_t> bytes;
  uint16_t fragments = 0;
};

const std::vector<Payload>& Payloads() {
  static const std::vector<Payload> payloads = [] {
    std::mt19937 random(1);
    std::vector<Payload> made(256);
    for (Payload& payload : made) {
      const auto count = 5 + random() % 11;
      for (uint32_t i = 0; i < count; ++i) {
        const auto size = 50 + random() % 451;
        if (payload.bytes.size() + size + 2 > 4080) break;
        std::string header;
        wire::AppendVarint(header, size);
        payload.bytes.insert(payload.bytes.end(), header.begin(), header.end());
        payload.bytes.insert(payload.bytes.end(), size, static_cast<uint8_t>('a' + i));
        ++payload.fragments;
      }
    }
    return made;
  }();
  return payloads;
}

std::unique_ptr<Engine> MakeEngine(uint64_t size, EngineObserver* observer = nullptr,
                                   const char* name = "v2@58") {
  return FindEngine(name).value()->create({.size = size, .observer = observer}).value();
}

/// Commits chunk number `n`, round robin over `writers`.
void CommitNth(Engine& engine, uint64_t n, uint32_t writers) {
  const Payload& payload = Payloads()[n % Payloads().size()];
  engine.Commit({.sequence = {ProducerId{1}, WriterId{static_cast<uint16_t>(1 + n % writers)}},
                 .identity = {},
                 .chunk = ChunkId{static_cast<uint32_t>(n / writers)},
                 .fragments = payload.fragments,
                 .flags = 0,
                 .complete = true,
                 .payload = payload.bytes});
}

void Write(benchmark::State& state, uint32_t writers, EngineObserver* observer = nullptr,
           const char* name = "v2@58") {
  const auto engine = MakeEngine(kRing, observer, name);
  uint64_t n = 0;
  while (engine->stats().write_wrap_count < 2) CommitNth(*engine, n++, writers);
  for (auto _ : state) CommitNth(*engine, n++, writers);
  state.SetBytesProcessed(state.iterations() * kNominalChunk);
}

void BM_WriteSingleWriter(benchmark::State& state) { Write(state, 1); }
BENCHMARK(BM_WriteSingleWriter);

void BM_WriteManyWriters(benchmark::State& state) { Write(state, 1000); }
BENCHMARK(BM_WriteManyWriters);

void BM_WriteSingleWriterV1(benchmark::State& state) { Write(state, 1, nullptr, "v1"); }
BENCHMARK(BM_WriteSingleWriterV1);

void BM_WriteManyWritersV1(benchmark::State& state) { Write(state, 1000, nullptr, "v1"); }
BENCHMARK(BM_WriteManyWritersV1);

/// Adds up what the events are about.
class EventBytes : public ReplayListener {
 public:
  void OnBufferEvent(const BufferEvent& event) override {
    if (const ObservedChunk* chunk = event.arrived()) bytes += chunk->outer_size;
  }
  uint64_t bytes = 0;
};

/// The pair to BM_WriteManyWriters that shows what an observer costs, and that none costs nothing.
void BM_WriteObserved(benchmark::State& state) {
  EventBytes events;
  const ReplayListeners listeners(events);
  const LogMoment now;
  BufferObserver observer(BufferId{1}, now, listeners);
  Write(state, 1000, &observer);
  benchmark::DoNotOptimize(events.bytes);
}
BENCHMARK(BM_WriteObserved);

/// The same chunks copied into the same ring with nothing else.
void BM_CopyLimit(benchmark::State& state) {
  std::vector<uint8_t> ring(kRing, 1);
  uint64_t n = 0, wr = 0;
  const auto copy_next = [&] {
    const Payload& payload = Payloads()[n++ % Payloads().size()];
    const auto size = static_cast<uint32_t>(payload.bytes.size());
    if (OuterSize(size) > ring.size() - wr) wr = 0;
    std::memcpy(ring.data() + wr + 16, payload.bytes.data(), size);
    wr += OuterSize(size);
  };
  for (uint64_t i = 0; i < kRing / 2048; ++i) copy_next();
  for (auto _ : state) {
    copy_next();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kNominalChunk);
}
BENCHMARK(BM_CopyLimit);

/// Fills a buffer, once.
using Fill = void (*)(Engine&);

void FillByOne(Engine& engine) {
  for (uint64_t n = 0; engine.stats().write_wrap_count < 1; ++n) CommitNth(engine, n, 1);
}

void FillByMany(Engine& engine) {
  for (uint64_t n = 0; engine.stats().write_wrap_count < 1; ++n) CommitNth(engine, n, 1000);
}

/// Chunks full of packets of 20 to 60 bytes.
void FillWithSmall(Engine& engine) {
  std::mt19937 random(1);
  std::vector<Payload> payloads(256);
  for (Payload& payload : payloads) {
    while (payload.bytes.size() < 4000) {
      const auto size = static_cast<uint8_t>(20 + random() % 41);
      payload.bytes.push_back(size);
      payload.bytes.insert(payload.bytes.end(), size, 'a');
      ++payload.fragments;
    }
  }
  for (uint32_t n = 0; engine.stats().write_wrap_count < 1; ++n) {
    const Payload& payload = payloads[n % payloads.size()];
    engine.Commit({.sequence = {ProducerId{1}, WriterId{1}},
                   .identity = {},
                   .chunk = ChunkId{n},
                   .fragments = payload.fragments,
                   .flags = 0,
                   .complete = true,
                   .payload = payload.bytes});
  }
}

/// Packets that are spread over 2 to 20 chunks each.
void FillWithFragments(Engine& engine) {
  std::mt19937 random(1);
  const std::vector<uint8_t> payload = [] {
    std::string header;
    constexpr uint32_t kSize = 4070;
    wire::AppendVarint(header, kSize);
    std::vector<uint8_t> bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), kSize, 'a');
    return bytes;
  }();
  uint32_t n = 0;
  while (engine.stats().write_wrap_count < 1) {
    const auto chunks = static_cast<uint32_t>(2 + random() % 19);
    for (uint32_t i = 0; i < chunks; ++i) {
      const int flags = (i > 0 ? kFirstContinues : 0) | (i + 1 < chunks ? kLastContinues : 0);
      engine.Commit({.sequence = {ProducerId{1}, WriterId{1}},
                     .identity = {},
                     .chunk = ChunkId{n++},
                     .fragments = 1,
                     .flags = static_cast<uint8_t>(flags),
                     .complete = true,
                     .payload = payload});
    }
  }
}

/// A full buffer, read out; payload bytes per second.
void ReadOut(benchmark::State& state, const char* name, Fill fill) {
  int64_t bytes = 0, packets = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto engine = MakeEngine(kReadBuffer, nullptr, name);
    fill(*engine);
    engine->BeginRead();
    state.ResumeTiming();
    while (const Packet* packet = engine->NextPacket()) {
      bytes += static_cast<int64_t>(packet->size);
      ++packets;
    }
    state.PauseTiming();
    engine.reset();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(packets);
}

void BM_Read(benchmark::State& state) { ReadOut(state, "v2@58", FillByOne); }
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

void BM_ReadManyWriters(benchmark::State& state) { ReadOut(state, "v2@58", FillByMany); }
BENCHMARK(BM_ReadManyWriters)->Unit(benchmark::kMillisecond);

void BM_ReadSmallPackets(benchmark::State& state) { ReadOut(state, "v2@58", FillWithSmall); }
BENCHMARK(BM_ReadSmallPackets)->Unit(benchmark::kMillisecond);

void BM_ReadFragmented(benchmark::State& state) { ReadOut(state, "v2@58", FillWithFragments); }
BENCHMARK(BM_ReadFragmented)->Unit(benchmark::kMillisecond);

void BM_ReadV1(benchmark::State& state) { ReadOut(state, "v1", FillByOne); }
BENCHMARK(BM_ReadV1)->Unit(benchmark::kMillisecond);

void BM_ReadV1ManyWriters(benchmark::State& state) { ReadOut(state, "v1", FillByMany); }
BENCHMARK(BM_ReadV1ManyWriters)->Unit(benchmark::kMillisecond);

void BM_ReadV1SmallPackets(benchmark::State& state) { ReadOut(state, "v1", FillWithSmall); }
BENCHMARK(BM_ReadV1SmallPackets)->Unit(benchmark::kMillisecond);

void BM_ReadV1Fragmented(benchmark::State& state) { ReadOut(state, "v1", FillWithFragments); }
BENCHMARK(BM_ReadV1Fragmented)->Unit(benchmark::kMillisecond);

/// The bytes of a full buffer brought into the processor: the first word of each cache line.
void BM_BandwidthLimit(benchmark::State& state) {
  constexpr size_t kLine = 64, kAhead = 32 * kLine;
  const std::vector<uint8_t> memory(kReadBuffer + kAhead, 1);
  for (auto _ : state) {
    uint64_t sum = 0;
    for (size_t at = 0; at < kReadBuffer; at += kLine) {
      __builtin_prefetch(memory.data() + at + kAhead);
      sum += memory[at];
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kReadBuffer));
}
BENCHMARK(BM_BandwidthLimit)->Unit(benchmark::kMillisecond);

/// The same fragments walked with nothing else.
void BM_WalkLimit(benchmark::State& state) {
  std::vector<uint8_t> memory(kReadBuffer);
  struct StoredPayload {
    uint64_t offset;
    uint32_t size;
  };
  std::vector<StoredPayload> payloads;
  for (uint64_t n = 0, wr = 0;; ++n) {
    const Payload& payload = Payloads()[n % Payloads().size()];
    const auto size = static_cast<uint32_t>(payload.bytes.size());
    if (OuterSize(size) > memory.size() - wr) break;
    std::memcpy(memory.data() + wr + 16, payload.bytes.data(), size);
    payloads.push_back({wr + 16, size});
    wr += OuterSize(size);
  }
  int64_t bytes = 0;
  for (auto _ : state) {
    for (const StoredPayload& stored : payloads) {
      Fragment fragment;
      while (ReadFragment(memory.data() + stored.offset, stored.size, fragment.end, fragment) ==
             FragmentStatus::kFragment)
        bytes += fragment.size();
    }
    benchmark::DoNotOptimize(bytes);
  }
  state.SetBytesProcessed(bytes);
}
BENCHMARK(BM_WalkLimit)->Unit(benchmark::kMillisecond);

/// One patch to a chunk of a full 16 MiB buffer. Argument: how many chunks from the end; 0: a chunk
/// that is not there.
void BM_Patch(benchmark::State& state) {
  const auto engine = MakeEngine(16 * kMiB);
  uint64_t n = 0;
  while (engine->stats().write_wrap_count < 2) CommitNth(*engine, n++, 1);
  const auto back = static_cast<uint64_t>(state.range(0));
  const auto id = static_cast<uint32_t>(back == 0 ? n + 1000 : n - back);
  const uint8_t data[kPatchSize] = {'a', 'a', 'a', 'a'};
  const Patch patch{.offset = 16, .data = data};
  const ChunkPatches patches{.sequence = {ProducerId{1}, WriterId{1}},
                             .chunk = ChunkId{id},
                             .patches = {&patch, 1},
                             .more = false};
  for (auto _ : state) {
    bool applied = engine->ApplyPatches(patches);
    benchmark::DoNotOptimize(applied);
  }
}
BENCHMARK(BM_Patch)->ArgName("from_end")->Arg(1)->Arg(10)->Arg(4000)->Arg(0);

}  // namespace
}  // namespace ringscope
