#include "formats/trace/trace_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/log/payload_mask.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/packet_validator.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/trace/trace_scan.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

/// Counters that are no data loss by trace processor's severity, but report that data is gone.
constexpr std::array<std::string_view, 4> kAlsoLosses = {"chunks_overwritten", "chunks_discarded",
                                                         "patches_discarded", "invalid_packets"};

/// "chunks_overwritten 12, patches_failed 4"
/// @param fields of the counters
std::string CountersText(const auto& stats, const auto& fields) {
  std::vector<std::string> counts;
  for (const auto& field : fields)
    if (stats.*field.value > 0 &&
        (field.is_data_loss || std::ranges::find(kAlsoLosses, field.name) != kAlsoLosses.end()))
      counts.push_back(fmt::format("{} {}", field.name, stats.*field.value));
  return Joined(counts);
}

/// "overwrote 7.70 MiB of 7.95 MiB written (96.9%) unread and discarded 460 of 476 chunks"
std::string LostText(const BufferStats& stats) {
  std::string text;
  if (stats.chunks_overwritten > 0)
    text = fmt::format("overwrote {} of {} written ({}) unread", HumanSize(stats.bytes_overwritten),
                       HumanSize(stats.bytes_written),
                       ShareText(stats.bytes_overwritten, stats.bytes_written));
  if (stats.chunks_discarded > 0)
    text += fmt::format("{}discarded {} of {}", text.empty() ? "" : " and ",
                        WithCommas(stats.chunks_discarded),
                        Count(stats.chunks_written + stats.chunks_discarded, "chunk"));
  return text;
}

}  // namespace

TraceSession::TraceSession(const TraceFacts& facts) : config(facts.config.value_or("")) {
  const TraceConfigFacts known = ReadTraceConfigFacts(wire::AsBytes(config));
  for (const TraceSequence& sequence : facts.sequences)
    if (sequence.buffer) listed_[sequence.id] = BufferId{static_cast<uint16_t>(*sequence.buffer)};
  size_t count = std::max<size_t>({1, known.buffers.size(), facts.buffers.size()});
  for (const auto& [id, buffer] : listed_) count = std::max<size_t>(count, Raw(buffer) + 1);
  count = std::min(count, kMaxStatsBuffers);
  for (size_t i = 0; i < count; ++i) {
    constexpr uint64_t kBytesPerKb = 1024, kMaxSizeKb = 4'194'300;  // that a buffer can have
    uint64_t kb = i < known.buffers.size() ? known.buffers[i].size_kb : 0;
    if ((kb == 0 || kb > kMaxSizeKb) && i < facts.buffers.size())
      kb = facts.buffers[i].stats.buffer_size / kBytesPerKb +
           (facts.buffers[i].stats.buffer_size % kBytesPerKb == 0 ? 0 : 1);
    const bool knows_size = kb > 0 && kb <= kMaxSizeKb;
    guessed_sizes += knows_size ? 0 : 1;
    BufferSetUp& buffer = buffers.emplace_back();
    buffer.id = BufferId{static_cast<uint16_t>(i)};
    buffer.index = static_cast<uint32_t>(i);
    buffer.size = knows_size ? kb * kBytesPerKb : kDefaultBufferSize;
    buffer.policy = FillPolicy::kRingBuffer;
    if (i < known.buffers.size()) {
      buffer.policy = known.buffers[i].policy;
      buffer.engine = known.buffers[i].is_v2 ? "v2" : "v1";
    }
    if (i >= facts.buffers.size()) continue;
    if (const std::string lost = LostText(facts.buffers[i].stats); !lost.empty())
      lost_in_buffers += fmt::format(
          "{}buffer {} {}", lost_in_buffers.empty() ? "by the trace's statistics " : "; ", i, lost);
  }
  const auto is_first_target = [&](const ConfiguredSource& source) {
    return source.target_buffer == known.sources.front().target_buffer;
  };
  if (known.buffers.size() == 1) only_target_ = BufferId{0};
  if (!known.sources.empty() && known.sources.front().target_buffer < count &&
      std::ranges::all_of(known.sources, is_first_target))
    only_target_ = BufferId{static_cast<uint16_t>(known.sources.front().target_buffer)};
}

