#include "formats/trace/perfetto_trace.h"

#include <fmt/format.h>

#include <cstring>

#include "core/base/text.h"
#include "core/perfetto/trace_stats.h"
#include "formats/io/made_ahead.h"

namespace ringscope {
namespace {

constexpr size_t kMaxFieldHead = 2 * wire::kMaxVarintBytes;  // tag and length, or tag and value

// Limits of the search after damage: the size of a candidate, and the bytes of all candidates.
constexpr size_t kMaxCandidate = size_t{64} << 10;
constexpr uint64_t kSearchBudget = uint64_t{256} << 20;

// A field that is too large and perhaps not there, as the source's size is not known: one of more
// bytes has a damaged length, and what follows is searched.
constexpr uint64_t kMostSkipped = uint64_t{512} << 20;

// Packets inside packets may unpack to the slack and this multiple of their size.
constexpr uint64_t kMaxRatio = 100;
constexpr int kPackedWindowLog = 23;  // as the service's packets need at any level but its "ultra"

/// The packets that a packet holds compressed: its first field. The service writes no other there.
struct PackedPackets {
  bool by_zstd = false;  // else by deflate
  Bytes packets;
};
std::optional<PackedPackets> PackedIn(Bytes packet) {
  // Nearly all packets begin with a field of a number below 16.
  if (packet.empty() || packet[0] < 0x80) return std::nullopt;
  const auto field = wire::FieldReader(packet).Next();
  if (!field) return std::nullopt;
  const bool by_zstd = field->IsBytes(proto::TracePacket::kZstdCompressedPackets);
  if (!by_zstd && !field->IsBytes(proto::TracePacket::kCompressedPackets)) return std::nullopt;
  return PackedPackets{by_zstd, field->bytes};
}

/// Returns true if the bytes begin with a packet that has what the service appends, and that
/// another packet or the bytes' end follows.
/// @param budget bytes that may still be read, of which what was read is taken
bool BeginsWithPacket(Bytes bytes, uint64_t& budget) {
  if (bytes.empty() || bytes.front() != kPacketTag) return false;
  const wire::Varint size = wire::ReadVarint(bytes.subspan(1));
  const size_t head = 1 + size.size;
  if (size.size == 0 || size.value > kMaxCandidate || size.value > bytes.size() - head)
    return false;
  const size_t end = head + static_cast<size_t>(size.value);
  if (end < bytes.size() && bytes[end] != kPacketTag) return false;
  budget -= std::min<uint64_t>(budget, end);
  const Bytes packet = bytes.subspan(head, end - head);
  const TracePacketView view = ViewTracePacket(packet);
  return view.is_well_formed && ((view.sequence_id != 0 && view.uid) || PackedIn(packet));
}

/// Gives a source's bytes without the CR before each LF.
std::unique_ptr<ByteSource> WithoutReturns(std::shared_ptr<ByteSource> source) {
  const auto read = [source,
                     has_return = false](std::span<uint8_t> into) mutable -> Result<size_t> {
    size_t size = 0;
    while (size == 0) {
      // A CR that was read last waits for what follows it.
      const size_t kept = has_return ? 1 : 0;
      if (into.size() <= kept) return size;
      if (has_return) into[0] = '\r';
      RS_ASSIGN_OR_RETURN(const size_t got, source->Read(into.subspan(kept)));
      const size_t all = kept + got;
      has_return = got > 0 && into[all - 1] == '\r';
      for (size_t i = 0; i < all - (has_return ? 1 : 0); ++i)
        if (into[i] != '\r' || i + 1 == all || into[i + 1] != '\n') into[size++] = into[i];
      if (got == 0) break;
    }
    return size;
  };
  return MakeSource(read, source->path());
}

void AppendBufferStats(std::string& out, const BufferStats& stats) {
  std::string message;
  for (const StatField& field : kStatFields)
    wire::AppendUint(message, field.proto_field, stats.*field.value);
  wire::AppendBytes(out, proto::TraceStats::kBufferStats, wire::AsBytes(message));
}

template <typename T>
void AppendPacked(std::string& out, uint32_t number, const T& values) {
  std::string packed;
  for (const uint64_t value : values) wire::AppendVarint(packed, value);
  wire::AppendBytes(out, number, wire::AsBytes(packed));
}

/// The first field of a message, if it is whole and has this number; else empty.
Bytes FirstField(Bytes message, uint32_t number) {
  const auto field = wire::FieldReader(message).Next();
  return field && field->IsBytes(number) ? field->bytes : Bytes();
}

}  // namespace

bool TraceFraming::Has(size_t size) {
  if (failed_) return window_.size() >= size;
  auto filled = window_.Fill(size);
  if (!filled) failed_ = std::move(filled.error());
  return window_.size() >= size;
}

Result<bool> TraceFraming::Next(RawPacket& packet) {
  while (true) {
    window_.Drop(std::exchange(returned_, 0));
    Has(kMaxFieldHead);
    if (window_.size() == 0) {
      if (failed_) return FailOfSource();
      return false;
    }
    const wire::Varint tag = wire::ReadVarint(window_.bytes());
    if (tag.size == 0) return FailAtVarint(0, "expected a protobuf field");
    if (tag.value >> 3 == 0) return FailAt("expected a protobuf field");
    const auto type = static_cast<wire::Type>(tag.value & 7);
    const wire::Varint number = wire::ReadVarint(window_.bytes().subspan(tag.size));
    size_t head = tag.size + number.size, size = head;
    switch (type) {
      case wire::Type::kFixed64:
      case wire::Type::kFixed32:
        size = tag.size + (type == wire::Type::kFixed64 ? 8 : 4);
        break;
      case wire::Type::kVarint:
        if (number.size == 0) return FailAtVarint(tag.size, "expected a number");
        break;
      case wire::Type::kBytes:
        if (number.size == 0) return FailAtVarint(tag.size, "expected a length");
        if (number.value > max_packet_) return FailTooLarge(head, number.value);
        size += static_cast<size_t>(number.value);
        break;
      default:
        return FailAt("expected a protobuf field");
    }
    if (!Has(size)) {
      if (failed_) return FailOfSource();
      is_cut_off_ = true;
      return FailAt(fmt::format("the file ends within a field of {} bytes, {} are there", size,
                                window_.size()));
    }
    returned_ = size;
    if (tag.value >> 3 != proto::Trace::kPacket || type != wire::Type::kBytes) continue;
    packet = {window_.offset(), window_.bytes().first(size).subspan(head)};
    return true;
  }
}

tl::unexpected<Error> TraceFraming::FailTooLarge(size_t head, uint64_t content) {
  const Where where{window_.source().path(), window_.offset(), {}};
  std::optional<uint64_t> left = window_.source().size();
  if (left) *left -= std::min(*left, window_.offset());
  if (left && !skips_all_ && (head > *left || content > *left - head)) {
    is_cut_off_ = true;
    return FailAt(fmt::format("the file ends within a field of {} bytes, {} are there",
                              std::max(content, content + head), *left));
  }
  if (left || skips_all_ || content <= kMostSkipped) {
    window_.Drop(head);
    uint64_t rest = content;
    while (rest > 0 && Has(1)) {
      const auto count = static_cast<size_t>(std::min<uint64_t>(rest, window_.size()));
      window_.Drop(count);
      rest -= count;
    }
    if (failed_ && window_.size() == 0) return FailOfSource();
    has_skipped_ = rest == 0;
    is_cut_off_ |= !has_skipped_;
    if (!has_skipped_) return FailAt(fmt::format("it ends within a field of {} bytes", content));
  }
  return Fail(ErrorCode::kLimit,
              fmt::format("a packet of {} bytes is too large (at most {})", content, max_packet_),
              where);
}

tl::unexpected<Error> TraceFraming::FailAtVarint(size_t at, const char* expected) {
  is_cut_off_ = window_.size() - at < wire::kMaxVarintBytes;
  return is_cut_off_ && failed_ ? FailOfSource() : FailAt(expected);
}

tl::unexpected<Error> TraceFraming::FailOfSource() {
  is_cut_off_ = true;  // what follows cannot be decompressed
  return tl::unexpected<Error>(*failed_);
}

Status TraceFraming::SkipRest() {
  while (Has(1)) window_.Drop(window_.size());
  if (failed_ && failed_->code == ErrorCode::kIo) return FailOfSource();
  return {};
}

tl::unexpected<Error> TraceFraming::FailAt(std::string what) const {
  return Fail(ErrorCode::kCorrupt, std::move(what),
              Where{window_.source().path(), window_.offset(), {}},
              "not a Perfetto trace, or a torn or damaged one");
}

Result<bool> TraceFraming::Resync() {
  window_.Drop(std::exchange(returned_, 0));
  if (std::exchange(has_skipped_, false)) return true;
  uint64_t budget = kSearchBudget;
  if (window_.size() > 0) window_.Drop(1);
  while (budget > 0) {
    Has(kMaxCandidate + kMaxFieldHead);
    if (failed_ && failed_->code == ErrorCode::kIo) return tl::unexpected<Error>(*failed_);
    const Bytes bytes = window_.bytes();
    if (bytes.empty()) return false;
    const void* found = std::memchr(bytes.data(), kPacketTag, bytes.size());
    if (found == nullptr) {
      window_.Drop(bytes.size());
      continue;
    }
    window_.Drop(static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data()));
    Has(kMaxCandidate + kMaxFieldHead);
    if (BeginsWithPacket(window_.bytes(), budget)) {
      is_cut_off_ = false;  // a wrong length reached beyond the end
      return true;
    }
    window_.Drop(1);
  }
  return false;
}

