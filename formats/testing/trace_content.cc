#include "formats/testing/trace_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/perfetto/fields.h"
#include "core/perfetto/trace_stats.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {

Result<TraceContent> ReadTraceContent(std::unique_ptr<ByteSource> trace) {
  TraceContent content;
  RS_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(std::move(trace)));
  while (true) {
    RS_ASSIGN_OR_RETURN(const auto packet, reader->Next());
    if (!packet) return content;
    if (packet->sequence_id != kServiceSequenceId) {
      content.packets.push_back({.content = std::string(wire::AsText(packet->content)),
                                 .sequence_id = packet->sequence_id,
                                 .uid = packet->trusted_uid,
                                 .dropped = packet->dropped});
      continue;
    }
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next())
      if (field->number == proto::TracePacket::kTraceStats)
        content.stats = ReadTraceStats(field->bytes);
  }
}

std::string PacketsDifference(const TraceContent& expected, const TraceContent& found) {
  std::map<uint32_t, uint32_t> to_found, to_expected;  // sequence ids
  const size_t both = std::min(expected.packets.size(), found.packets.size());
  for (size_t i = 0; i < both; ++i) {
    const ContentPacket &e = expected.packets[i], &f = found.packets[i];
    if (to_found.try_emplace(e.sequence_id, f.sequence_id).first->second != f.sequence_id ||
        to_expected.try_emplace(f.sequence_id, e.sequence_id).first->second != e.sequence_id)
      return fmt::format("packet {} is of another sequence", i);
    if (e.content != f.content) return fmt::format("packet {} has another content", i);
    if (e.uid != f.uid) return fmt::format("packet {} has another trusted_uid", i);
    if (e.dropped != f.dropped)
      return fmt::format("packet {} has the loss bits {}, not {}", i, f.dropped, e.dropped);
  }
  if (expected.packets.size() != found.packets.size())
    return fmt::format("{} packets, not {}", found.packets.size(), expected.packets.size());
  return {};
}

std::string TraceDifference(const TraceContent& expected, const TraceContent& found) {
  const std::string packets = PacketsDifference(expected, found);
  if (!packets.empty()) return packets;
  if (expected.stats.size() != found.stats.size())
    return fmt::format("{} buffers, not {}", found.stats.size(), expected.stats.size());
  for (size_t i = 0; i < expected.stats.size(); ++i)
    for (const StatField& field : kStatFields)
      if (expected.stats[i].*field.value != found.stats[i].*field.value)
        return fmt::format("buffer {}: {} is {}, not {}", i, field.name,
                           found.stats[i].*field.value, expected.stats[i].*field.value);
  return {};
}

}  // namespace ringscope
