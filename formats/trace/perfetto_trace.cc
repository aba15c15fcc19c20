#include "formats/trace/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

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

}  // namespace

std::optional<PackedPackets> PackedIn(Bytes packet) {
  // Nearly all packets begin with a field of a number below 16.
  if (packet.empty() || packet[0] < 0x80) return std::nullopt;
  const auto field = wire::FieldReader(packet).Next();
  if (!field) return std::nullopt;
  const bool by_zstd = field->IsBytes(proto::TracePacket::kZstdCompressedPackets);
  if (!by_zstd && !field->IsBytes(proto::TracePacket::kCompressedPackets)) return std::nullopt;
  return PackedPackets{by_zstd, field->bytes};
}

bool TraceFraming::Has(size_t size) {
  if (failed_) return window_.size() >= size;
  auto filled = window_.Fill(size);
  if (!filled) failed_ = std::move(filled.error());
  return window_.size() >= size;
}

Result<bool> TraceFraming::Next(Framed& framed) {
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
    const auto type = static_cast<uint8_t>(tag.value & 7);
    RS_ASSIGN_OR_RETURN(const Extent field, ExtentOf(tag.size, type));
    if (!Has(field.size)) {
      if (failed_) return FailOfSource();
      is_cut_off_ = true;
      return FailAt(fmt::format("the file ends within a field of {} bytes, {} are there",
                                field.size, window_.size()));
    }
    returned_ = field.size;
    if (tag.value >> 3 != proto::Trace::kPacket ||
        static_cast<wire::Type>(type) != wire::Type::kBytes)
      continue;
    framed = {window_.offset(), window_.bytes().subspan(field.head, field.size - field.head)};
    return true;
  }
}

Result<TraceFraming::Extent> TraceFraming::ExtentOf(size_t tag_size, uint8_t type) {
  const wire::Varint varint = wire::ReadVarint(window_.bytes().subspan(tag_size));
  const size_t head = tag_size + varint.size;
  switch (static_cast<wire::Type>(type)) {
    case wire::Type::kFixed64:
      return Extent{tag_size, tag_size + 8};
    case wire::Type::kFixed32:
      return Extent{tag_size, tag_size + 4};
    case wire::Type::kVarint:
      if (varint.size == 0) return FailAtVarint(tag_size, "expected a number");
      return Extent{tag_size, head};
    case wire::Type::kBytes:
      if (varint.size == 0) return FailAtVarint(tag_size, "expected a length");
      if (varint.value > max_packet_) {
        const Where where{window_.source().path(), window_.offset(), {}};
        if (const std::optional<uint64_t> left = LeftInSource();
            left && !skips_all_ && (head > *left || varint.value > *left - head)) {
          is_cut_off_ = true;
          return FailAt(fmt::format("the file ends within a field of {} bytes, {} are there",
                                    std::max(varint.value, varint.value + head), *left));
        }
        RS_ASSIGN_OR_RETURN(const bool is_whole, Skip(head, varint.value));
        if (!is_whole) {
          is_cut_off_ = true;
          return FailAt(fmt::format("it ends within a field of {} bytes", varint.value));
        }
        return Fail(ErrorCode::kLimit,
                    fmt::format("a packet of {} bytes is too large (at most {})", varint.value,
                                max_packet_),
                    where);
      }
      return Extent{head, head + static_cast<size_t>(varint.value)};
  }
  return FailAt("expected a protobuf field");
}

std::optional<uint64_t> TraceFraming::LeftInSource() const {
  const std::optional<uint64_t> total = window_.source().size();
  if (!total) return std::nullopt;
  return *total - std::min(*total, window_.offset());
}

