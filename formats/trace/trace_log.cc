#include "formats/trace/trace_log.h"

#include <filesystem>

namespace ringscope {
namespace {

std::string TraceName(const std::string& path) {
  if (path == "-") return "on standard input";
  return std::filesystem::path(path).filename().string();
}

}  // namespace

Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  TraceImport import({.name = TraceName(options.path), .sorter = {.folder = options.folder}});
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> packet, reader->Next());
    if (!packet) break;
    RS_RETURN_IF_ERROR(import.Add(*packet));
    if (options.on_read) options.on_read(reader->position(), reader->size().value_or(0));
  }
  if (reader->damage_count() > 0 && import.report().packets == 0) {
    const Damage& damage = reader->damage().front();
    return Fail(ErrorCode::kCorrupt, damage.what, Where{options.path, damage.offset, {}},
                "no packets could be read from this trace");
  }
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<CommitLogWriter> writer,
                      CommitLogWriter::Create(sink, {.level = options.level}));
  RS_RETURN_IF_ERROR(import.Write([&](const Op& op) {
    if (options.on_write) options.on_write(import.written_bytes(), import.total_bytes());
    return writer->Append(op);
  }));
  RS_RETURN_IF_ERROR(writer->Close());
  return TraceLog{.report = import.report(),
                  .damage = reader->damage(),
                  .damage_count = reader->damage_count(),
                  .records = writer->records(),
                  .bytes = writer->bytes_written()};
}

}  // namespace ringscope