bool TraceFraming::IsFollowedByPacket() {
  Has(returned_ + kMaxCandidate + kMaxFieldHead);
  uint64_t budget = kMaxCandidate;
  if (window_.size() > returned_ && BeginsWithPacket(window_.bytes().subspan(returned_), budget))
    return true;
  returned_ = 0;
  return false;
}

bool TraceFraming::BeginsWithText() const {
  constexpr size_t kLookedAt = 16;
  const Bytes bytes = window_.bytes();
  return std::ranges::all_of(bytes.first(std::min(bytes.size(), kLookedAt)), [](uint8_t byte) {
    return byte == '\n' || byte == '\r' || byte == '\t' || (byte >= ' ' && byte < 0x7F);
  });
}

bool HasWholePacket(Bytes bytes) {
  uint64_t budget = uint64_t{16} << 20;
  for (; !bytes.empty() && budget > 0; bytes = bytes.subspan(1))
    if (BeginsWithPacket(bytes, budget)) return true;
  return false;
}

bool HasTextLineEnds(Bytes start) {
  constexpr uint8_t kFeed = '\n', kReturn = '\r';
  if (start.size() < 2 || start[0] != kReturn || start[1] != kFeed) return false;
  for (size_t i = 1; i < start.size(); ++i)
    if (start[i] == kFeed && start[i - 1] != kReturn) return false;
  return true;
}