Result<bool> TraceFraming::Skip(size_t head, uint64_t content) {
  if (!LeftInSource() && !skips_all_ && content > kMostSkipped) return true;
  window_.Drop(head);
  while (content > 0 && Has(1)) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(content, window_.size()));
    window_.Drop(count);
    content -= count;
  }
  if (failed_ && window_.size() == 0) return FailOfSource();
  has_skipped_ = content == 0;
  return has_skipped_;
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
    if (WholePacketAt(window_.bytes(), budget) > 0) {
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
  if (window_.size() > returned_ && WholePacketAt(window_.bytes().subspan(returned_), budget) > 0)
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

size_t WholePacketAt(Bytes bytes, uint64_t& budget) {
  if (bytes.empty() || bytes.front() != kPacketTag) return 0;
  const wire::Varint size = wire::ReadVarint(bytes.subspan(1));
  const size_t head = 1 + size.size;
  if (size.size == 0 || size.value > kMaxCandidate || size.value > bytes.size() - head) return 0;
  const size_t end = head + static_cast<size_t>(size.value);
  if (end < bytes.size() && bytes[end] != kPacketTag) return 0;
  budget -= std::min<uint64_t>(budget, end);
  const Bytes packet = bytes.subspan(head, end - head);
  const TracePacketView view = ViewTracePacket(packet);
  const bool is_packet =
      view.is_well_formed && ((view.sequence_id != 0 && view.uid) || PackedIn(packet));
  return is_packet ? end : 0;
}

bool HasWholePacket(Bytes bytes) {
  uint64_t budget = uint64_t{16} << 20;
  for (; !bytes.empty() && budget > 0; bytes = bytes.subspan(1))
    if (WholePacketAt(bytes, budget) > 0) return true;
  return false;
}

bool HasTextLineEnds(Bytes start) {
  constexpr uint8_t kFeed = '\n', kReturn = '\r';
  if (start.size() < 2 || start[0] != kReturn || start[1] != kFeed) return false;
  for (size_t i = 1; i < start.size(); ++i)
    if (start[i] == kFeed && start[i - 1] != kReturn) return false;
  return true;
}

namespace {

/// Gives a source's bytes without the CR before each LF.
class LineFeedSource : public ByteSource {
 public:
  explicit LineFeedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  const std::string& path() const override { return source_->path(); }

 protected:
  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    size_t size = 0;
    while (size == 0) {
      // A CR that was read last waits for what follows it.
      const size_t kept = has_return_ ? 1 : 0;
      if (into.size() <= kept) return size;
      if (has_return_) into[0] = '\r';
      RS_ASSIGN_OR_RETURN(const size_t got, source_->Read(into.subspan(kept)));
      const size_t all = kept + got;
      has_return_ = got > 0 && into[all - 1] == '\r';
      for (size_t i = 0; i < all - (has_return_ ? 1 : 0); ++i)
        if (into[i] != '\r' || i + 1 == all || into[i + 1] != '\n') into[size++] = into[i];
      if (got == 0) break;
    }
    return size;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  bool has_return_ = false;
};

// Packets inside packets may unpack to the slack and this multiple of their size.
constexpr uint64_t kMaxRatio = 100;
constexpr int kPackedWindowLog = 23;  // as the service's packets need at any level but its "ultra"

/// Refuses to give more than an allowance, which it uses up.
class AllowedSource : public ByteSource {
 public:
  AllowedSource(std::unique_ptr<ByteSource> source, uint64_t& allowance)
      : source_(std::move(source)), allowance_(allowance) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    auto got = source_->Read(into);
    if (!got) return got;
    if (*got > allowance_) {
      return Fail(
          ErrorCode::kLimit,
          fmt::format("compressed packets unpack to more than {} times their size", kMaxRatio));
    }
    allowance_ -= *got;
    return got;
  }
  const std::string& path() const override { return source_->path(); }

 private:
  std::unique_ptr<ByteSource> source_;
  uint64_t& allowance_;
};

}  // namespace

Status TraceReader::Start(std::unique_ptr<ByteSource> source, ByteSink* copy) {
  size_ = source->size();
  constexpr size_t kLookedAt = size_t{64} << 10;
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(kLookedAt));
  if (HasTextLineEnds(wire::AsBytes(start))) {
    source = std::make_unique<LineFeedSource>(std::move(source));
    const Error error{ErrorCode::kCorrupt,
                      "each LF became CR LF, as in a copy in text mode (Windows, 'adb shell')",
                      {source->path(), 0, {}},
                      "'ringscope verify --repair' undoes it"};
    if (on_damage_ == OnDamage::kFail) return tl::unexpected<Error>(error);
    Note(0, 0, error, false);
  }
  if (auto content = MakeSourceFor(wire::AsBytes(start), source)) {
    compressed_ = content.get();
    source = std::move(content);
  }
  if (copy != nullptr) source = MakeCopiedSource(std::move(source), *copy);
  const bool takes_long = compressed_ != nullptr || copy != nullptr;
  if (takes_long && PaysToReadAhead(size_)) source = MakeReadAheadSource(std::move(source));
  path_ = source->path();
  outer_.emplace(std::move(source), max_packet_);
  return {};
}

Result<bool> TraceReader::Next(RawPacket& packet) {
  TracePacketView view;
  return NextViewed(packet, view);
}

