#include "formats/trace/written_file_reader.h"

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trace_stats.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

/// A packet of the service itself.
void AddServicePacketTo(Bytes packet, WrittenFile& file) {
  const TracePacketView view = ViewTracePacket(packet);
  const bool is_boot_time = view.timestamp_clock.value_or(kBootTime) == kBootTime;
  if (view.content == proto::TracePacket::kTraceConfig)
    file.config = ReadTraceConfigFacts(view.content_bytes);
  if (view.content == proto::TracePacket::kTraceStats)
    file.stats = ReadTraceStats(view.content_bytes);
  if (view.content == proto::TracePacket::kServiceEvent &&
      ServiceEventIn(view.content_bytes) == proto::ServiceEvent::kReadTracingBuffersCompleted)
    file.marks.push_back({file.packets.size(), is_boot_time ? view.timestamp : std::nullopt});
}

}  // namespace

Result<WrittenFile> ReadWrittenFile(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source)));
  WrittenFile file;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> packet, reader->Next());
    if (!packet) return file;
    if (packet->sequence_id <= kServiceSequenceId)
      AddServicePacketTo(packet->bytes, file);
    else
      file.packets.push_back({HashOfPacket(packet->content), packet->sequence_id, packet->dropped});
  }
}

}  // namespace ringscope
