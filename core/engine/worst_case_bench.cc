// How the cost of an operation grows with what a buffer holds: it should not. Each row of
// `core_bench --benchmark_filter=Grows` can be compared with the others of its name.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/engine/catalogue.h"

namespace ringscope {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::unique_ptr<Engine> Make(const char* name, uint64_t size) {
  return FindEngine(name).value()->create({.size = size}).value();
}

/// A payload of one fragment that fills it.
std::vector<uint8_t> OneFragment(uint32_t size) {
  std::string header;
  wire::AppendVarint(header, size);
  std::vector<uint8_t> payload(header.begin(), header.end());
  payload.insert(payload.end(), size, 'a');
  return payload;
}

ChunkCommit Chunk(uint32_t sequence, uint32_t id, const std::vector<uint8_t>& payload,
                  uint8_t flags = 0) {
  return {.sequence = {ProducerId{static_cast<uint16_t>(1 + sequence / 30000)},
                       WriterId{static_cast<uint16_t>(1 + sequence % 30000)}},
          .identity = {},
          .chunk = ChunkId{id},
          .fragments = 1,
          .flags = flags,
          .complete = true,
          .payload = payload};
}

uint64_t ReadAll(Engine& engine) {
  uint64_t packets = 0;
  engine.BeginRead();
  while (engine.NextPacket() != nullptr) ++packets;
  return packets;
}

/// The engine's name, by the benchmark's first argument.
const char* EngineOf(const benchmark::State& state) { return state.range(0) == 1 ? "v1" : "v2@58"; }

/// One commit, round robin over many sequences, in a full buffer.
void BM_GrowsSequences(benchmark::State& state) {
  const auto sequences = static_cast<uint32_t>(state.range(1));
  const auto engine = Make(EngineOf(state), 64 * kMiB);
  const std::vector<uint8_t> payload = OneFragment(400);
  uint32_t n = 0;
  const auto commit = [&] {
    engine->Commit(Chunk(n % sequences, n / sequences, payload));
    ++n;
  };
  while (engine->stats().write_wrap_count < 2) commit();
  for (auto _ : state) commit();
}
BENCHMARK(BM_GrowsSequences)
    ->ArgNames({"v", "sequences"})
    ->ArgsProduct({{1, 2}, {10, 1000, 100'000}});

/// One commit of a 4 KiB chunk into a buffer that has wrapped.
void BM_GrowsBuffer(benchmark::State& state) {
  const auto engine = Make(EngineOf(state), static_cast<uint64_t>(state.range(1)) * kMiB);
  const std::vector<uint8_t> payload = OneFragment(4060);
  uint32_t n = 0;
  const auto commit = [&] {
    engine->Commit(Chunk(n % 100, n / 100, payload));
    ++n;
  };
  while (engine->stats().write_wrap_count < 1) commit();
  for (auto _ : state) commit();
}
BENCHMARK(BM_GrowsBuffer)->ArgNames({"v", "MiB"})->ArgsProduct({{1, 2}, {1, 64, 1024, 4095}});

/// One commit, of blocks of so many chunks of a sequence, committed in reverse.
void BM_GrowsReverse(benchmark::State& state) {
  const auto block = static_cast<uint32_t>(state.range(1));
  const auto engine = Make(EngineOf(state), 256 * kMiB);
  const std::vector<uint8_t> payload = OneFragment(100);
  uint32_t n = 0;
  for (auto _ : state) {
    const uint32_t in_block = n % block;
    engine->Commit(Chunk(0, n - in_block + (block - 1 - in_block), payload));
    ++n;
  }
}
BENCHMARK(BM_GrowsReverse)->ArgNames({"v", "reversed"})->ArgsProduct({{1, 2}, {1, 100, 10'000}});

/// One commit, of blocks of so many chunks of a sequence, committed in any order.
void BM_GrowsShuffled(benchmark::State& state) {
  std::vector<uint32_t> order(static_cast<size_t>(state.range(1)));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  const auto engine = Make(EngineOf(state), 256 * kMiB);
  const std::vector<uint8_t> payload = OneFragment(100);
  const auto block = static_cast<uint32_t>(order.size());
  uint32_t n = 0;
  for (auto _ : state) {
    engine->Commit(Chunk(0, n - n % block + order[n % block], payload));
    ++n;
  }
}
BENCHMARK(BM_GrowsShuffled)->ArgNames({"v", "block"})->ArgsProduct({{1, 2}, {10, 100, 10'000}});

/// A packet over so many chunks, committed and read; time per chunk.
void BM_GrowsPacket(benchmark::State& state) {
  const auto chunks = static_cast<uint32_t>(state.range(1));
  const std::vector<uint8_t> payload = OneFragment(100);
  for (auto _ : state) {
    const auto engine = Make(EngineOf(state), 64 * kMiB);
    for (uint32_t i = 0; i < chunks; ++i) {
      const int flags = (i > 0 ? kFirstContinues : 0) | (i + 1 < chunks ? kLastContinues : 0);
      engine->Commit(Chunk(0, i, payload, static_cast<uint8_t>(flags)));
    }
    if (ReadAll(*engine) != 1) state.SkipWithError("the packet was not returned");
  }
  state.counters["ns_per_chunk"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * chunks * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_GrowsPacket)->ArgNames({"v", "chunks"})->ArgsProduct({{1, 2}, {10, 1000, 100'000}});

/// A commit and a read of it, while another sequence holds so many chunks that cannot be read.
void BM_GrowsStalled(benchmark::State& state) {
  const auto stalled = static_cast<uint32_t>(state.range(1));
  const auto engine = Make(EngineOf(state), 1024 * kMiB);
  const std::vector<uint8_t> payload = OneFragment(100);
  for (uint32_t i = 0; i < stalled; ++i)
    engine->Commit(Chunk(0, i, payload, i == 0 ? kLastContinues | kNeedsPatching : 0));
  uint32_t n = 0;
  for (auto _ : state) {
    engine->Commit(Chunk(1, n++, payload));
    if (ReadAll(*engine) != 1) state.SkipWithError("the other sequence's packet was not returned");
    // Before the buffer wraps and takes the stalled ones.
    if (engine->stats().write_wrap_count > 0) state.SkipWithError("the buffer is too small");
  }
}
BENCHMARK(BM_GrowsStalled)
    ->ArgNames({"v", "stalled"})
    ->ArgsProduct({{1, 2}, {10, 1000, 1'000'000}})
    ->Iterations(100'000);

/// A commit that continues a packet of already so many chunks, and a read pass.
void BM_GrowsOpenPacket(benchmark::State& state) {
  const auto chunks = static_cast<uint32_t>(state.range(1));
  const auto engine = Make(EngineOf(state), 256 * kMiB);
  const std::vector<uint8_t> payload = OneFragment(100);
  uint32_t n = 0;
  const auto commit = [&] {
    const int flags = (n > 0 ? kFirstContinues : 0) | kLastContinues;
    engine->Commit(Chunk(0, n++, payload, static_cast<uint8_t>(flags)));
  };
  while (n < chunks) commit();
  ReadAll(*engine);
  for (auto _ : state) {
    commit();
    if (ReadAll(*engine) != 0) state.SkipWithError("a packet that is not whole was returned");
  }
}
BENCHMARK(BM_GrowsOpenPacket)
    ->ArgNames({"v", "chunks"})
    ->ArgsProduct({{1, 2}, {10, 1000, 100'000}})
    ->Iterations(1000);

/// A read pass over a buffer that was read out, or where what is left is stalled.
void BM_GrowsIdle(benchmark::State& state) {
  const auto chunks = static_cast<uint32_t>(state.range(1));
  const auto engine = Make(EngineOf(state), 1024 * kMiB);
  const std::vector<uint8_t> payload = OneFragment(100);
  for (uint32_t i = 0; i < chunks; ++i)
    engine->Commit(Chunk(i % 100, i / 100, payload, i % 2 == 0 ? 0 : kLastContinues));
  ReadAll(*engine);
  for (auto _ : state) benchmark::DoNotOptimize(ReadAll(*engine));
}
BENCHMARK(BM_GrowsIdle)->ArgNames({"v", "chunks"})->ArgsProduct({{1, 2}, {100, 10'000, 1'000'000}});

}  // namespace
}  // namespace ringscope