Result<bool> TraceReader::NextViewed(RawPacket& packet, TracePacketView& view) {
  RS_RETURN_IF_ERROR(status_);
  while (true) {
    auto more = ReadOuter(packet);
    if (!more) status_ = tl::unexpected<Error>(more.error());
    if (!more || !*more) return more;
    view = ViewTracePacket(packet.bytes);
    if (view.is_well_formed || on_damage_ == OnDamage::kFail) return true;
    RS_RETURN_IF_ERROR(SkipMalformed(packet));
  }
}

/// Notes a packet whose fields cannot be read to its end. Its size may be wrong: then the next one
/// is inside it.
Status TraceReader::SkipMalformed(const RawPacket& packet) {
  const Error error{ErrorCode::kCorrupt,
                    "a packet whose fields cannot be read to its end",
                    {path_, packet.offset, {}},
                    ""};
  if (!inner_ && !outer_->IsFollowedByPacket()) return SkipDamage(error);
  Note(packet.offset, inner_ ? 0 : outer_->offset() - packet.offset, error, false);
  return {};
}

Result<uint64_t> TraceReader::ReadSessions(
    SessionSplit& split, const std::function<void(uint64_t, uint64_t)>& progress) {
  constexpr uint64_t kPacketsBetween = 4096;
  uint64_t packets = 0;
  RawPacket packet;
  TracePacketView view;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, NextViewed(packet, view));
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
    auto more = outer_->Next(framed_);
    if (!more) {
      RS_RETURN_IF_ERROR(SkipDamage(std::move(more.error())));
      continue;
    }
    if (!*more) return false;
    packet.bytes = framed_.packet;
    packet.offset = framed_.offset;
    const auto packed = PackedIn(packet.bytes);
    if (!packed) return true;
    OpenInner(*packed, packet.offset);
  }
  return false;
}

void TraceReader::OpenInner(const PackedPackets& packed, uint64_t offset) {
  allowance_ += kMaxRatio * packed.packets.size();
  // They stay where they are: the packet that holds them is the last one read of the file.
  std::unique_ptr<ByteSource> source = MakeViewSource(packed.packets, path_);
  source = packed.by_zstd ? MakeZstdSource(std::move(source), kPackedWindowLog)
                          : MakeInflateSource(std::move(source));
  inner_.emplace(std::make_unique<AllowedSource>(std::move(source), allowance_), max_packet_,
                 /*skips_all=*/true);
  inner_offset_ = offset;
}

/// Reads the next packet of the open compressed ones; false at their end.
Result<bool> TraceReader::ReadInner(RawPacket& packet) {
  auto more = inner_->Next(framed_);
  if (more && !*more) return false;
  if (more) {
    packet = {.offset = inner_offset_, .bytes = framed_.packet};
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
  Note(inner_offset_, 0, error, continues);
  if (!continues) return false;
  RS_ASSIGN_OR_RETURN(const bool found, inner_->Resync());
  return found ? ReadInner(packet) : false;
}

/// Continues after damage in the file itself.
Status TraceReader::SkipDamage(Error error) {
  if (on_damage_ == OnDamage::kFail || error.code == ErrorCode::kIo)
    return tl::unexpected<Error>(std::move(error));
  const bool is_skipped = outer_->has_skipped();
  const uint64_t offset = is_skipped && error.where.offset ? *error.where.offset : outer_->offset();
  const bool has_text = outer_->BeginsWithText();
  RS_ASSIGN_OR_RETURN(const bool found, outer_->Resync());
  ended_ = !found;
  const std::string size = Count(outer_->offset() - offset, "byte");
  if (found && offset == 0)
    error.message = has_text ? fmt::format("a text of {} is before the trace", size)
                             : fmt::format(
                                   "it begins with {} that are no packet, as the second "
                                   "part of a file that was split does",
                                   size);
  else if (found && error.message.starts_with("expected"))
    error.message = fmt::format("{} are no packet", size);
  Note(offset, outer_->offset() - offset, error, is_skipped);
  return {};
}

void TraceReader::Note(uint64_t offset, uint64_t bytes, const Error& error, bool is_left_out) {
  ++damage_count_;
  if (damage_.size() < LogSource::kMaxDamage)
    damage_.push_back({.offset = offset,
                       .bytes = bytes,
                       .first_record = {},
                       .records = {},
                       .what = error.message,
                       .is_left_out = is_left_out});
}

Result<std::unique_ptr<TraceReader>> TraceReader::Open(std::unique_ptr<ByteSource> source,
                                                       OnDamage on_damage, uint64_t max_packet,
                                                       ByteSink* copy) {
  std::unique_ptr<TraceReader> reader(new TraceReader(on_damage, max_packet));
  RS_RETURN_IF_ERROR(reader->Start(std::move(source), copy));
  return reader;
}

namespace {

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

void AppendWriterStats(std::string& out, uint32_t sequence_id, uint64_t buffer,
                       const WriterHistogram& histogram) {
  std::string message;
  wire::AppendUint(message, proto::TraceStats::WriterStats::kSequenceId, sequence_id);
  wire::AppendUint(message, proto::TraceStats::WriterStats::kBuffer, buffer);
  AppendPacked(message, proto::TraceStats::WriterStats::kChunkPayloadHistogramCounts,
               histogram.counts);
  AppendPacked(message, proto::TraceStats::WriterStats::kChunkPayloadHistogramSum, histogram.sums);
  wire::AppendBytes(out, proto::TraceStats::kWriterStats, wire::AsBytes(message));
}

}  // namespace

std::string EncodeTraceStats(Session& session, const ServiceStats& service, const TakenStats& taken,
                             const std::vector<ConfiguredBuffer>& configured) {
  std::vector<const SessionBuffer*> buffers;
  for (const auto& [id, buffer] : session.buffers()) buffers.push_back(&buffer);
  // Readers number the buffers by their place in this packet.
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const auto* a, const auto* b) { return a->index < b->index; });

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
    // The ids are given in the order of the service's table.
    for (const SequenceKey writer : buffers[i]->Writers())
      session.SequenceIdsFor(*buffers[i]).IdOf(writer);
    buffers[i]->VisitWriterStats([&](const WriterStats& writer) {
      AppendWriterStats(stats, session.SequenceIdsFor(*buffers[i]).IdOf(writer.sequence), places[i],
                        *writer.histogram);
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
  Status status;
  if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
    status = AddServicePacket(proto::TracePacket::kTraceConfig, wire::AsBytes(config->config));
    config_ = config->config;
  }
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
    status =
        AddServicePacket(proto::TracePacket::kClockSnapshot, wire::AsBytes(snapshot->snapshot));
  if (clone_ && status) status = AddCloneEvent(op);
  if (status_) status_ = status;
}

