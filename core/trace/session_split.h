#ifndef RINGSCOPE_CORE_TRACE_SESSION_SPLIT_H_
#define RINGSCOPE_CORE_TRACE_SESSION_SPLIT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trusted_fields.h"
#include "core/trace/packet_view.h"

namespace ringscope {

/// Finds where the sessions of a trace file begin: files may have been joined, and a clone's file
/// can have what the session before had written. A session begins with what the service writes in
/// its first pass: clock snapshots, a synchronization marker, the trace config, a uuid.
class SessionStarts {
 public:
  enum class Place : uint8_t {
    kSame,     // the packet is of the session that has begun
    kPerhaps,  // it is of the next one if, with only others of this kind between, a kNext follows
    kNext,     // the next session begins, with the kPerhaps directly before it
  };

  /// More are no trace's.
  static constexpr uint64_t kMaxSessions = 1000;

  Place Add(const TracePacketView& packet) {
    switch (packet.content) {
      case proto::TracePacket::kTraceConfig:
        return AddOpening(has_config_ || has_uuid_, has_config_);
      case proto::TracePacket::kTraceUuid:
        return AddOpening(has_uuid_, has_uuid_);
      case proto::TracePacket::kClockSnapshot:
      case proto::TracePacket::kSynchronizationMarker:
        if (packet.sequence_id > kServiceSequenceId) break;
        return has_content_ && (has_config_ || has_uuid_) ? Place::kPerhaps : Place::kSame;
      case proto::TracePacket::kTraceStats:
      case proto::TracePacket::kServiceEvent:
        has_content_ = true;
        return Place::kSame;
      default:
        break;
    }
    has_content_ |= packet.sequence_id != kServiceSequenceId;
    return Place::kSame;
  }

  /// From now on, all is of the session that has begun.
  void Stop() { is_stopped_ = true; }
  /// Whether a session began after that.
  bool has_missed() const { return has_missed_; }

 private:
  /// @param was_opened the session has had its opening, which does not come twice
  Place AddOpening(bool was_opened, bool& has_this) {
    bool is_next = was_opened && has_content_;
    if (is_next && is_stopped_) has_missed_ = true;
    is_next &= !is_stopped_;
    if (is_next) {
      has_config_ = has_uuid_ = has_content_ = false;
      if (++sessions_ == kMaxSessions) Stop();
    }
    has_this = true;
    return is_next ? Place::kNext : Place::kSame;
  }

  bool has_config_ = false, has_uuid_ = false;
  bool has_content_ = false;  // more than its opening
  uint64_t sessions_ = 1;
  bool is_stopped_ = false, has_missed_ = false;
};

/// Divides the packets of a file among its sessions. What may be the beginning of the next session
/// is kept until that is known. Memory: at most kMaxKept bytes.
class SessionSplit {
 public:
  static constexpr size_t kMaxKept = size_t{1} << 20;

  /// The next packet of the file.
  /// @param add_kept gets packets that were kept, now that it is known whose they are: (offset,
  /// bytes)
  /// @param start_next is called with the offset at which the next session begins, before its
  /// packets
  /// @return whether this packet is kept; else it follows on all that was given
  template <typename AddKept, typename StartNext>
  Result<bool> Add(uint64_t offset, Bytes bytes, const TracePacketView& view,
                   const AddKept& add_kept, const StartNext& start_next) {
    const SessionStarts::Place place = starts_.Add(view);
    if (place == SessionStarts::Place::kPerhaps && kept_bytes_ + bytes.size() <= kMaxKept) {
      kept_bytes_ += bytes.size();
      kept_.push_back({offset, std::string(wire::AsText(bytes))});
      return true;
    }
    if (place == SessionStarts::Place::kNext)
      RS_RETURN_IF_ERROR(start_next(kept_.empty() ? offset : kept_.front().offset));
    if (!kept_.empty()) RS_RETURN_IF_ERROR(Finish(add_kept));
    return false;
  }
  /// The file's end: gives what is kept.
  template <typename AddKept>
  Status Finish(const AddKept& add_kept) {
    kept_bytes_ = 0;
    for (const Kept& packet : std::exchange(kept_, {}))
      RS_RETURN_IF_ERROR(add_kept(packet.offset, wire::AsBytes(packet.bytes)));
    return {};
  }

  /// See SessionStarts.
  void Stop() { starts_.Stop(); }
  bool has_missed() const { return starts_.has_missed(); }

 private:
  struct Kept {
    uint64_t offset = 0;
    std::string bytes;
  };

  SessionStarts starts_;
  std::vector<Kept> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_SESSION_SPLIT_H_
