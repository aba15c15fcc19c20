#include <fmt/format.h>

#include <atomic>
#include <string>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/io/compressed_source.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_framing.h"

namespace ringscope {
namespace {

/// Where a packet's appended fields begin, as its fields are read: the service appends uid,
/// sequence id, then perhaps pid, machine id and loss bits, in this order, and nothing follows.
class AppendedFields {
 public:
  void Add(const wire::Field& field, size_t offset) {
    const int rank = RankOf(field);
    if (rank == 0) {
      start_ = offset;
      next_rank_ = 1;
    } else if (start_ != kNowhere && rank >= next_rank_ && (rank == 1 || next_rank_ > 1)) {
      next_rank_ = rank + 1;
    } else {
      start_ = kNowhere;
    }
  }
  static constexpr size_t kNowhere = SIZE_MAX;
  /// kNowhere: the packet does not end with them.
  size_t start() const { return next_rank_ > 1 ? start_ : kNowhere; }

 private:
  /// Place in the order; -1: none of these fields.
  static int RankOf(const wire::Field& field) {
    if (field.type != wire::Type::kVarint) return -1;
    switch (field.number) {
      case proto::TracePacket::kTrustedUid:
        return 0;
      case proto::TracePacket::kTrustedPacketSequenceId:
        return 1;
      case proto::TracePacket::kTrustedPid:
        return 2;
      case proto::TracePacket::kMachineId:
        return 3;
      case proto::TracePacket::kPreviousPacketDropped:
        return 4;
      default:
        return -1;
    }
  }

