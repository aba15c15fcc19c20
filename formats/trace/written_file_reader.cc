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
  std::optional<uint64_t> time_ns;
  uint64_t clock = kBootTime;
  bool is_mark = false;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    switch (field->number) {
      case proto::TracePacket::kTimestamp:
        time_ns = field->value;
        break;
      case proto::TracePacket::kTimestampClockId:
        clock = field->value;
        break;
      case proto::TracePacket::kServiceEvent:
        is_mark = ServiceEventIn(field->bytes) == proto::ServiceEvent::kReadTracingBuffersCompleted;
        break;
      case proto::TracePacket::kTraceConfig:
        file.config = ReadTraceConfigFacts(field->bytes);
        break;
      case proto::TracePacket::kTraceStats:
        file.stats = ReadTraceStats(field->bytes);
        break;
      default:
        break;
    }
  }
  if (clock != kBootTime) time_ns.reset();
  if (is_mark) file.marks.push_back({file.packets.size(), time_ns});
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
