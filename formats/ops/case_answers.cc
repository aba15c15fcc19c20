#include "formats/ops/case_answers.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;

void ReadInto(Engine& engine, uint64_t max_packets, CaseAnswer& answer) {
  engine.BeginRead();
  while (answer.packets.size() < max_packets) {
    const Packet* const packet = engine.NextPacket();
    if (packet == nullptr) {
      answer.at_end = true;
      return;
    }
    ExpectedPacket& expected = answer.packets.emplace_back();
    for (const Bytes slice : packet->slices) expected.slices.emplace_back(wire::AsText(slice));
    expected.identity = packet->identity;
    expected.sequence = packet->sequence;
    expected.dropped = packet->dropped;
  }
}

/// "[ 1:1#0 32 ][ padding 16 ]": what is in a buffer, by offset, and the bytes of each.
std::string MapOf(const Engine& engine) {
  std::string map;
  const auto cursor = engine.VisitChunks([&](const ObservedChunk& chunk) {
    if (chunk.is_padding()) {
      map += fmt::format("[ padding {} ]", chunk.outer_size);
      return;
    }
    const uint32_t read = chunk.payload_size - chunk.payload_avail;
    map += fmt::format("[ {}#{} {}{}{} ]", ToString(chunk.sequence), Raw(chunk.chunk),
                       chunk.outer_size, chunk.incomplete ? " incomplete" : "",
                       read > 0 ? fmt::format(" {} read", read) : "");
  });
  if (!cursor) return "";
  return fmt::format("{} write cursor {}", map.empty() ? "[ ]" : map, *cursor);
}

}  // namespace

Result<Answers> AnswersOf(const EngineInfo& info, const PlainStream& stream) {
  RS_ASSIGN_OR_RETURN(const auto engine,
                      info.create({.size = stream.size, .policy = stream.policy}));
  Answers answers;
  for (const auto& step : stream.steps) {
    CaseAnswer& answer = answers.steps.emplace_back();
    const Status done = step->With([&](const StreamStep& view) -> Status {
      switch (view.kind) {
        case StepKind::kCommit:
          engine->Commit(view.commit);
          break;
        case StepKind::kPatch:
          answer.patched = engine->ApplyPatches(view.patches);
          break;
        case StepKind::kRead:
          ReadInto(*engine, view.max_packets, answer);
          break;
        case StepKind::kClone: {
          RS_ASSIGN_OR_RETURN(const auto clone, engine->Clone());
          ReadInto(*clone, UINT64_MAX, answer);
          break;
        }
      }
      return {};
    });
    RS_RETURN_IF_ERROR(done);
  }
  answers.map = MapOf(*engine);
  ReadInto(*engine, UINT64_MAX, answers.last_read);
  answers.stats = engine->stats();
  if (engine->failure() != nullptr) return tl::unexpected<Error>(*engine->failure());
  return answers;
}

}  // namespace ringscope
