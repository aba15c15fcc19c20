#include "core/engine/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "core/base/text.h"
#include "core/engine/v2_engine.h"

namespace ringscope {
namespace {

EngineInfo V1() {
  EngineInfo info{
      "v1", "TraceBuffer V1 of all Perfetto releases",
      "Reads sequence by sequence; previous_packet_dropped is 0 or 1, and 1 on the first packet "
      "of every sequence; a commit keeps its whole payload.",
      CreateV1Engine};
  info.stores_whole_payloads = true;
  info.flags_first_of_sequence = true;
  info.read_order = ReadOrder::kBySequence;
  return info;
}

template <const V2Rules& kRules, uint32_t kRelease>
EngineInfo V2(const char* name, const char* corresponds, const char* difference) {
  EngineInfo info{name, corresponds, difference,
                  [](const EngineConfig& config) { return CreateV2Engine(kRules, config); }};
  info.release = kRelease;
  info.flags_readmitted = kRules.readmits_grown_chunk && !kRules.readmission_is_no_gap;
  info.read_order = ReadOrder::kByBuffer;
  info.has_protovm = true;
  return info;
}

const std::array<EngineInfo, 6>& Catalogue() {
  static const std::array<EngineInfo, 6> kEngines = {{
      V1(),
      V2<kV54, 54>("v2@54", "TraceBufferV2 of Perfetto v54",
                   "The first release of V2: previous_packet_dropped is 0 or 1, chunks are evicted "
                   "before a re-commit is recognized, and the write cursor returns to 0 at once."),
      V2<kV55, 55>(
          "v2@55", "TraceBufferV2 of Perfetto v55",
          "A chunk that was consumed while incomplete can be re-committed when it has grown "
          "(but is flagged as a gap); the write cursor waits at the end, which counts the "
          "wrap, and a full discard buffer accepts no more."),
      V2<kV56, 56>(
          "v2@56", "TraceBufferV2 of Perfetto v56",
          "Re-commits are recognized before chunks are evicted; overwritten chunks are "
          "counted when their last fragment is lost; a re-committed chunk is not flagged as "
          "a gap."),
      V2<kV57, 57>("v2@57", "TraceBufferV2 of Perfetto v57",
                   "previous_packet_dropped reports the causes of a loss in bits."),
      V2<kV58, 58>("v2@58", "TraceBufferV2 of Perfetto v58",
                   "A consumed incomplete chunk that is completed later moves to the write cursor "
                   "(chunks_relocated); an abort marker is not an ABI violation."),
  }};
  return kEngines;
}

}  // namespace

uint32_t EngineInfo::SpaceOf(const ChunkCommit& commit, WrittenChunk& scratch) const {
  if (stores_whole_payloads || !commit.complete)
    return OuterSize(static_cast<uint32_t>(commit.payload.size()));
  ReadWrittenChunk(commit, scratch);
  return OuterSize(scratch.bytes);
}

std::span<const EngineInfo> Engines() { return Catalogue(); }

Result<const EngineInfo*> FindEngine(std::string_view name) {
  if (name == "v2") return &Catalogue().back();
  for (const EngineInfo& engine : Catalogue())
    if (name == engine.name) return &engine;
  std::vector<std::string_view> names = {"v2"};
  for (const EngineInfo& engine : Catalogue()) names.push_back(engine.name);
  std::string hint = fmt::format("engines: {}", fmt::join(names, ", "));
  if (const auto nearest = NearestName(name, names))
    hint = fmt::format("did you mean '{}'? {}", *nearest, hint);
  return Fail(ErrorCode::kUsage, fmt::format("there is no engine '{}'", name), {}, std::move(hint));
}

}  // namespace ringscope