std::optional<BufferId> TraceSession::BufferOf(uint32_t sequence_id) const {
  const auto found = listed_.find(sequence_id);
  return found != listed_.end() ? std::optional(found->second) : only_target_;
}

std::vector<RecorderGap> CountedLosses(const TraceFacts& facts) {
  std::vector<RecorderGap> losses;
  const auto add = [&](std::string reason, uint64_t bytes) {
    RecorderGap& loss = losses.emplace_back();
    loss.reason = std::move(reason);
    if (bytes > 0) loss.bytes = bytes;
  };
  for (size_t i = 0; i < facts.buffers.size(); ++i)
    if (const std::string counts = CountersText(facts.buffers[i].stats, kStatFields);
        !counts.empty())
      add(fmt::format("the statistics of the trace's buffer {}: {}", i, counts),
          facts.buffers[i].stats.bytes_overwritten);
  if (const std::string counts = CountersText(facts.service, kServiceFields); !counts.empty())
    add("the trace's statistics of the service: " + counts, 0);
  return losses;
}

namespace {

/// Returns true if a packet is the service's own. Traces that other programs made have producers'
/// packets under the service's sequence id, or without one.
bool IsOfService(const TracePacketView& packet) {
  using Packet = proto::TracePacket;
  switch (packet.content) {
    case 0:
      return packet.sequence_id == kServiceSequenceId && !packet.has_interned_data &&
             !packet.defaults;
    case Packet::kFtraceEvents:
    case Packet::kProcessTree:
    case Packet::kProcessStats:
    case Packet::kTrackEvent:
    case Packet::kFtraceStats:
    case Packet::kTrackDescriptor:
      return false;
    case Packet::kTraceConfig:
    case Packet::kTraceStats:
    case Packet::kSynchronizationMarker:
    case Packet::kServiceEvent:
    case Packet::kTraceProvenance:
    case Packet::kProtovms:
    case Packet::kRemoteClockSync:
      return true;
    case Packet::kClockSnapshot:
    case Packet::kTraceUuid:
      return packet.sequence_id <= kServiceSequenceId;
    default:
      return packet.sequence_id == kServiceSequenceId;
  }
}

/// Removes the service's fields from a packet, wherever they are.
void StripTrustedFields(Bytes packet, std::string& out) {
  out.clear();
  bool after_trusted = false;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    const bool trusted = field->number == proto::TracePacket::kTrustedUid ||
                         field->number == proto::TracePacket::kTrustedPacketSequenceId ||
                         field->number == proto::TracePacket::kTrustedPid ||
                         field->number == proto::TracePacket::kMachineId;
    after_trusted |= trusted;
    // Loss bits that a producer wrote precede the service's fields.
    if (trusted || (field->number == proto::TracePacket::kPreviousPacketDropped && after_trusted))
      continue;
    out += wire::AsText(field->whole);
  }
}

}  // namespace

Status TraceImport::Add(const RawPacket& packet, const TracePacketView& view) {
  const std::optional<TimeSpan> events = scan_.AddPacket(packet.offset, packet.bytes, view);
  std::optional<uint64_t> time;
  if (events) time = static_cast<uint64_t>(events->last_ns);
  if (!view.is_well_formed) {
    ++report_.malformed;
    return {};
  }
  if (IsOfService(view)) return AddService(packet, view);
  ProducerPart part = SplitAppended(packet.bytes, view);
  if (!IsValidPacket({&part.bytes, 1})) {
    StripTrustedFields(packet.bytes, scratch_);
    part.bytes = wire::AsBytes(scratch_);
    if (!IsValidPacket({&part.bytes, 1})) {
      ++report_.malformed;
      return {};
    }
  }
  if (part.bytes.empty()) {  // a buffer returns none either
    ++report_.empty;
    return {};
  }
  Sequence* const sequence = SequenceOf(view);
  if (sequence == nullptr) return {};
  ++report_.packets;
  report_.packet_bytes += part.bytes.size();
  // A buffer of version 1 marks the first packet of every sequence, which is no loss.
  const bool is_first = !std::exchange(sequence->has_packet, true);
  if (is_first && part.dropped == kLossPresent) part.dropped = 0;
  if (time) {
    NoteTime(*time);
    if (*time < sequence->own_ns) ++report_.late;
    sequence->own_ns = *time;
  } else {
    ++report_.untimed;
  }
  // Never earlier than the preceding packet, nor than a read that precedes it in the file.
  sequence->last_ns = std::max({sequence->last_ns, time.value_or(0), read_ns_});
  return sorter_.Add({.time_ns = sequence->last_ns,
                      .sequence = static_cast<uint32_t>(sequence - sequences_.data()) + 1,
                      .dropped = part.dropped,
                      .bytes = part.bytes});
}

