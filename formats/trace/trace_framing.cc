#include "formats/trace/trace_framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/trace/perfetto_trace.h"

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

Result<bool> TraceFraming::NextOfSource(Framed& framed) {
  while (true) {
    window_.Drop(std::exchange(returned_, 0));
    Has(kMaxFieldHead);
    if (window_.size() == 0) {
      if (failed_) return tl::unexpected<Error>(*failed_);
      return false;
    }
    const wire::Varint tag = wire::ReadVarint(window_.bytes());
    if (tag.size == 0 || tag.value >> 3 == 0) return FailAt("expected a protobuf field");
    const auto type = static_cast<uint8_t>(tag.value & 7);
    RS_ASSIGN_OR_RETURN(const Extent field, ExtentOf(tag.size, type));
    if (!Has(field.size)) {
      if (failed_) return tl::unexpected<Error>(*failed_);
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
      if (varint.size == 0) return FailAt("expected a number");
      return Extent{tag_size, head};
    case wire::Type::kBytes:
      if (varint.size == 0) return FailAt("expected a length");
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
  if (failed_ && window_.size() == 0) return tl::unexpected<Error>(*failed_);
  has_skipped_ = content == 0;
  return has_skipped_;
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
    if (IsPacketAtFront(budget)) {
      is_cut_off_ = false;  // a wrong length reached beyond the end
      return true;
    }
    window_.Drop(1);
  }
  return false;
}

bool TraceFraming::IsPacketAtFront(uint64_t& budget) {
  const Bytes bytes = window_.bytes();
  const wire::Varint size = wire::ReadVarint(bytes.subspan(1));
  const size_t head = 1 + size.size;
  if (size.size == 0 || size.value > kMaxCandidate || size.value > bytes.size() - head)
    return false;
  const size_t end = head + static_cast<size_t>(size.value);
  if (end < bytes.size() && bytes[end] != kPacketTag) return false;
  budget -= std::min<uint64_t>(budget, end);
  const TracePacket packet =
      SplitTracePacket({.bytes = bytes.subspan(head, end - head), .in_file = {}});
  return packet.is_well_formed &&
         ((packet.sequence_id != 0 && packet.trusted_uid) || PackedIn(packet.bytes));
}

}  // namespace ringscope
