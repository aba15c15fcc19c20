#include "core/engine/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "core/base/lookup.h"
#include "core/base/text.h"
#include "core/engine/v2_engine.h"

namespace ringscope {
namespace {

EngineInfo V2(uint32_t release, const char* difference) {
  const V2Rules rules = RulesOf(release);
  return {
      .name = fmt::format("v2@{}", release),
      .corresponds = fmt::format("TraceBufferV2 of Perfetto v{}", release),
      .difference = difference,
      .create = [rules](const EngineConfig& config) { return CreateV2Engine(rules, config); },
      .release = release,
      .flags_readmitted = rules.readmits_grown_chunk && !rules.readmission_is_no_gap,
      .read_order = ReadOrder::kByBuffer,
      .has_protovm = true,
  };
}

}  // namespace

std::span<const EngineInfo> Engines() {
  static const std::array kEngines = {
      EngineInfo{
          .name = "v1",
          .corresponds = "TraceBuffer V1 of all Perfetto releases",
          .difference = "Reads sequence by sequence; previous_packet_dropped is 0 or 1, and 1 on "
                        "the first packet of every sequence; a commit keeps its whole payload.",
          .create = CreateV1Engine,
          .stores_whole_payloads = true,
          .flags_first_of_sequence = true,
          .read_order = ReadOrder::kBySequence,
      },
      V2(54,
         "The first release of V2: previous_packet_dropped is 0 or 1, chunks are evicted before a "
         "re-commit is recognized, and the write cursor returns to 0 at once."),
      V2(55,
         "A chunk that was consumed while incomplete can be re-committed when it has grown (but is "
         "flagged as a gap); the write cursor waits at the end, which counts the wrap, and a full "
         "discard buffer accepts no more."),
      V2(56,
         "Re-commits are recognized before chunks are evicted; overwritten chunks are counted when "
         "their last fragment is lost; a re-committed chunk is not flagged as a gap."),
      V2(57, "previous_packet_dropped reports the causes of a loss in bits."),
      V2(58,
         "A consumed incomplete chunk that is completed later moves to the write cursor "
         "(chunks_relocated); an abort marker is not an ABI violation."),
  };
  return kEngines;
}

uint32_t EngineInfo::SpaceOf(const ChunkCommit& commit, WrittenChunk& scratch) const {
  if (stores_whole_payloads || !commit.complete)
    return OuterSize(static_cast<uint32_t>(commit.payload.size()));
  ReadWrittenChunk(commit, scratch);
  return OuterSize(scratch.bytes);
}

Result<const EngineInfo*> FindEngine(std::string_view name) {
  const std::span<const EngineInfo> engines = Engines();
  if (name == "v2") return &engines.back();
  if (const EngineInfo* const engine = FindBy(engines, name, &EngineInfo::name)) return engine;
  std::vector<std::string_view> names = {"v2"};
  for (const EngineInfo& engine : engines) names.push_back(engine.name);
  std::string hint = fmt::format("engines: {}", fmt::join(names, ", "));
  if (const auto nearest = NearestName(name, names))
    hint = fmt::format("did you mean '{}'? {}", *nearest, hint);
  return Fail(ErrorCode::kUsage, fmt::format("there is no engine '{}'", name), {}, std::move(hint));
}

}  // namespace ringscope