/// Adds what the service notes in the trace of a clone: its start, and each buffer that is cloned.
Status TraceWriter::AddCloneEvent(const Op& op) {
  // In a file, the trace of the clone follows that of the session.
  if (const auto* ended = std::get_if<CloneEnded>(&op.body))
    return ended->clone == *clone_ && ended->into_file && !config_.empty()
               ? AddServicePacket(proto::TracePacket::kTraceConfig, wire::AsBytes(config_))
               : Status();
  const auto* requested = std::get_if<CloneRequested>(&op.body);
  const auto* cloned = std::get_if<BufferCloned>(&op.body);
  std::string event;
  if (requested != nullptr && requested->clone == *clone_)
    wire::AppendUint(event, proto::TracingServiceEvent::kCloneStarted, 1);
  else if (cloned != nullptr && cloned->clone == *clone_)
    wire::AppendUint(event, proto::TracingServiceEvent::kBufferCloned, indexes_[cloned->buffer]);
  else
    return {};
  return AddServicePacket(proto::TracePacket::kServiceEvent, wire::AsBytes(event), op.time_ns);
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
  ++packets_;
  return FlushIfLarge();
}

void TraceWriter::AddTool() {
  pending_ += ToolPacket();
  ++packets_;
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
  written_ += pending_.size();
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
  ++packets_;
  return FlushIfLarge();
}

Status TraceWriter::FlushIfLarge() { return pending_.size() < kWriteBytes ? Status{} : Finish(); }

namespace {

/// The first field of a message, if it is whole and has this number; else empty.
Bytes FirstField(Bytes message, uint32_t number) {
  wire::FieldReader fields(message);
  const auto field = fields.Next();
  return field && field->IsBytes(number) ? field->bytes : Bytes();
}

}  // namespace

std::string ToolPacket() {
  std::string info, packet, out;
  wire::AppendBytes(info, proto::SystemInfo::kTracingServiceVersion,
                    wire::AsBytes(fmt::format("{} {}", kToolName, kToolVersion)));
  wire::AppendBytes(packet, proto::TracePacket::kSystemInfo, wire::AsBytes(info));
  AppendTrustedFields(packet, Identity{.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  wire::AppendBytes(out, proto::Trace::kPacket, wire::AsBytes(packet));
  return out;
}

bool BeginsWithToolPacket(Bytes start) {
  const Bytes info =
      FirstField(FirstField(start, proto::Trace::kPacket), proto::TracePacket::kSystemInfo);
  return wire::AsText(FirstField(info, proto::SystemInfo::kTracingServiceVersion))
      .starts_with(fmt::format("{} ", kToolName));
}

}  // namespace ringscope
