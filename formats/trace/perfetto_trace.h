#ifndef RINGSCOPE_FORMATS_TRACE_PERFETTO_TRACE_H_
#define RINGSCOPE_FORMATS_TRACE_PERFETTO_TRACE_H_

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/session/session.h"
#include "core/trace/packet_view.h"
#include "core/trace/trace_scan.h"
#include "formats/io/byte_stream.h"
#include "formats/io/compressed_source.h"
#include "formats/io/log_source.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// The first byte of each packet in a file: the tag of its field in the Trace message.
inline constexpr uint8_t kPacketTag =
    uint32_t{proto::Trace::kPacket} << 3 | static_cast<uint8_t>(wire::Type::kBytes);

/// Splits a Trace message into its packets. Memory: one packet.
class TraceFraming {
 public:
  /// @param max_packet bytes: a larger packet is an error (kLimit)
  /// @param skips_all larger ones are passed over even where it is not known that the source has
  /// all of their bytes
  TraceFraming(std::unique_ptr<ByteSource> source, uint64_t max_packet, bool skips_all = false)
      : window_(std::move(source)), max_packet_(max_packet), skips_all_(skips_all) {}

  /// The next packet. Fields other than packets are skipped.
  /// @return false: the clean end
  Result<bool> Next(RawPacket& packet);

  /// After an error: drops bytes up to the next packet that has what the service appends, and
  /// after which another packet begins or the source ends.
  /// @return false: there is none
  Result<bool> Resync();
  /// After a packet that is damaged: returns true if another follows at once. Else its size is
  /// taken for wrong, and Resync searches in it.
  bool IsFollowedByPacket();

  /// After an error: returns true if the bytes that are no packet begin as a text.
  bool BeginsWithText() const;
  /// After an error: whether it was a packet that is too large and was passed over, so that the
  /// next one follows.
  bool has_skipped() const { return has_skipped_; }

  /// Reads to the source's end.
  Status SkipRest();

  /// Returns true if the source ended within a field, or failed.
  bool is_cut_off() const { return is_cut_off_; }
  /// Returns the file offset of the next packet, or of what is wrong.
  uint64_t offset() const { return window_.offset() + returned_; }

 private:
  /// Returns true if the window has that many bytes. A source that fails is used up to the failure.
  bool Has(size_t size);
  /// Drops a packet at the window's front that is too large, unless it can hardly be there.
  tl::unexpected<Error> FailTooLarge(size_t head, uint64_t content);
  /// @param at offset in the window, of what is no varint, or ends with the source
  tl::unexpected<Error> FailAtVarint(size_t at, const char* expected);
  tl::unexpected<Error> FailOfSource();
  tl::unexpected<Error> FailAt(std::string what) const;

  ByteWindow window_;
  const uint64_t max_packet_;
  const bool skips_all_;
  bool has_skipped_ = false;
  size_t returned_ = 0;          // bytes at the window's front that the last call used
  std::optional<Error> failed_;  // the source's
  bool is_cut_off_ = false;
};

/// Returns true if a whole packet is in the bytes, whatever is before it.
bool HasWholePacket(Bytes bytes);

/// Returns true for the start of a trace in which each LF became CR LF, as copies in text mode have
/// it. Those are read without the CRs.
bool HasTextLineEnds(Bytes start);

/// Writes a `.pftrace`: a Trace message, packet by packet. As a listener of a replay it writes the
/// trace that the service would have written.
class TraceWriter : public ReplayListener {
 public:
  /// @param sink gets whole packets with each write
  /// @param clone whose trace it is, in the replay of a clone; absent: the session's own
  explicit TraceWriter(ByteSink& sink, std::optional<uint64_t> clone = {})
      : sink_(sink), clone_(clone) {}

  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnRecord(const Op& op, const LogMoment&) override;
  Status OnProtoVms(const ProtoVmsRead& read) override;
  /// Adds a packet with the trusted fields that the service appends. Invalid ones are left out.
  Status OnPacket(const SessionPacket& packet) override;
  void OnAllRead(const Session& session, std::optional<uint64_t> id) override;
  /// Adds the TraceStats packet: every buffer, every sequence, with the counters of the last pass
  /// that left nothing, where the service takes them.
  Status OnLogEnd(Session& session) override;

  /// Adds the packet that tells the file from one of a service: a SystemInfo that names this
  /// program where that of a service has the service's version. Call it first.
  Status AddTool();
  /// Adds a packet of the service itself (sequence 1).
  /// @param field of TracePacket; @param content a message, as it is in the packet
  Status AddServicePacket(uint32_t field, Bytes content,
                          std::optional<uint64_t> timestamp = std::nullopt);
  /// Writes out what is pending; the first error met.
  Status Finish();

 private:
  Status AddRecord(const Op& op);
  Status FlushIfLarge();

