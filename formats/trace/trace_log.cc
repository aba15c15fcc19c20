#include "formats/trace/trace_log.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "core/log/payload_mask.h"
#include "core/trace/session_split.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

std::string TraceName(const std::string& path) {
  if (path == "-") return "on standard input";
  return std::filesystem::path(path).filename().string();
}

/// Makes the sessions of a log of those of a trace, one after the other.
class SessionImports : public SessionPackets {
 public:
  /// @param file of the trace, in which its packets can be read again; nullptr: they cannot
  SessionImports(const TraceLogOptions& options, ByteSource* file, CommitLogWriter& writer)
      : options_(options), file_(file), writer_(writer) {
    Start();
  }

  Status OnPacket(const RawPacket& packet, const TracePacketView& view) override {
    return import_->Add(packet, view);
  }
  Status OnNextSession(uint64_t) override {
    RS_RETURN_IF_ERROR(EndSession());
    Start();
    return {};
  }
  /// After the last packet.
  Status EndSession() {
    RS_RETURN_IF_ERROR(import_->Write([this](const Op& op) {
      return writer_.Append(options_.without_payload ? mask_.Apply(op) : op);
    }));
    has_packets_ |= import_->report().packets > 0;
    reports_.push_back(import_->report());
    return {};
  }

  /// Of all sessions whose records are written, in their order.
  std::vector<TraceImportReport> TakeReports() { return std::move(reports_); }
  bool has_packets() const { return has_packets_ || import_->report().packets > 0; }

 private:
  void Start() {
    std::string name = TraceName(options_.path);
    if (!reports_.empty()) name += fmt::format(", session {}", reports_.size() + 1);
    import_ = std::make_unique<TraceImport>(TraceImportOptions{
        .name = std::move(name), .sorter = {.folder = options_.folder, .file = file_}});
  }

  const TraceLogOptions& options_;
  ByteSource* const file_;
  CommitLogWriter& writer_;
  PayloadMask mask_;
  std::unique_ptr<TraceImport> import_;  // of the session that is being read
  std::vector<TraceImportReport> reports_;
  bool has_packets_ = false;  // in a session that has ended
};

}  // namespace

Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink) {
  ByteSource* const file = source.get();  // the reader has it
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<CommitLogWriter> writer,
      CommitLogWriter::Create(sink, {.level = options.level, .threads = options.threads}));
  SessionImports sessions(options, file->CanReadAt() ? file : nullptr, *writer);
  SessionSplit split(sessions);
  RS_RETURN_IF_ERROR(reader->ReadSessions(split, options.on_read));
  if (reader->damage_count() > 0 && !sessions.has_packets()) {
    const Damage& damage = reader->damage().front();
    return Fail(ErrorCode::kCorrupt, damage.what, Where{options.path, damage.offset, {}},
                "no packets could be read from this trace");
  }
  RS_RETURN_IF_ERROR(sessions.EndSession());
  RS_RETURN_IF_ERROR(writer->Close());
  return TraceLog{.sessions = sessions.TakeReports(),
                  .damage = reader->damage(),
                  .damage_count = reader->damage_count(),
                  .records = writer->records(),
                  .bytes = writer->bytes_written()};
}

}  // namespace ringscope
