#include "formats/trace/trace_log.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/log/payload_mask.h"
#include "core/trace/session_split.h"
#include "formats/trace/packets_ahead.h"

namespace ringscope {
namespace {

std::string TraceName(const std::string& path) {
  if (path == "-") return "on standard input";
  return std::filesystem::path(path).filename().string();
}

/// The view of a packet that tells sessions apart: all but the service's are alike.
TracePacketView ViewToSplit(const PacketsAhead::Packet& packet) {
  if (packet.whole != nullptr && packet.whole->sequence_id <= kServiceSequenceId)
    return ViewTracePacket(packet.whole->bytes);
  TracePacketView view;
  view.sequence_id =
      packet.whole != nullptr ? packet.whole->sequence_id : packet.brief->sequence_id;
  return view;
}

/// Makes the sessions of a log of those of a trace, one after the other.
class SessionImports {
 public:
  /// @param file of the trace, in which its packets can be read again; nullptr: they cannot
  SessionImports(const TraceLogOptions& options, ByteSource* file, CommitLogWriter& writer)
      : options_(options), file_(file), writer_(writer) {
    Start();
  }

  Status Add(const PacketsAhead::Packet& packet) {
    const auto add_kept = [this](uint64_t offset, Bytes bytes) { return AddKept(offset, bytes); };
    const auto start_next = [this](uint64_t) { return StartNext(); };
    // Only packets of the service are kept.
    const Bytes bytes = packet.whole != nullptr ? packet.whole->bytes : Bytes();
    RS_ASSIGN_OR_RETURN(const bool is_kept, split_.Add(packet.offset, bytes, ViewToSplit(packet),
                                                       add_kept, start_next));
    if (is_kept) return {};
    return packet.whole != nullptr
               ? import_->Add(*packet.whole)
               : import_->Add(*packet.brief, packet.brief_bytes, packet.in_file);
  }

  Status Finish() {
    RS_RETURN_IF_ERROR(
        split_.Finish([this](uint64_t offset, Bytes bytes) { return AddKept(offset, bytes); }));
    return EndSession();
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
  Status AddKept(uint64_t offset, Bytes bytes) {
    TracePacket packet = SplitTracePacket(bytes);
    packet.offset = offset;
    return import_->Add(packet);
  }
  Status StartNext() {
    RS_RETURN_IF_ERROR(EndSession());
    Start();
    return {};
  }
  Status EndSession() {
    RS_RETURN_IF_ERROR(import_->Write([this](const Op& op) {
      if (options_.on_write) options_.on_write(import_->written_bytes(), import_->total_bytes());
      return writer_.Append(options_.without_payload ? mask_.Apply(op) : op);
    }));
    has_packets_ |= import_->report().packets > 0;
    reports_.push_back(import_->report());
    return {};
  }

  const TraceLogOptions& options_;
  ByteSource* const file_;
  CommitLogWriter& writer_;
  PayloadMask mask_;
  SessionSplit split_;
  std::unique_ptr<TraceImport> import_;  // of the session that is being read
  std::vector<TraceImportReport> reports_;
  bool has_packets_ = false;  // in a session that has ended
};

}  // namespace

Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink) {
  ByteSource* const file = source.get();  // the reader has it
  const ReadAhead ahead = PaysToReadAhead(source->size()) ? ReadAhead::kYes : ReadAhead::kNo;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip, ahead));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<CommitLogWriter> writer,
      CommitLogWriter::Create(sink, {.level = options.level, .threads = options.threads}));
  const bool keeps_file = file->CanReadAt();
  SessionImports sessions(options, keeps_file ? file : nullptr, *writer);
  {
    PacketsAhead packets(*reader, keeps_file, options.threads > 0 ? ahead : ReadAhead::kNo);
    while (true) {
      RS_ASSIGN_OR_RETURN(const auto packet, packets.Next());
      if (!packet) break;
      RS_RETURN_IF_ERROR(sessions.Add(*packet));
      if (options.on_read && packets.is_between_blocks())
        options.on_read(reader->position(), reader->size().value_or(0));
    }
  }
  if (reader->damage_count() > 0 && !sessions.has_packets()) {
    const Damage& damage = reader->damage().front();
    return Fail(ErrorCode::kCorrupt, damage.what, Where{options.path, damage.offset, {}},
                "no packets could be read from this trace");
  }
  RS_RETURN_IF_ERROR(sessions.Finish());
  RS_RETURN_IF_ERROR(writer->Close());
  return TraceLog{.sessions = sessions.TakeReports(),
                  .damage = reader->damage(),
                  .damage_count = reader->damage_count(),
                  .records = writer->records(),
                  .bytes = writer->bytes_written()};
}

}  // namespace ringscope