Status TraceImport::AddService(const RawPacket& packet, const TracePacketView& view) {
  std::optional<uint64_t> time = view.timestamp;
  switch (view.content) {
    case proto::TracePacket::kTraceConfig:
    case proto::TracePacket::kTraceStats:
    case proto::TracePacket::kTraceProvenance:
      return {};  // the scan has them
    case proto::TracePacket::kClockSnapshot:
      if (const auto taken = BootTimeOf(view.content_bytes)) time = taken;
      break;
    case proto::TracePacket::kServiceEvent: {
      const std::optional<uint32_t> event = ServiceEventIn(view.content_bytes);
      const bool is_read = event == proto::TracingServiceEvent::kReadTracingBuffersCompleted;
      disabled_ |= event == proto::TracingServiceEvent::kTracingDisabled;
      reads_during_ |= is_read && !disabled_;
      // It returned the packets before the event in the file, and none after it.
      if (is_read && time) read_ns_ = std::max(read_ns_, *time);
      break;
    }
    default:
      LeaveOut(view.content);
      return {};
  }
  if (time) NoteTime(*time);
  return sorter_.Add({.time_ns = time.value_or(latest_ns_.value_or(0)),
                      .sequence = kServiceSlot,
                      .dropped = 0,
                      .bytes = packet.bytes});
}

void TraceImport::LeaveOut(uint32_t content) {
  constexpr size_t kMaxKinds = 1000;  // more are no trace's
  if (report_.left_out.size() < kMaxKinds || report_.left_out.contains(content))
    ++report_.left_out[content];
}

void TraceImport::NoteTime(uint64_t time_ns) {
  first_ns_ = std::min(first_ns_.value_or(time_ns), time_ns);
  latest_ns_ = time_ns;
}

/// @return nullptr if the packet has to be left out
TraceImport::Sequence* TraceImport::SequenceOf(const TracePacketView& packet) {
  if (!sequences_.empty() && sequences_[last_].id == packet.sequence_id) return &sequences_[last_];
  if (const auto found = slots_.find(packet.sequence_id); found != slots_.end())
    return &sequences_[last_ = found->second];
  if (sequences_.size() == kMaxSequences) {
    ++report_.beyond_limits;
    return nullptr;
  }
  const Identity identity{static_cast<uint32_t>(packet.uid.value_or(0)), packet.pid.value_or(-1)};
  const ProducerId next{static_cast<uint16_t>(producers_.size() + 1)};
  const auto [known, is_new] = producer_of_.try_emplace({identity.uid, identity.pid}, next);
  if (is_new) producers_.push_back({.identity = identity});
  const WriterId writer{++producers_[Raw(known->second) - 1].writers};
  slots_.emplace(packet.sequence_id, static_cast<uint32_t>(sequences_.size()));
  report_.sequences = sequences_.size() + 1;
  report_.producers = producers_.size();
  return &sequences_.emplace_back(Sequence{.id = packet.sequence_id,
                                           .producer = known->second,
                                           .writer = writer,
                                           .packer = ChunkPacker(writer)});
}