  size_t start_ = kNowhere;
  int next_rank_ = 0;
};

// What the packets inside packets may unpack to: so much, and a multiple of their compressed size.
constexpr uint64_t kUnpackedSlack = uint64_t{256} << 20;
constexpr uint64_t kMaxRatio = 100;
constexpr int kPackedWindowLog = 23;  // as the service's packets need at any level but its "ultra"

/// Counts what is read of a file.
class CountingSource : public ByteSource {
 public:
  CountingSource(std::unique_ptr<ByteSource> source, std::atomic<uint64_t>& count)
      : source_(std::move(source)), count_(count) {}
  Result<size_t> Read(std::span<uint8_t> into) override {
    auto got = source_->Read(into);
    count_ += got.value_or(0);
    return got;
  }
  const std::string& path() const override { return source_->path(); }
  std::optional<uint64_t> size() const override { return source_->size(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::atomic<uint64_t>& count_;  // another thread may read
};

/// Refuses to give more than an allowance, which it uses up.
class AllowedSource : public ByteSource {
 public:
  AllowedSource(std::unique_ptr<ByteSource> source, uint64_t& allowance)
      : source_(std::move(source)), allowance_(allowance) {}
  Result<size_t> Read(std::span<uint8_t> into) override {
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

class PerfettoTraceReader : public TraceReader {
 public:
  PerfettoTraceReader(OnDamage on_damage, uint64_t max_packet)
      : on_damage_(on_damage), max_packet_(max_packet) {}

  Status Start(std::unique_ptr<ByteSource> source, ReadAhead ahead) {
    size_ = source->size();
    source = std::make_unique<CountingSource>(std::move(source), position_);
    constexpr size_t kLongestMagic = 4;
    RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kLongestMagic));
    source = MakePrefixedSource(start, std::move(source));
    if (auto content = MakeSourceFor(wire::AsBytes(start), source)) {
      source = std::move(content);
      if (ahead == ReadAhead::kYes) source = MakeReadAheadSource(std::move(source));
    } else {
      is_plain_ = true;
    }
    path_ = source->path();
    outer_.emplace(std::move(source), max_packet_);
    return {};
  }

  Result<std::optional<TracePacket>> Next() override {
    TracePacket packet;
    RS_ASSIGN_OR_RETURN(const bool more, Read(packet));
    if (!more) return std::nullopt;
    return packet;
  }
  Result<bool> Next(ViewedPacket& packet) override { return Read(packet); }
  Result<bool> Next(ProducedPacket& packet) override { return Read(packet); }

  const std::vector<Damage>& damage() const override { return damage_; }
  uint64_t damage_count() const override { return damage_count_; }
  bool is_cut_off() const override { return outer_ && outer_->is_cut_off(); }
  uint64_t position() const override { return position_; }
  std::optional<uint64_t> size() const override { return size_; }

 private:
  static void LookAt(Bytes bytes, TracePacket& packet) { packet = SplitTracePacket(bytes); }
  static void SetPackedBy(TracePacket&, PackedBy) {}
  static void SetPackedBy(ViewedPacket& packet, PackedBy by) { packet.packed_by = by; }
  static void LookAt(Bytes bytes, ViewedPacket& packet) {
    packet.bytes = bytes;
    ViewTracePacket(bytes, packet.view);
  }
  static void LookAt(Bytes bytes, ProducedPacket& packet) {
    packet.bytes = bytes;
    packet.is_brief = ReadBriefPacket(bytes, packet.brief);
    if (!packet.is_brief) packet.whole = SplitTracePacket(bytes);
  }
  static void SetPackedBy(ProducedPacket&, PackedBy) {}
  static void SetInFile(ViewedPacket&, std::optional<uint64_t>) {}
  static void SetInFile(TracePacket& packet, std::optional<uint64_t> at) { packet.in_file = at; }
  static void SetInFile(ProducedPacket& packet, std::optional<uint64_t> at) { packet.in_file = at; }
  static PackedBy PackedIn(const TracePacket& packet) { return packet.packed; }
  static PackedBy PackedIn(const ProducedPacket& packet) {
    return packet.is_brief ? PackedBy::kNothing : packet.whole.packed;
  }
  static PackedBy PackedIn(const ViewedPacket& packet) {
    switch (packet.view.content) {
      case proto::TracePacket::kCompressedPackets:
        return PackedBy::kDeflate;
      case proto::TracePacket::kZstdCompressedPackets:
        return PackedBy::kZstd;
      default:
        return PackedBy::kNothing;
    }
  }
  static Bytes PackedPackets(const TracePacket& packet) { return packet.packed_packets; }
  static Bytes PackedPackets(const ViewedPacket& packet) { return packet.view.content_bytes; }
  static Bytes PackedPackets(const ProducedPacket& packet) { return packet.whole.packed_packets; }

  template <typename Packet>
  Result<bool> Read(Packet& packet) {
    RS_RETURN_IF_ERROR(status_);
    auto more = ReadOuter(packet);
    if (!more) status_ = tl::unexpected<Error>(more.error());
    return more;
  }

  template <typename Packet>
  Result<bool> ReadOuter(Packet& packet) {
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
      LookAt(framed_.packet, packet);
      packet.offset = framed_.offset;
      SetPackedBy(packet, PackedBy::kNothing);
      SetInFile(packet,
                is_plain_ ? std::optional(outer_->offset() - framed_.packet.size()) : std::nullopt);
      if (PackedIn(packet) == PackedBy::kNothing) return true;
      OpenInner(PackedIn(packet), PackedPackets(packet), packet.offset);
    }
    return false;
  }

  void OpenInner(PackedBy by, Bytes packets, uint64_t offset) {
    allowance_ += kMaxRatio * packets.size();
    // They stay where they are: the packet that holds them is the last one read of the file.
    std::unique_ptr<ByteSource> source = MakeViewSource(packets, path_);
    if (by == PackedBy::kZstd)
      source = MakeZstdSource(std::move(source), kPackedWindowLog);
    else
      source = MakeInflateSource(std::move(source));
    inner_.emplace(std::make_unique<AllowedSource>(std::move(source), allowance_), max_packet_,
                   /*skips_all=*/true);
    inner_offset_ = offset;
    inner_by_ = by;
  }

  /// The next packet of the open compressed ones; false at their end.
  template <typename Packet>
  Result<bool> ReadInner(Packet& packet) {
    auto more = inner_->Next(framed_);
    if (more && !*more) return false;
    if (more) {
      LookAt(framed_.packet, packet);
      packet.offset = inner_offset_;
      SetPackedBy(packet, inner_by_);
      SetInFile(packet, std::nullopt);
      if (PackedIn(packet) == PackedBy::kNothing) return true;
      more = Fail(ErrorCode::kCorrupt, "compressed packets inside compressed packets");
    }
    // What is left of them is lost, unless one was passed over; the packet that holds them has its
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
  Status SkipDamage(Error error) {
    if (on_damage_ == OnDamage::kFail || error.code == ErrorCode::kIo)
      return tl::unexpected<Error>(std::move(error));
    const bool is_skipped = outer_->has_skipped();
    const uint64_t offset =
        is_skipped && error.where.offset ? *error.where.offset : outer_->offset();
    RS_ASSIGN_OR_RETURN(const bool found, outer_->Resync());
    ended_ = !found;
    Note(offset, outer_->offset() - offset, error, is_skipped);
    return {};
  }

  void Note(uint64_t offset, uint64_t bytes, const Error& error, bool is_left_out) {
    ++damage_count_;
    if (damage_.size() < LogSource::kMaxDamage)
      damage_.push_back({.offset = offset,
                         .bytes = bytes,
                         .first_record = {},
                         .records = {},
                         .what = error.message,
                         .is_left_out = is_left_out});
  }

  const OnDamage on_damage_;
  const uint64_t max_packet_;
  std::string path_;
  std::atomic<uint64_t> position_ = 0;
  std::optional<uint64_t> size_;
  bool is_plain_ = false;  // the file: its packets are there as they are
  std::optional<TraceFraming> outer_;
  TraceFraming::Framed framed_;        // of either
  std::optional<TraceFraming> inner_;  // of the compressed packets being read
  uint64_t inner_offset_ = 0;
  PackedBy inner_by_ = PackedBy::kNothing;
  uint64_t allowance_ = kUnpackedSlack;  // bytes that compressed packets may still unpack to
  bool ended_ = false;
  std::vector<Damage> damage_;
  uint64_t damage_count_ = 0;
  Status status_;
};

}  // namespace

TracePacket SplitTracePacket(Bytes packet) {
  TracePacket result;
  result.bytes = packet;
  AppendedFields appended;
  size_t offset = 0;
  uint32_t last_dropped = 0;
  bool ends_with_dropped = false;
  wire::FieldReader reader(packet);
  while (const auto field = reader.Next()) {
    appended.Add(*field, offset);
    offset += field->whole.size();
    ends_with_dropped = false;
    if (field->type == wire::Type::kBytes) {
      if (field->number == proto::TracePacket::kCompressedPackets)
        result.packed = PackedBy::kDeflate;
      else if (field->number == proto::TracePacket::kZstdCompressedPackets)
        result.packed = PackedBy::kZstd;
      else
        continue;
      result.packed_packets = field->bytes;
    }
    if (field->type != wire::Type::kVarint) continue;
    if (field->number == proto::TracePacket::kTrustedUid)
      result.trusted_uid = static_cast<int32_t>(field->value);
    if (field->number == proto::TracePacket::kTrustedPid)
      result.trusted_pid = static_cast<int32_t>(field->value);
    if (field->number == proto::TracePacket::kMachineId)
      result.machine = static_cast<uint32_t>(field->value);
    if (field->number == proto::TracePacket::kTrustedPacketSequenceId)
      result.sequence_id = static_cast<uint32_t>(field->value);
    if (field->number == proto::TracePacket::kPreviousPacketDropped) {
      last_dropped = static_cast<uint32_t>(field->value);
      ends_with_dropped = true;
    }
  }
  result.is_well_formed = reader.ok();
  const bool is_split = reader.ok() && appended.start() != AppendedFields::kNowhere;
  result.content = is_split ? packet.first(appended.start()) : packet;
  // Only the service's own field can follow its others.
  result.dropped = !is_split || ends_with_dropped ? last_dropped : 0;
  return result;
}

Result<std::unique_ptr<TraceReader>> TraceReader::Open(std::unique_ptr<ByteSource> source,
                                                       OnDamage on_damage, ReadAhead ahead,
                                                       uint64_t max_packet) {
  auto reader = std::make_unique<PerfettoTraceReader>(on_damage, max_packet);
  RS_RETURN_IF_ERROR(reader->Start(std::move(source), ahead));
  return reader;
}

}  // namespace ringscope
