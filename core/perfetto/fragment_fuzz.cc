// The fragment tokenizer and then every engine, on any bytes: nothing crashes, fragments follow one
// another inside the payload, and the engines' invariants hold.

#include <cstdint>
#include <cstdlib>

#include "core/engine/catalogue.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Tokenize(Bytes payload) {
  uint32_t offset = 0;
  VisitFragments(payload, UINT32_MAX, [&](const Fragment& fragment) {
    Require(fragment.offset == offset && fragment.body > offset && fragment.end >= fragment.body);
    Require(fragment.end <= payload.size());
    offset = fragment.end;
  });
}

uint64_t ReadAll(Engine& engine) {
  uint64_t bytes = 0;
  engine.BeginRead();
  while (const Packet* packet = engine.NextPacket()) {
    uint64_t size = 0;
    for (const Bytes slice : packet->slices) {
      size += slice.size();
      for (const uint8_t byte : slice) bytes += byte;  // touches what the packet points to
    }
    Require(size == packet->size);
  }
  return bytes;
}

/// The input as operations, each of a few bytes and a payload.
void Operate(Bytes input, const EngineInfo& info, FillPolicy policy) {
  const auto engine = info.create({.size = 4096, .policy = policy}).value();
  while (input.size() >= 6) {
    const uint8_t kind = input[0];
    const SequenceKey sequence{ProducerId{1}, WriterId{static_cast<uint16_t>(1 + input[1] % 3)}};
    const ChunkId chunk{input[2] >= 0xF0 ? input[2] * 0x11111111u : input[2]};
    const uint8_t flags = input[3] & kMaxChunkFlags;
    const uint16_t count = input[4];
    const size_t size = std::min<size_t>(input[5] * (kind & 1 ? 16u : 1u), input.size() - 6);
    const Bytes payload = input.subspan(6, size);
    input = input.subspan(6 + size);
    if (kind < 160) {
      engine->Commit({.sequence = sequence,
                      .identity = {},
                      .chunk = chunk,
                      .fragments = count,
                      .flags = flags,
                      .complete = kind % 4 != 0,
                      .payload = payload});
    } else if (kind < 220 && payload.size() >= kPatchSize) {
      const Patch patch{.offset = count, .data = payload.data()};
      engine->ApplyPatches(
          {.sequence = sequence, .chunk = chunk, .patches = {&patch, 1}, .more = kind % 2 == 0});
    } else if (kind < 250) {
      ReadAll(*engine);
    } else {
      const auto clone = engine->Clone().value();
      Require(ReadAll(*clone) == ReadAll(*engine));
    }
    Require(engine->CheckInvariants().empty());
  }
}

}  // namespace
}  // namespace ringscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;
  const Bytes input(data, size);
  if (size > kMaxChunkPayload) return 0;
  Tokenize(input);
  for (const EngineInfo& info : Engines()) {
    Operate(input, info, FillPolicy::kRingBuffer);
    Operate(input, info, FillPolicy::kDiscard);
  }
  return 0;
}