Status TraceImport::Write(const Append& append) {
  const TraceFacts facts = scan_.Finish();
  RS_RETURN_IF_ERROR(sorter_.Finish());
  bool is_set_up = false;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TimedPacket> packet, sorter_.Next());
    // Packets before the first with a known time are at the trace's beginning.
    if (packet) now_ns_ = std::max(packet->time_ns, first_ns_.value_or(0));
    if (!std::exchange(is_set_up, true))
      RS_RETURN_IF_ERROR(WriteSetUp(TraceSession(facts), append));
    if (!packet) return WriteEnd(facts, append);
    RS_RETURN_IF_ERROR(packet->sequence == kServiceSlot ? WriteServicePacket(packet->bytes, append)
                                                        : WritePacket(*packet, facts, append));
  }
}

Status TraceImport::WriteSetUp(const TraceSession& session, const Append& append) {
  constexpr size_t kMaxKeeping = 4096;  // sequences that keep a chunk's memory: 16 MiB
  report_.buffers = session.buffers.size();
  report_.guessed_sizes = session.guessed_sizes;
  report_.has_config = !session.config.empty();
  for (Sequence& sequence : sequences_) {
    const std::optional<BufferId> buffer = session.BufferOf(sequence.id);
    if (!buffer && session.buffers.size() > 1) ++report_.guessed_sequences;
    sequence.buffer = buffer.value_or(BufferId{0});
    if (sequences_.size() <= kMaxKeeping) sequence.packer.KeepMemory();
  }
  LogHeader header = ImportHeader();
  header.source = Origin::kSynthetic;
  header.clock = "boottime";
  header.description = fmt::format(
      "made from the trace {}: {} packets of {} sequences, as if committed at their timestamps; "
      "what was lost before the trace was written is not known",
      options_.name, report_.packets, report_.sequences);
  RS_RETURN_IF_ERROR(Put(append, std::move(header)));
  if (report_.has_config) RS_RETURN_IF_ERROR(Put(append, TraceConfigRecord{session.config}));
  for (const BufferSetUp& buffer : session.buffers) RS_RETURN_IF_ERROR(Put(append, buffer));
  if (!session.lost_in_buffers.empty())
    RS_RETURN_IF_ERROR(
        Put(append, Inexact{InexactReason::kLosses, {}, {}, session.lost_in_buffers}));
  if (report_.untimed == 0) return {};
  return Put(append, Inexact{InexactReason::kTimes,
                             {},
                             {},
                             fmt::format("{} of {} packets", WithCommas(report_.untimed),
                                         WithCommas(report_.packets))});
}

/// Clock snapshots are records, events are notes, and perhaps reads.
Status TraceImport::WriteServicePacket(Bytes packet, const Append& append) {
  const TracePacketView view = ViewTracePacket(packet);
  if (view.content == proto::TracePacket::kClockSnapshot)
    return Put(append, ClockSnapshotRecord{std::string(wire::AsText(view.content_bytes))});
  const std::optional<uint32_t> event = ServiceEventIn(view.content_bytes);
  if (!event) return {};
  // Without reads during the session, a replay reads at its end.
  const bool is_read =
      *event == proto::TracingServiceEvent::kReadTracingBuffersCompleted && reads_during_;
  // The read returned what precedes it in the trace, so that was committed.
  if (is_read) RS_RETURN_IF_ERROR(CloseChunks(append));
  RS_RETURN_IF_ERROR(Put(append, Note{"service: " + ServiceEventName(*event)}));
  return is_read ? Put(append, ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}})
                 : Status();
}

Status TraceImport::WritePacket(const TimedPacket& packet, const TraceFacts& facts,
                                const Append& append) {
  Sequence& sequence = sequences_[packet.sequence - 1];
  RS_RETURN_IF_ERROR(Connect(sequence.producer, facts, append));
  if (packet.dropped != 0) {
    ++report_.gaps;
    RS_RETURN_IF_ERROR(Put(
        append,
        RecorderGap{.reason = fmt::format("the trace lacks packets of writer {} here: {}",
                                          Raw(sequence.writer), LossBitsToString(packet.dropped)),
                    .producer = sequence.producer,
                    .records = {},
                    .bytes = {},
                    .from_ns = sequence.written_ns,
                    .to_ns = now_ns_,
                    .writer = sequence.writer,
                    .loss_bits = packet.dropped}));
  }
  sequence.written_ns = now_ns_;
  RS_RETURN_IF_ERROR(Pack(sequence, packet.bytes, append));
  return pending_ > kMaxPending ? CloseChunks(append) : Status{};
}

