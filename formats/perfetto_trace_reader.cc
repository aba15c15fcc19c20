#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/trusted_fields.h"
#include "core/wire.h"
#include "formats/byte_window.h"
#include "formats/perfetto_trace.h"
#include "formats/zstd_source.h"

namespace ringscope {
namespace {

constexpr uint32_t kPacketField = 1;                         // of Trace
constexpr size_t kMaxFieldHead = 2 * wire::kMaxVarintBytes;  // tag and length, or tag and value

/// Where a packet's appended fields begin, while its fields go by: the service appends uid,
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
      case kTrustedUid:
        return 0;
      case kTrustedSequenceId:
        return 1;
      case kTrustedPid:
        return 2;
      case kMachineId:
        return 3;
      case kPreviousPacketDropped:
        return 4;
      default:
        return -1;
    }
  }

  size_t start_ = kNowhere;
  int next_rank_ = 0;
};

class Reader : public TraceReader {
 public:
  Reader(std::unique_ptr<ByteSource> source) : window_(std::move(source)) {}

  Result<std::optional<TracePacket>> Next() override {
    RS_RETURN_IF_ERROR(status_);
    auto packet = ReadPacket();
    if (!packet) status_ = tl::unexpected<Error>(packet.error());
    return packet;
  }

 private:
  Result<std::optional<TracePacket>> ReadPacket() {
    while (true) {
      window_.Drop(std::exchange(returned_, 0));
      RS_RETURN_IF_ERROR(window_.Fill(kMaxFieldHead));
      if (window_.size() == 0) return std::nullopt;
      const uint64_t offset = window_.offset();
      const wire::Varint tag = wire::ReadVarint(window_.bytes());
      const auto type = static_cast<wire::Type>(tag.value & 7);
      if (tag.size == 0 || tag.value >> 3 == 0) return FailAt("expected a protobuf field");
      RS_ASSIGN_OR_RETURN(const Extent field, ExtentOf(type, tag.size));
      RS_ASSIGN_OR_RETURN(const bool whole, window_.Fill(field.size));
      if (!whole)
        return FailAt(fmt::format("the file ends within a field of {} bytes, {} are there",
                                  field.size, window_.size()));
      returned_ = field.size;
      if (tag.value >> 3 != kPacketField || type != wire::Type::kBytes) continue;
      TracePacket packet =
          SplitTracePacket(window_.bytes().subspan(field.head, field.size - field.head));
      packet.offset = offset;
      return packet;
    }
  }

  /// Bytes of a field, and how many of them stand before its content.
  struct Extent {
    size_t head;
    size_t size;
  };

  /// Of the field at the window's front.
  Result<Extent> ExtentOf(wire::Type type, size_t tag_size) const {
    const wire::Varint varint = wire::ReadVarint(window_.bytes().subspan(tag_size));
    const size_t head = tag_size + varint.size;
    switch (type) {
      case wire::Type::kFixed64:
        return Extent{tag_size, tag_size + 8};
      case wire::Type::kFixed32:
        return Extent{tag_size, tag_size + 4};
      case wire::Type::kVarint:
        if (varint.size == 0) return FailAt("expected a number");
        return Extent{tag_size, head};
      case wire::Type::kBytes:
        if (varint.size == 0) return FailAt("expected a length");
        if (varint.value > kMaxTracePacket) return FailTooLarge(varint.value);
        return Extent{head, head + static_cast<size_t>(varint.value)};
    }
    return FailAt("expected a protobuf field");
  }

  Where Here() const { return Where{window_.source().path(), window_.offset(), {}}; }
  tl::unexpected<Error> FailAt(std::string what) const {
    return Fail(ErrorCode::kCorrupt, std::move(what), Here(),
                "not a Perfetto trace, or a torn or damaged one");
  }
  tl::unexpected<Error> FailTooLarge(uint64_t bytes) const {
    return Fail(
        ErrorCode::kLimit,
        fmt::format("a packet of {} bytes is too large (at most {})", bytes, kMaxTracePacket),
        Here());
  }

  ByteWindow window_;
  size_t returned_ = 0;  // bytes at the window's front that the last call used
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
    if (field->type != wire::Type::kVarint) continue;
    if (field->number == kTrustedUid) result.trusted_uid = static_cast<int32_t>(field->value);
    if (field->number == kTrustedPid) result.trusted_pid = static_cast<int32_t>(field->value);
    if (field->number == kTrustedSequenceId)
      result.sequence_id = static_cast<uint32_t>(field->value);
    if (field->number == kPreviousPacketDropped) {
      last_dropped = static_cast<uint32_t>(field->value);
      ends_with_dropped = true;
    }
  }
  const bool is_split = reader.ok() && appended.start() != AppendedFields::kNowhere;
  result.content = is_split ? packet.first(appended.start()) : packet;
  // Only the service's own field can stand behind its others.
  result.dropped = !is_split || ends_with_dropped ? last_dropped : 0;
  return result;
}

Result<std::unique_ptr<TraceReader>> TraceReader::Open(std::unique_ptr<ByteSource> source) {
  constexpr size_t kMagicSize = 4;
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kMagicSize));
  const bool compressed = IsZstd(wire::AsBytes(start));
  source = MakePrefixedSource(std::move(start), std::move(source));
  if (compressed) source = ZstdSource::Make(std::move(source));
  return std::make_unique<Reader>(std::move(source));
}

}  // namespace ringscope