Result<std::unique_ptr<TraceReader>> TraceReader::Open(std::unique_ptr<ByteSource> source,
                                                       OnDamage on_damage, uint64_t max_packet,
                                                       ByteSink* copy) {
  constexpr size_t kLookedAt = size_t{64} << 10;
  const std::optional<uint64_t> size = source->size();
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(kLookedAt));
  const Error in_text_mode{ErrorCode::kCorrupt,
                           "each LF became CR LF, as in a copy in text mode (Windows, 'adb shell')",
                           {source->path(), 0, {}},
                           "'ringscope verify --repair' undoes it"};
  const bool has_returns = HasTextLineEnds(wire::AsBytes(start));
  if (has_returns && on_damage == OnDamage::kFail) return tl::unexpected<Error>(in_text_mode);
  if (has_returns) source = WithoutReturns(std::move(source));
  const CompressedSource* compressed = nullptr;
  if (auto content = MakeSourceFor(wire::AsBytes(start), source)) {
    compressed = content.get();
    source = std::move(content);
  }
  if (copy != nullptr) source = MakeCopiedSource(std::move(source), *copy);
  const bool takes_long = compressed != nullptr || copy != nullptr;
  if (takes_long && PaysToReadAhead(size)) source = MakeReadAheadSource(std::move(source));
  std::unique_ptr<TraceReader> reader(
      new TraceReader(on_damage, max_packet, std::move(source), size, compressed));
  if (has_returns) reader->Note(0, 0, in_text_mode.message);
  return reader;
}