Status TraceImport::Connect(ProducerId id, const TraceFacts& facts, const Append& append) {
  Producer& producer = producers_[Raw(id) - 1];
  if (std::exchange(producer.connected, true)) return {};
  ProducerConnected connected;
  connected.producer = id;
  connected.uid = producer.identity.uid;
  connected.pid = producer.identity.pid;
  const auto name = facts.process_names.find(connected.pid);
  connected.name = name != facts.process_names.end() ? name->second
                   : connected.pid >= 0              ? fmt::format("pid {}", connected.pid)
                                                     : fmt::format("uid {}", connected.uid);
  return Put(append, std::move(connected));
}

/// Packs a packet, or without one closes the open chunk, and commits what is complete.
Status TraceImport::Pack(Sequence& sequence, std::optional<Bytes> packet, const Append& append) {
  Status status;
  const auto commit = [&](const ChunkHeader& header, Bytes payload) {
    if (!status) return;
    ++report_.chunks;
    scratch_.clear();
    CommitRequestBuilder(scratch_).AddChunk(sequence.buffer, header, payload, /*complete=*/true);
    Commit record;
    record.producer = sequence.producer;
    record.origin = Origin::kSynthetic;
    record.request = wire::AsBytes(scratch_);
    status = Put(append, record);
  };
  pending_ -= sequence.packer.pending();
  if (packet)
    sequence.packer.Add(*packet, commit);
  else
    sequence.packer.Finish(commit);
  pending_ += sequence.packer.pending();
  return status;
}

/// Commits every chunk that is not full.
Status TraceImport::CloseChunks(const Append& append) {
  for (Sequence& sequence : sequences_) RS_RETURN_IF_ERROR(Pack(sequence, std::nullopt, append));
  return {};
}

Status TraceImport::WriteEnd(const TraceFacts& facts, const Append& append) {
  RS_RETURN_IF_ERROR(CloseChunks(append));
  for (RecorderGap& loss : CountedLosses(facts)) {
    ++report_.counted_losses;
    loss.to_ns = now_ns_;
    RS_RETURN_IF_ERROR(Put(append, std::move(loss)));
  }
  const bool has_stats = std::ranges::any_of(facts.buffers, &TraceBuffer::has_stats);
  if (!has_stats && report_.gaps > 0)
    RS_RETURN_IF_ERROR(
        Put(append,
            Inexact{InexactReason::kLosses, {}, {}, "by packets that report a loss before them"}));
  if (!reads_during_) return {};
  return Put(
      append,
      ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}, .reason = ReadReason::kFinal});
}

namespace {

std::string TraceName(const std::string& path) {
  if (path == "-") return "on standard input";
  return std::filesystem::path(path).filename().string();
}

/// Makes the sessions of a log of those of a trace, one after the other.
class SessionImports : public SessionPackets {
 public:
  SessionImports(const TraceLogOptions& options, CommitLogWriter& writer)
      : options_(options), writer_(writer) {
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
    import_ = std::make_unique<TraceImport>(
        TraceImportOptions{.name = std::move(name), .sorter = {.folder = options_.folder}});
  }

  const TraceLogOptions& options_;
  CommitLogWriter& writer_;
  PayloadMask mask_;
  std::unique_ptr<TraceImport> import_;  // of the session that is being read
  std::vector<TraceImportReport> reports_;
  bool has_packets_ = false;  // in a session that has ended
};

}  // namespace

Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<CommitLogWriter> writer,
      CommitLogWriter::Create(sink, {.level = options.level, .threads = options.threads}));
  SessionImports sessions(options, *writer);
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
