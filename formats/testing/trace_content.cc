#include "formats/testing/trace_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "formats/testing/trace_packet.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {

Result<TraceContent> ReadTraceContent(std::unique_ptr<ByteSource> trace) {
  TraceContent content;
  RS_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(std::move(trace)));
  while (true) {
    RS_ASSIGN_OR_RETURN(const auto packet, testing::NextPacket(*reader));
    if (!packet) return content;
    if (packet->view.sequence_id != kServiceSequenceId) {
      ContentPacket& added = content.packets.emplace_back();
      added.content = wire::AsText(packet->content);
      added.sequence_id = packet->view.sequence_id;
      added.dropped = packet->dropped;
      wire::FieldReader all(packet->bytes);
      while (const auto field = all.Next())
        if (field->number != proto::TracePacket::kTrustedPid)
          added.bytes += wire::AsText(field->whole);
      continue;
    }
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next())
      if (field->number == proto::TracePacket::kTraceStats)
        content.stats = ReadTraceStats(field->bytes);
  }
}

std::string PacketsDifference(const TraceContent& expected, const TraceContent& found) {
  const size_t both = std::min(expected.packets.size(), found.packets.size());
  for (size_t i = 0; i < both; ++i) {
    const ContentPacket &e = expected.packets[i], &f = found.packets[i];
    if (e.sequence_id != f.sequence_id)
      return fmt::format("packet {} is of sequence {}, not {}", i, f.sequence_id, e.sequence_id);
    if (e.dropped != f.dropped)
      return fmt::format("packet {} has the loss bits {}, not {}", i, f.dropped, e.dropped);
    if (e.bytes != f.bytes) return fmt::format("packet {} has other bytes", i);
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