Result<bool> TraceReader::Next(RawPacket& packet, TracePacketView& view) {
  RS_RETURN_IF_ERROR(status_);
  while (true) {
    auto more = ReadOuter(packet);
    if (!more) status_ = tl::unexpected<Error>(more.error());
    if (!more || !*more) return more;
    view = ViewTracePacket(packet.bytes);
    if (view.is_well_formed || on_damage_ == OnDamage::kFail) return true;
    constexpr const char* kWhat = "a packet whose fields cannot be read to its end";
    // Its size may be wrong: then the next one is inside it.
    if (!inner_ && !outer_.IsFollowedByPacket())
      RS_RETURN_IF_ERROR(SkipDamage({ErrorCode::kCorrupt, kWhat, {path_, packet.offset, {}}, ""}));
    else
      Note(packet.offset, inner_ ? 0 : outer_.offset() - packet.offset, kWhat);
  }
}

Result<uint64_t> TraceReader::ReadSessions(
    SessionSplit& split, const std::function<void(uint64_t, uint64_t)>& progress) {
  constexpr uint64_t kPacketsBetween = 4096;
  uint64_t packets = 0;
  RawPacket packet;
  TracePacketView view;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, Next(packet, view));
    if (!more) break;
    RS_RETURN_IF_ERROR(split.Add(packet, view));
    if (++packets % kPacketsBetween == 0 && progress) progress(position(), size().value_or(0));
  }
  RS_RETURN_IF_ERROR(split.Finish());
  return packets;
}

Result<bool> TraceReader::ReadOuter(RawPacket& packet) {
  while (!ended_) {
    if (inner_) {
      RS_ASSIGN_OR_RETURN(const bool more, ReadInner(packet));
      if (more) return true;
      inner_.reset();
      continue;
    }
    auto more = outer_.Next(packet);
    if (!more) {
      RS_RETURN_IF_ERROR(SkipDamage(std::move(more.error())));
      continue;
    }
    if (!*more) return false;
    const auto packed = PackedIn(packet.bytes);
    if (!packed) return true;
    allowance_ += kMaxRatio * packed->packets.size();
    // They stay where they are: the packet that holds them is the last one read of the file.
    std::unique_ptr<ByteSource> source = MakeViewSource(packed->packets, path_);
    const std::shared_ptr<ByteSource> content =
        packed->by_zstd ? MakeZstdSource(std::move(source), kPackedWindowLog)
                        : MakeInflateSource(std::move(source));
    const auto read = [this, content](std::span<uint8_t> into) -> Result<size_t> {
      auto got = content->Read(into);
      if (got.value_or(0) > allowance_)
        return Fail(
            ErrorCode::kLimit,
            fmt::format("compressed packets unpack to more than {} times their size", kMaxRatio));
      allowance_ -= got.value_or(0);
      return got;
    };
    inner_.emplace(MakeSource(read, path_), max_packet_, /*skips_all=*/true);
    inner_offset_ = packet.offset;
  }
  return false;
}

/// Reads the next packet of the open compressed ones; false at their end.
Result<bool> TraceReader::ReadInner(RawPacket& packet) {
  auto more = inner_->Next(packet);
  packet.offset = inner_offset_;
  if (more && !*more) return false;
  if (more) {
    if (!PackedIn(packet.bytes)) return true;
    more = Fail(ErrorCode::kCorrupt, "compressed packets inside compressed packets");
  }
  // The rest of them is lost, unless one was passed over; the packet that holds them has its
  // size, so the next is there.
  Error error = std::move(more.error());
  const bool continues = inner_->has_skipped();
  error.where = {path_, inner_offset_, {}};
  error.message = "in compressed packets: " + error.message;
  if (on_damage_ == OnDamage::kFail) return tl::unexpected<Error>(std::move(error));
  Note(inner_offset_, 0, std::move(error.message), continues);
  if (!continues) return false;
  RS_ASSIGN_OR_RETURN(const bool found, inner_->Resync());
  return found ? ReadInner(packet) : false;
}

