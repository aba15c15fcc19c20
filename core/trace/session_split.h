#ifndef RINGSCOPE_CORE_TRACE_SESSION_SPLIT_H_
#define RINGSCOPE_CORE_TRACE_SESSION_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/trace/packet_view.h"

namespace ringscope {

/// Receives the packets of a trace file, session by session.
class SessionPackets {
 public:
  virtual ~SessionPackets() = default;
  virtual Status OnPacket(const RawPacket& packet, const TracePacketView& view) = 0;
  /// All packets that follow are of the next session.
  /// @param offset of its first packet
  virtual Status OnNextSession(uint64_t offset) = 0;
};

/// Divides the packets of a file among its sessions: files may have been joined, and a clone's file
/// can have what the session before had written. A session begins with what the service writes in
/// its first pass: clock snapshots, a synchronization marker, the trace config, a uuid. Snapshots
/// and markers are kept until it is known whether a config follows them. Memory: kMaxKept bytes.
class SessionSplit {
 public:
  static constexpr size_t kMaxKept = size_t{1} << 20;
  static constexpr uint64_t kMaxSessions = 1000;  // more are no trace's

  explicit SessionSplit(SessionPackets& to) : to_(to) {}

  /// The next packet of the file.
  Status Add(const RawPacket& packet, const TracePacketView& view);
  /// The file's end.
  Status Finish();

  /// From now on, all is of the session that has begun.
  void Stop() { is_stopped_ = true; }
  /// Returns true if a session began after that.
  bool has_missed() const { return has_missed_; }

 private:
  enum class Place : uint8_t { kSame, kPerhapsNext, kNext };
  struct Kept {
    RawPacket packet;
    std::string bytes;
  };

  Place PlaceOf(const TracePacketView& packet);
  Place PlaceOfOpening(bool was_opened, bool& has_this);

  SessionPackets& to_;
  std::vector<Kept> kept_;
  size_t kept_bytes_ = 0;
  bool has_config_ = false, has_uuid_ = false;
  bool has_content_ = false;  // more than its opening
  uint64_t sessions_ = 1;
  bool is_stopped_ = false, has_missed_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_SESSION_SPLIT_H_
