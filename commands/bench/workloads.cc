#include "commands/bench/workloads.h"

#include <fmt/format.h>

#include <functional>
#include <random>

#include "commands/replays/log_streams.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr uint64_t kRingBytes = uint64_t{8} << 20;
constexpr uint32_t kManyWriters = 1000;
constexpr size_t kMostPayload = 4080;

/// Payloads of logs that are kept in memory, bytes.
constexpr uint64_t kMostLogBytes = uint64_t{2} << 30;

/// Whole packets of 50 to 500 bytes, 5 to 15 of them; always the same.
struct BenchPayload {
  std::string bytes;
  uint16_t fragments = 0;
};

std::vector<BenchPayload> MakeBenchPayloads() {
  std::mt19937 random(1);
  std::vector<BenchPayload> payloads(256);
  for (BenchPayload& payload : payloads) {
    const auto count = 5 + random() % 11;
    for (uint32_t i = 0; i < count; ++i) {
      const auto size = 50 + random() % 451;
      if (payload.bytes.size() + size + 2 > kMostPayload) break;
      wire::AppendVarint(payload.bytes, size);
      payload.bytes.append(size, static_cast<char>('a' + i));
      ++payload.fragments;
    }
  }
  return payloads;
}

/// Adds commits until `passes` times the ring's bytes are written.
/// @param each called after commit `n` with its sequence and chunk
void AddCommits(PlainStream& stream, uint32_t writers, uint32_t passes, uint8_t flags,
                const std::function<void(uint64_t n, SequenceKey, ChunkId)>& each = {}) {
  const std::vector<BenchPayload> payloads = MakeBenchPayloads();
  uint64_t written = 0;
  for (uint64_t n = 0; written < passes * stream.size; ++n) {
    const BenchPayload& payload = payloads[n % payloads.size()];
    const SequenceKey sequence{ProducerId{1}, WriterId{static_cast<uint16_t>(1 + n % writers)}};
    const ChunkId chunk{static_cast<uint32_t>(n / writers)};
    stream.Add({.commit = {.sequence = sequence,
                           .identity = {},
                           .chunk = chunk,
                           .fragments = payload.fragments,
                           .flags = flags,
                           .complete = true,
                           .payload = wire::AsBytes(payload.bytes)}});
    written += OuterSize(static_cast<uint32_t>(payload.bytes.size()));
    if (each) each(n, sequence, chunk);
  }
}

/// Adds chunks of one writer until the ring is about full, and a read: `passes` times.
/// @param next makes the commit of chunk `n`; it refers to bytes that stay until the next call
void AddFilledAndRead(PlainStream& stream, int passes,
                      const std::function<ChunkCommit(uint32_t n)>& next) {
  uint32_t n = 0;
  for (int pass = 0; pass < passes; ++pass) {
    for (uint64_t written = 0; written < stream.size;) {
      ChunkCommit commit = next(n);
      commit.sequence = {ProducerId{1}, WriterId{1}};
      commit.chunk = ChunkId{n++};
      written += OuterSize(static_cast<uint32_t>(commit.payload.size()));
      stream.Add({.commit = commit});
    }
    stream.Add({.kind = StreamStep::Kind::kRead});
  }
}

/// Chunks full of packets of 20 to 60 bytes.
void AddSmallPackets(PlainStream& stream) {
  std::mt19937 random(1);
  std::string payload;
  AddFilledAndRead(stream, 2, [&](uint32_t) {
    payload.clear();
    uint16_t fragments = 0;
    for (; payload.size() < 4000; ++fragments) {
      const auto size = 20 + random() % 41;
      wire::AppendVarint(payload, size);
      payload.append(size, 'a');
    }
    return ChunkCommit{.fragments = fragments, .payload = wire::AsBytes(payload)};
  });
}

/// Packets that are spread over 2 to 20 chunks each.
void AddFragments(PlainStream& stream) {
  std::mt19937 random(1);
  std::string payload;
  constexpr uint32_t kFragment = 4070;
  wire::AppendVarint(payload, kFragment);
  payload.append(kFragment, 'a');
  uint32_t left = 0;  // chunks of the packet under way
  AddFilledAndRead(stream, 2, [&](uint32_t) {
    const bool begins = left == 0;
    if (begins) left = static_cast<uint32_t>(2 + random() % 19);
    --left;
    const int flags = (begins ? 0 : kFirstContinues) | (left > 0 ? kLastContinues : 0);
    return ChunkCommit{
        .fragments = 1, .flags = static_cast<uint8_t>(flags), .payload = wire::AsBytes(payload)};
  });
}

Workload NewWorkload(const char* name) { return {name, {.size = kRingBytes, .steps = {}}}; }

}  // namespace

std::vector<Workload> StandardWorkloads() {
  std::vector<Workload> workloads;
  AddCommits(workloads.emplace_back(NewWorkload("write, 1 writer")).stream, 1, 3, 0);
  AddCommits(workloads.emplace_back(NewWorkload("write, 1,000 writers")).stream, kManyWriters, 3,
             0);

  // Full, then read, three times over.
  PlainStream& read = workloads.emplace_back(NewWorkload("write and read")).stream;
  for (int i = 0; i < 3; ++i) {
    PlainStream part = NewWorkload("").stream;
    AddCommits(part, 1, 1, 0);
    for (const auto& step : part.steps) {
      PlainStep next = *step;
      next.step.commit.chunk = ChunkId{static_cast<uint32_t>(read.steps.size())};
      read.steps.push_back(std::make_shared<PlainStep>(std::move(next)));
    }
    read.Add({.kind = StreamStep::Kind::kRead});
  }

  AddSmallPackets(workloads.emplace_back(NewWorkload("write and read, small packets")).stream);
  AddFragments(workloads.emplace_back(NewWorkload("write and read, fragments")).stream);

  // Each chunk is patched a few commits later.
  PlainStream& patch = workloads.emplace_back(NewWorkload("patch")).stream;
  const std::string data = "abcd";
  const Patch one{.offset = 16, .data = reinterpret_cast<const uint8_t*>(data.data())};
  AddCommits(patch, 1, 2, kNeedsPatching, [&](uint64_t n, SequenceKey sequence, ChunkId chunk) {
    constexpr uint32_t kLater = 8;
    if (n % kLater != kLater - 1) return;
    for (uint32_t back = 0; back < kLater; ++back) {
      patch.Add({.kind = StreamStep::Kind::kPatch,
                 .patches = {.sequence = sequence,
                             .chunk = ChunkId{Raw(chunk) - back},
                             .patches = {&one, 1},
                             .more = false}});
    }
  });
  return workloads;
}

Result<std::vector<Workload>> LogWorkloads(const std::vector<std::string>& logs, Context& context) {
  RS_ASSIGN_OR_RETURN(std::vector<LogStream> streams, ReadLogStreams(logs, kMostLogBytes, context));
  std::vector<Workload> workloads;
  for (LogStream& stream : streams) {
    workloads.push_back(
        {fmt::format("{}, session {}, buffer {}", stream.log, stream.session, Raw(stream.buffer)),
         std::move(stream.stream)});
  }
  return workloads;
}

}  // namespace ringscope
