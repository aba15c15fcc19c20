#include "formats/trace/trace_file_scan.h"

#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {

Result<ScannedTrace> ScanTraceFile(
    std::unique_ptr<ByteSource> source,
    const std::function<void(uint64_t, std::optional<uint64_t>)>& progress, ReadAhead ahead) {
  const std::string path = source->path();
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip, ahead));
  TraceScan scan;
  constexpr uint64_t kPacketsBetween = 4096;
  uint64_t packets = 0;
  ViewedPacket packet;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, reader->Next(packet));
    if (!more) break;
    scan.AddPacket(packet.offset, packet.bytes, packet.view);
    if (++packets % kPacketsBetween == 0) progress(reader->position(), reader->size());
  }
  if (packets == 0 && reader->position() > 0) {
    const bool is_damaged = reader->damage_count() > 0;
    return Fail(ErrorCode::kCorrupt, is_damaged ? reader->damage().front().what : "no packet in it",
                {path, is_damaged ? reader->damage().front().offset : 0, {}},
                "expected a Perfetto trace (.pftrace), plain or compressed by zstd or gzip");
  }
  const size_t errors = reader->damage().size() - (reader->is_cut_off() ? 1 : 0);
  for (size_t i = 0; i < errors; ++i)
    scan.AddError(reader->damage()[i].offset, reader->damage()[i].what);
  ScannedTrace result{scan.Finish(), reader->position()};
  result.facts.is_cut_off = reader->is_cut_off();
  return result;
}

Status TraceScanSink::Write(Bytes bytes) {
  wire::FieldReader fields(bytes);
  while (const auto field = fields.Next()) {
    if (field->number == proto::Trace::kPacket) scan_.AddPacket(offset_, field->bytes);
    offset_ += field->whole.size();
  }
  if (!fields.ok())
    return Fail(ErrorCode::kCorrupt, "a replayed packet is not well-formed", {{}, offset_, {}});
  return {};
}

}  // namespace ringscope
