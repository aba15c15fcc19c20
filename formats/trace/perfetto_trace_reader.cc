#include <fmt/format.h>

#include <atomic>
#include <string>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/io/compressed_source.h"
#include "formats/io/made_ahead.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

// Packets inside packets may unpack to the slack and this multiple of their size.
constexpr uint64_t kMaxRatio = 100;
constexpr int kPackedWindowLog = 23;  // as the service's packets need at any level but its "ultra"

/// Counts what is read of a file.
class CountingSource : public ByteSource {
 public:
  CountingSource(std::unique_ptr<ByteSource> source, std::atomic<uint64_t>& count)
      : source_(std::move(source)), count_(count) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override {
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

Status TraceReader::Start(std::unique_ptr<ByteSource> source) {
  size_ = source->size();
  source = std::make_unique<CountingSource>(std::move(source), position_);
  constexpr size_t kLongestMagic = 4;
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(kLongestMagic));
  if (auto content = MakeSourceFor(wire::AsBytes(start), source)) {
    source = std::move(content);
    if (PaysToReadAhead(size_)) source = MakeReadAheadSource(std::move(source));
  } else {
    is_plain_ = true;
  }
  path_ = source->path();
  outer_.emplace(std::move(source), max_packet_);
  return {};
}

Result<bool> TraceReader::Next(RawPacket& packet) {
  RS_RETURN_IF_ERROR(status_);
  auto more = ReadOuter(packet);
  if (!more) status_ = tl::unexpected<Error>(more.error());
  return more;
}

Result<std::optional<TracePacket>> TraceReader::Next() {
  RawPacket packet;
  RS_ASSIGN_OR_RETURN(const bool more, Next(packet));
  if (!more) return std::nullopt;
  return SplitTracePacket(packet);
}

Result<uint64_t> TraceReader::ReadSessions(
    SessionSplit& split, const std::function<void(uint64_t, uint64_t)>& progress) {
  constexpr uint64_t kPacketsBetween = 4096;
  uint64_t packets = 0;
  RawPacket packet;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, Next(packet));
    if (!more) break;
    RS_RETURN_IF_ERROR(split.Add(packet, ViewTracePacket(packet.bytes)));
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
    packet.in_file =
        is_plain_ ? std::optional(outer_->offset() - framed_.packet.size()) : std::nullopt;
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
    packet = {.offset = inner_offset_, .bytes = framed_.packet, .in_file = {}};
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
  RS_ASSIGN_OR_RETURN(const bool found, outer_->Resync());
  ended_ = !found;
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

TracePacket SplitTracePacket(const RawPacket& raw) {
  const TracePacketView view = ViewTracePacket(raw.bytes);
  const ProducerPart part = SplitAppended(raw.bytes, view);
  return {raw,      part.bytes,   view.sequence_id, view.uid,
          view.pid, view.machine, part.dropped,     view.is_well_formed};
}

Result<std::unique_ptr<TraceReader>> TraceReader::Open(std::unique_ptr<ByteSource> source,
                                                       OnDamage on_damage, uint64_t max_packet) {
  std::unique_ptr<TraceReader> reader(new TraceReader(on_damage, max_packet));
  RS_RETURN_IF_ERROR(reader->Start(std::move(source)));
  return reader;
}

}  // namespace ringscope