/// Continues after damage in the file itself.
Status TraceReader::SkipDamage(Error error) {
  if (on_damage_ == OnDamage::kFail || error.code == ErrorCode::kIo)
    return tl::unexpected<Error>(std::move(error));
  const bool is_skipped = outer_.has_skipped();
  const uint64_t offset = is_skipped && error.where.offset ? *error.where.offset : outer_.offset();
  const bool has_text = outer_.BeginsWithText();
  RS_ASSIGN_OR_RETURN(const bool found, outer_.Resync());
  ended_ = !found;
  const std::string size = Count(outer_.offset() - offset, "byte");
  if (found && offset == 0)
    error.message = has_text ? fmt::format("a text of {} is before the trace", size)
                             : fmt::format(
                                   "it begins with {} that are no packet, as the second "
                                   "part of a file that was split does",
                                   size);
  else if (found && error.message.starts_with("expected"))
    error.message = fmt::format("{} are no packet", size);
  Note(offset, outer_.offset() - offset, std::move(error.message), is_skipped);
  return {};
}

void TraceReader::Note(uint64_t offset, uint64_t bytes, std::string what, bool is_left_out) {
  ++damage_count_;
  if (damage_.size() < LogSource::kMaxDamage)
    damage_.push_back({offset, bytes, {}, {}, std::move(what), is_left_out});
}

std::string EncodeTraceStats(Session& session, const ServiceStats& service,
                             const std::map<BufferId, BufferStats>& taken,
                             const std::vector<ConfiguredBuffer>& configured) {
  std::vector<const SessionBuffer*> buffers;
  for (const auto& [id, buffer] : session.buffers()) buffers.push_back(&buffer);
  // Readers number the buffers by their place in this packet.
  std::ranges::stable_sort(buffers, {}, &SessionBuffer::index);

  std::string stats;
  std::vector<uint64_t> places;
  uint64_t place = 0;
  const auto add_unused = [&](uint64_t end) {
    for (; place < std::min<uint64_t>(end, configured.size()); ++place)
      AppendBufferStats(stats, {.buffer_size = configured[place].size_kb * 1024});
  };
  for (const SessionBuffer* buffer : buffers) {
    add_unused(buffer->index);
    const auto earlier = taken.find(buffer->id);
    AppendBufferStats(stats, earlier == taken.end() ? buffer->stats() : earlier->second);
    places.push_back(place++);
  }
  add_unused(configured.size());
  for (const uint32_t limit : kHistogramLimits)
    wire::AppendUint(stats, proto::TraceStats::kChunkPayloadHistogramDef, limit);
  for (size_t i = 0; i < buffers.size(); ++i) {
    auto& ids = session.SequenceIdsFor(*buffers[i]);
    // They are given in the order of the service's table.
    for (const SequenceKey writer : buffers[i]->Writers()) ids.IdOf(writer);
    buffers[i]->VisitWriterStats([&](const WriterStats& writer) {
      using Stats = proto::TraceStats::WriterStats;
      std::string message;
      wire::AppendUint(message, Stats::kSequenceId, ids.IdOf(writer.sequence));
      wire::AppendUint(message, Stats::kBuffer, places[i]);
      AppendPacked(message, Stats::kChunkPayloadHistogramCounts, writer.histogram->counts);
      AppendPacked(message, Stats::kChunkPayloadHistogramSum, writer.histogram->sums);
      wire::AppendBytes(stats, proto::TraceStats::kWriterStats, wire::AsBytes(message));
    });
  }
  for (const ServiceField& field : kServiceFields)
    if (field.proto_field != 0) wire::AppendUint(stats, field.proto_field, service.*field.value);
  return stats;
}

void TraceWriter::OnBufferSetUp(SessionBuffer& buffer) {
  indexes_[buffer.id] = buffer.index;
  taken_.erase(buffer.id);
}

void TraceWriter::OnAllRead(const Session& session, std::optional<uint64_t> id) {
  for (const auto& [number, buffer] : session.buffers())
    if (!buffer.freed && (!id || !buffer.session || buffer.session == id))
      taken_[number] = buffer.stats();
  service_ = session.stats();
}

void TraceWriter::OnRecord(const Op& op, const LogMoment&) {
  if (status_) status_ = AddRecord(op);
}