  ByteSink& sink_;
  const std::optional<uint64_t> clone_;
  std::map<BufferId, uint32_t> indexes_;   // in the trace config
  std::string config_;                     // of the session
  std::map<BufferId, BufferStats> taken_;  // at the last pass
  std::optional<ServiceStats> service_;    // likewise
  std::string pending_;
  std::string scratch_;
  Status status_;  // of OnRecord
};

/// A TraceStats message: every buffer of the session, every sequence.
/// @param service the counters of the service itself
/// @param taken counters of an earlier moment to write in the place of the buffers' own
/// @param configured buffers of the trace config: a log has no id of one that nobody writes to
std::string EncodeTraceStats(Session& session, const ServiceStats& service,
                             const std::map<BufferId, BufferStats>& taken = {},
                             const std::vector<ConfiguredBuffer>& configured = {});

/// The largest packet that is read, bytes. The service's own buffers hold none that is larger.
inline constexpr uint64_t kMaxTracePacket = uint64_t{128} << 20;

/// Reads a `.pftrace` packet by packet, plain or compressed as a whole by zstd or gzip. Packets
/// that are compressed inside a packet are returned in its place; what these unpack to is bounded
/// by their size. Memory: one packet, or two where they are compressed, and what zstd needs: the
/// window of the file's frames, and up to 8 MiB for packets that are compressed inside a packet.
class TraceReader {
 public:
  enum class OnDamage : uint8_t {
    kFail,  // is an error, which ends the stream
    kSkip,  // is noted, and reading continues at the next packet that can be found
  };

  /// @param max_packet bytes: larger packets are left out, as damage
  /// @param copy gets all bytes, decompressed, as they are read; may be nullptr
  static Result<std::unique_ptr<TraceReader>> Open(std::unique_ptr<ByteSource> source,
                                                   OnDamage on_damage = OnDamage::kFail,
                                                   uint64_t max_packet = kMaxTracePacket,
                                                   ByteSink* copy = nullptr);
  /// Reads the next packet, and views it. Fields other than packets are skipped.
  /// @return false at the file's clean end
  Result<bool> Next(RawPacket& packet, TracePacketView& view);
  Result<bool> Next(RawPacket& packet) {
    TracePacketView view;
    return Next(packet, view);
  }

  /// Reads all packets that follow, and divides them among the sessions of the file.
  /// @param progress called now and then with the bytes of the file read, and their total, 0 if it
  /// is not known; may be empty
  /// @return packets read
  Result<uint64_t> ReadSessions(SessionSplit& split,
                                const std::function<void(uint64_t, uint64_t)>& progress);

  /// Bytes that were skipped (at most LogSource::kMaxDamage entries; damage_count() counts all).
  const std::vector<Damage>& damage() const { return damage_; }
  uint64_t damage_count() const { return damage_count_; }
  /// Reads what follows a damage after which no packet was found.
  Status SkipRest() { return outer_.SkipRest(); }
  /// Returns true if the file ends within a packet, which is damage, too.
  bool is_cut_off() const { return outer_.is_cut_off(); }
  /// Progress: bytes of the file consumed, and their total where it is known.
  uint64_t position() const {
    return compressed_ != nullptr ? compressed_->compressed_position() : outer_.offset();
  }
  std::optional<uint64_t> size() const { return size_; }

 private:
  TraceReader(OnDamage on_damage, uint64_t max_packet, std::unique_ptr<ByteSource> source,
              std::optional<uint64_t> size, const CompressedSource* compressed)
      : on_damage_(on_damage),
        max_packet_(max_packet),
        path_(source->path()),
        size_(size),
        compressed_(compressed),
        outer_(std::move(source), max_packet) {}

  Result<bool> ReadOuter(RawPacket& packet);
  Result<bool> ReadInner(RawPacket& packet);
  Status SkipDamage(Error error);
  void Note(uint64_t offset, uint64_t bytes, std::string what, bool is_left_out = false);

  const OnDamage on_damage_;
  const uint64_t max_packet_;
  const std::string path_;
  const std::optional<uint64_t> size_;
  const CompressedSource* const compressed_;  // nullptr: the file is plain
  TraceFraming outer_;
  std::optional<TraceFraming> inner_;  // of the compressed packets being read
  uint64_t inner_offset_ = 0;
  uint64_t allowance_ = uint64_t{256} << 20;  // bytes that compressed packets may still unpack to
  bool ended_ = false;
  std::vector<Damage> damage_;
  uint64_t damage_count_ = 0;
  Status status_;
};

/// Returns true if a trace begins with the packet of AddTool, as any version wrote it.
bool BeginsWithToolPacket(Bytes start);
inline constexpr OutputKind kTraceOutput = {"a trace", false, BeginsWithToolPacket};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_PERFETTO_TRACE_H_
