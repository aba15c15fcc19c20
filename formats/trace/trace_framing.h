#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_FRAMING_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_FRAMING_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/io/byte_window.h"

namespace ringscope {

/// The packets that a packet holds compressed: its first field. The service writes no other there.
struct PackedPackets {
  bool by_zstd = false;  // else by deflate
  Bytes packets;
};
std::optional<PackedPackets> PackedIn(Bytes packet);

/// Splits a Trace message into its packets. Memory: one packet.
class TraceFraming {
 public:
  /// @param max_packet bytes: a larger packet is an error (kLimit)
  /// @param skips_all larger ones are passed over even where it is not known that the source has
  /// all of their bytes
  TraceFraming(std::unique_ptr<ByteSource> source, uint64_t max_packet, bool skips_all = false)
      : window_(std::move(source)), max_packet_(max_packet), skips_all_(skips_all) {}

  struct Framed {
    uint64_t offset = 0;  // of the packet's field in the source
    Bytes packet;         // valid until the next call
  };
  /// The next packet. Fields other than packets are skipped.
  /// @return false: the clean end
  Result<bool> Next(Framed& framed) {
    if (NextInWindow(framed)) [[likely]]
      return true;
    return NextOfSource(framed);
  }

  /// After an error: drops bytes up to the next packet that has what the service appends, and
  /// after which another packet begins or the source ends.
  /// @return false: there is none
  Result<bool> Resync();
  /// After an error: whether it was a packet that is too large and was passed over, so that the
  /// next one follows.
  bool has_skipped() const { return has_skipped_; }

  /// Returns true if the source ended within a field.
  bool is_cut_off() const { return is_cut_off_; }
  /// Of the next packet, or of what is wrong.
  uint64_t offset() const { return window_.offset() + returned_; }

 private:
  static constexpr uint8_t kPacketTag =
      uint32_t{proto::Trace::kPacket} << 3 | static_cast<uint8_t>(wire::Type::kBytes);

  /// Bytes of a field, and how many of them precede its content.
  struct Extent {
    size_t head;
    size_t size;
  };

  /// The next field, if it is a packet that the window has already: nearly all are.
  bool NextInWindow(Framed& framed) {
    window_.Drop(returned_);
    returned_ = 0;
    const Bytes bytes = window_.bytes();
    if (bytes.empty() || bytes[0] != kPacketTag) return false;
    uint64_t size = 0;
    const uint8_t* const end = bytes.data() + bytes.size();
    const uint8_t* const packet = wire::TakeVarint(bytes.data() + 1, end, size);
    if (packet == nullptr || size > static_cast<uint64_t>(end - packet) || size > max_packet_)
      return false;
    returned_ = static_cast<size_t>(packet + size - bytes.data());
    framed.offset = window_.offset();
    framed.packet = {packet, static_cast<size_t>(size)};
    return true;
  }
  Result<bool> NextOfSource(Framed& framed);
  /// Returns true if the window has that many bytes. A source that fails is used up to the failure.
  bool Has(size_t size);
  /// Of the field at the window's front.
  Result<Extent> ExtentOf(size_t tag_size, uint8_t type);
  /// Drops a field at the window's front that is too large, unless it can hardly be there.
  /// @return false: the source ended within it
  Result<bool> Skip(size_t head, uint64_t content);
  /// Bytes from the window's front to the source's end; nullopt: not known.
  std::optional<uint64_t> LeftInSource() const;
  bool IsPacketAtFront(uint64_t& budget);
  tl::unexpected<Error> FailAt(std::string what) const;

  ByteWindow window_;
  const uint64_t max_packet_;
  const bool skips_all_;
  bool has_skipped_ = false;
  size_t returned_ = 0;          // bytes at the window's front that the last call used
  std::optional<Error> failed_;  // the source's
  bool is_cut_off_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_FRAMING_H_
