#include "formats/trace/trace_file_scan.h"

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trace_stats.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/track_events.h"

namespace ringscope {
namespace {

/// A scan for each session of a file.
class SessionScans : public SessionPackets {
 public:
  explicit SessionScans(const PacketWatch& watch) : watch_(watch) {}

  Status OnPacket(const RawPacket& packet, const TracePacketView& view) override {
    is_trace |= IsTracePacket(view);
    has_inner_ |= packet.offset == last_offset_;
    last_offset_ = packet.offset;
    if (IsOwnSequence(view.sequence_id)) {
      if (own_packets_++ == 0) own_at = packet.offset;
      return {};
    }
    const uint64_t size = packet.bytes.size();
    end_ = packet.offset + 1 + wire::VarintSize(size) + size;
    scan_.AddPacket(packet.offset, packet.bytes, view);
    if (watch_ && view.sequence_id > kServiceSequenceId) watch_(packet, view);
    return {};
  }
  Status OnNextSession(uint64_t offset) override {
    EndSession();
    starts_.push_back(offset);
    if (kept_ > TraceScan::kMaxSequences) split.Stop();
    return {};
  }
  /// @param errors in the order of the file
  std::vector<TraceFacts> Finish(std::span<const Damage> errors) {
    EndSession();
    for (const Damage& error : errors) {
      const auto after = std::ranges::upper_bound(starts_, error.offset);
      TraceFacts& facts = sessions_[static_cast<size_t>(after - starts_.begin())];
      if (error.is_left_out)
        ++facts.too_large;
      else
        facts.AddError(error.offset, error.what);
    }
    for (size_t i = 0; i < sessions_.size(); ++i) {
      sessions_[i].session = i + 1;
      sessions_[i].sessions = sessions_.size();
    }
    sessions_.back().has_others = split.has_missed();
    sessions_.back().own_packets = own_packets_;
    return std::move(sessions_);
  }

  /// Returns where the last packet of the sessions ends, decompressed; nullopt: it is compressed by
  /// the service.
  std::optional<uint64_t> end() const { return has_inner_ ? std::nullopt : std::optional(end_); }

  SessionSplit split{*this};
  bool is_trace = false;           // a packet has a field that only those of a trace have
  std::optional<uint64_t> own_at;  // where ringscope's own tracks begin in the file, if it has any

 private:
  /// Returns what the facts take of memory, in units of about half a KiB.
  static size_t UnitsOf(const TraceFacts& facts) {
    constexpr size_t kUnit = 512;
    return 1 + facts.sequences.size() + facts.process_names.size() +
           (facts.config ? facts.config->size() : 0) / kUnit + facts.buffers.size() +
           facts.errors.size() + 4 * facts.remotes.size();
  }
  void EndSession() {
    kept_ += UnitsOf(sessions_.emplace_back(scan_.Finish()));
    scan_ = TraceScan();
  }

  const PacketWatch& watch_;
  TraceScan scan_;
  bool has_inner_ = false;  // packets that are compressed inside of others
  uint64_t last_offset_ = UINT64_MAX;
  uint64_t end_ = 0;  // of the packet before
  uint64_t own_packets_ = 0;
  std::vector<TraceFacts> sessions_;  // that have ended
  std::vector<uint64_t> starts_;      // offsets of the second session, and those that follow
  size_t kept_ = 0;                   // of these, see UnitsOf
};

}  // namespace

Result<ScannedTrace> ScanTraceFile(std::unique_ptr<ByteSource> source,
                                   const std::function<void(uint64_t, uint64_t)>& progress,
                                   const PacketWatch& watch, ByteSink* copy) {
  const std::string path = source->path();
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip, kMaxScannedPacket, copy));
  SessionScans scans(watch);
  RS_ASSIGN_OR_RETURN(const uint64_t packets, reader->ReadSessions(scans.split, progress));
  if (copy != nullptr) RS_RETURN_IF_ERROR(reader->SkipRest());
  if (packets == 0 && reader->position() > 0) {
    const bool is_damaged = reader->damage_count() > 0;
    return Fail(ErrorCode::kCorrupt, is_damaged ? reader->damage().front().what : "no packet in it",
                {path, is_damaged ? reader->damage().front().offset : 0, {}},
                "expected a Perfetto trace (.pftrace), plain or compressed by zstd or gzip");
  }
  if (packets > 0 && !scans.is_trace && reader->damage_count() == 0)
    return Fail(ErrorCode::kUnsupported,
                "this is not a Perfetto trace: no packet has a field that only those of a trace "
                "have",
                {path, {}, {}},
                "it is another protobuf, perhaps a profile (pprof, XSpace) or a descriptor set");
  const size_t errors = reader->damage().size() - (reader->is_cut_off() ? 1 : 0);
  ScannedTrace result{scans.Finish({reader->damage().data(), errors}), reader->position(), {}};
  TraceFacts& last = result.sessions.back();
  last.has_more_bytes = reader->is_cut_off() && last.HasEnd();
  last.is_cut_off = reader->is_cut_off() && !last.has_more_bytes;
  if (result.sessions.size() == 1) last.file_bytes = scans.end().value_or(reader->position());
  if (reader->is_cut_off()) result.cut_off_at = reader->damage().back().offset;
  result.own_at = scans.own_at;
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

Result<WrittenFile> ReadWrittenFile(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source)));
  WrittenFile file;
  RawPacket packet;
  TracePacketView view;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, reader->Next(packet, view));
    if (!more) return file;
    if (view.sequence_id > kServiceSequenceId) {
      const ProducerPart part = SplitAppended(packet.bytes, view);
      file.packets.push_back({HashOfPacket(part.bytes), view.sequence_id, part.dropped});
      continue;
    }
    const bool is_boot_time = view.timestamp_clock.value_or(kBootTime) == kBootTime;
    if (view.content == proto::TracePacket::kTraceConfig)
      file.config = ReadTraceConfigFacts(view.content_bytes);
    if (view.content == proto::TracePacket::kTraceStats)
      file.stats = ReadTraceStats(view.content_bytes);
    if (view.content == proto::TracePacket::kServiceEvent &&
        wire::LastVarint(view.content_bytes,
                         proto::TracingServiceEvent::kReadTracingBuffersCompleted))
      file.marks.push_back({file.packets.size(), is_boot_time ? view.timestamp : std::nullopt});
  }
}

}  // namespace ringscope
