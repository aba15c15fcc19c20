#include "formats/inputs/result_reader.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <map>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

/// The counters in a packet of the service, if that is what it has.
void ReadStats(Bytes packet, std::vector<BufferStats>& stats) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(proto::TracePacket::kTraceStats)) continue;
    stats = ReadTraceStats(field->bytes);
  }
}

}  // namespace

Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage) {
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      TraceReader::Open(std::move(source), damage == nullptr ? TraceReader::OnDamage::kFail
                                                             : TraceReader::OnDamage::kSkip));
  ReplayOutput output;
  std::map<uint32_t, size_t> indices;  // of sequences, by their ids
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> trace_packet, reader->Next());
    if (!trace_packet) {
      if (damage != nullptr) *damage = reader->damage();
      return output;
    }
    const uint32_t id = trace_packet->sequence_id;
    if (id == kServiceSequenceId) {
      ++output.service_packets;
      ReadStats(trace_packet->bytes, output.stats);
      continue;
    }
    if (output.packets == UINT32_MAX)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} packets", UINT32_MAX));
    const auto [index, is_new] = indices.try_emplace(id, output.sequences.size());
    if (is_new) {
      const Identity identity{static_cast<uint32_t>(trace_packet->trusted_uid.value_or(0)),
                              trace_packet->trusted_pid.value_or(-1)};
      output.sequences.push_back({std::to_string(id), identity, {}});
    }
    const Bytes content = trace_packet->content;
    output.sequences[index->second].packets.push_back(
        {.hash = XXH3_64bits(content.data(), content.size()),
         .size = content.size(),
         .loss_bits = trace_packet->dropped,
         .content = ReadPacketFacts(content).content,
         .position = static_cast<uint32_t>(output.packets++)});
  }
}

}  // namespace ringscope