/// Adds what the service notes in a trace: of a clone its start, and each buffer that is cloned.
Status TraceWriter::AddRecord(const Op& op) {
  using proto::TracePacket, proto::TracingServiceEvent;
  if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
    config_ = config->config;
    return AddServicePacket(TracePacket::kTraceConfig, wire::AsBytes(config_));
  }
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
    return AddServicePacket(TracePacket::kClockSnapshot, wire::AsBytes(snapshot->snapshot));
  // In a file, the trace of the clone follows that of the session.
  const auto* ended = std::get_if<CloneEnded>(&op.body);
  if (ended != nullptr && ended->clone == clone_ && ended->into_file && !config_.empty())
    return AddServicePacket(TracePacket::kTraceConfig, wire::AsBytes(config_));
  const auto* requested = std::get_if<CloneRequested>(&op.body);
  const auto* cloned = std::get_if<BufferCloned>(&op.body);
  std::string event;
  if (requested != nullptr && requested->clone == clone_)
    wire::AppendUint(event, TracingServiceEvent::kCloneStarted, 1);
  if (cloned != nullptr && cloned->clone == clone_)
    wire::AppendUint(event, TracingServiceEvent::kBufferCloned, indexes_[cloned->buffer]);
  if (event.empty()) return {};
  return AddServicePacket(TracePacket::kServiceEvent, wire::AsBytes(event), op.time_ns);
}

Status TraceWriter::OnProtoVms(const ProtoVmsRead& read) {
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(AddServicePacket(proto::TracePacket::kTraceProvenance, read.listing));
  return AddServicePacket(proto::TracePacket::kProtovms, read.protovms);
}

Status TraceWriter::OnPacket(const SessionPacket& session_packet) {
  RS_RETURN_IF_ERROR(status_);
  if (!session_packet.valid) return {};
  const Packet& packet = *session_packet.packet;
  scratch_.clear();
  AppendTrustedFields(scratch_, packet.identity, session_packet.sequence_id, packet.dropped,
                      session_packet.machine);
  wire::AppendTag(pending_, proto::Trace::kPacket, wire::Type::kBytes);
  wire::AppendVarint(pending_, packet.size + scratch_.size());
  for (const Bytes slice : packet.slices) pending_ += wire::AsText(slice);
  pending_ += scratch_;
  return FlushIfLarge();
}

Status TraceWriter::AddTool() {
  std::string info;
  wire::AppendBytes(info, proto::SystemInfo::kTracingServiceVersion,
                    wire::AsBytes(fmt::format("{} {}", kToolName, kToolVersion)));
  return AddServicePacket(proto::TracePacket::kSystemInfo, wire::AsBytes(info));
}

Status TraceWriter::OnLogEnd(Session& session) {
  const std::string stats = EncodeTraceStats(session, service_.value_or(session.stats()), taken_,
                                             ReadTraceConfigFacts(wire::AsBytes(config_)).buffers);
  return AddServicePacket(proto::TracePacket::kTraceStats, wire::AsBytes(stats));
}

Status TraceWriter::Finish() {
  RS_RETURN_IF_ERROR(status_);
  if (pending_.empty()) return {};
  Status status = sink_.Write(pending_);
  pending_.clear();
  return status;
}

Status TraceWriter::AddServicePacket(uint32_t field, Bytes content,
                                     std::optional<uint64_t> timestamp) {
  scratch_.clear();
  if (timestamp) wire::AppendUint(scratch_, proto::TracePacket::kTimestamp, *timestamp);
  wire::AppendBytes(scratch_, field, content);
  AppendTrustedFields(scratch_, Identity{.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  wire::AppendBytes(pending_, proto::Trace::kPacket, wire::AsBytes(scratch_));
  return FlushIfLarge();
}

Status TraceWriter::FlushIfLarge() { return pending_.size() < kWriteBytes ? Status{} : Finish(); }

bool BeginsWithToolPacket(Bytes start) {
  const Bytes info =
      FirstField(FirstField(start, proto::Trace::kPacket), proto::TracePacket::kSystemInfo);
  return wire::AsText(FirstField(info, proto::SystemInfo::kTracingServiceVersion))
      .starts_with(fmt::format("{} ", kToolName));
}

}  // namespace ringscope
