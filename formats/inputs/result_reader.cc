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

/// Finds where a trace begins within a file: the file of a cloned session has the session's trace
/// so far, and then that of the clone. Each has a config and a uuid, in this order.
class TraceStarts {
 public:
  /// @return whether a packet of the service begins another trace than the first
  bool Add(Bytes packet) {
    wire::FieldReader fields(packet);
    while (const auto field = fields.Next()) {
      bool* const seen = field->IsBytes(proto::TracePacket::kTraceConfig) ? &has_config_
                         : field->IsBytes(proto::TracePacket::kTraceUuid) ? &has_uuid_
                                                                          : nullptr;
      if (seen == nullptr || !std::exchange(*seen, true)) continue;
      has_config_ = has_uuid_ = false;
      *seen = true;
      return true;
    }
    return false;
  }

 private:
  bool has_config_ = false;
  bool has_uuid_ = false;
};

}  // namespace

Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source,
                                      std::vector<Damage>* damage) {
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      TraceReader::Open(std::move(source), damage == nullptr ? TraceReader::OnDamage::kFail
                                                             : TraceReader::OnDamage::kSkip));
  ReplayOutput output;
  std::map<uint32_t, size_t> indices;  // of sequences, by their ids in this trace of the file
  TraceStarts starts;
  uint32_t trace = 1;
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
      if (starts.Add(trace_packet->bytes)) {
        indices.clear();  // ids begin again
        ++trace;
      }
      continue;
    }
    if (output.packets == UINT32_MAX)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} packets", UINT32_MAX));
    const auto [index, is_new] = indices.try_emplace(id, output.sequences.size());
    if (is_new) {
      const Identity identity{static_cast<uint32_t>(trace_packet->trusted_uid.value_or(0)),
                              trace_packet->trusted_pid.value_or(-1)};
      std::string name = std::to_string(id);
      if (trace > 1) name += fmt::format(" of trace {}", trace);
      output.sequences.push_back({std::move(name), identity, {}});
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
