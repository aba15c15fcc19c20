#include "formats/trace/trace_file_scan.h"

#include <utility>

#include "formats/trace/perfetto_trace.h"

namespace ringscope {

Result<ScannedTrace> ScanTraceFile(
    std::unique_ptr<ByteSource> source,
    const std::function<void(uint64_t, std::optional<uint64_t>)>& progress) {
  const std::string path = source->path();
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  TraceScan scan;
  constexpr uint64_t kPacketsBetween = 4096;
  uint64_t packets = 0;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> packet, reader->Next());
    if (!packet) break;
    scan.AddPacket(packet->offset, packet->bytes);
    if (++packets % kPacketsBetween == 0) progress(reader->position(), reader->size());
  }
  if (packets == 0 && reader->damage_count() > 0) {
    const Damage& first = reader->damage().front();
    return Fail(ErrorCode::kCorrupt, first.what, {path, first.offset, {}},
                "expected a Perfetto trace (.pftrace), plain or compressed by zstd or gzip");
  }
  const size_t errors = reader->damage().size() - (reader->is_cut_off() ? 1 : 0);
  for (size_t i = 0; i < errors; ++i)
    scan.AddError(reader->damage()[i].offset, reader->damage()[i].what);
  ScannedTrace result{scan.Finish(), reader->position()};
  result.facts.is_cut_off = reader->is_cut_off();
  result.facts.deflated_packets = reader->packed(PackedBy::kDeflate);
  result.facts.zstd_packets = reader->packed(PackedBy::kZstd);
  return result;
}

}  // namespace ringscope
