#ifndef RINGSCOPE_CORE_PAYLOAD_PACKET_MASK_H_
#define RINGSCOPE_CORE_PAYLOAD_PACKET_MASK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/ids.h"

namespace ringscope {

/// Overwrites what a packet says, and leaves what it is: its size, the numbers, types and sizes of
/// its top-level fields, its timestamp with its clock, and what a trace processor counts losses by
/// (sequence flags, loss bits, counters of ftrace's buffers). Everything else becomes zeros of the
/// same size. So the packet is as valid, is of the same kind and has the same time as before.
///
/// The packet may come in fragments. A nested message that continues in the next fragment has no
/// size yet: it gets one by a patch, and until then it is taken to reach to the end of each
/// fragment, as writers send the patch before or with the chunk where the message ends. Where the
/// size will be there are zeros, or what was in the memory before: it becomes zeros.
///
/// Where it is not known which sizes patches will bring, any message may be one whose size is
/// missing, and its bytes may be anything. The first one that may be is assumed to be: all that
/// follows is zeros.
class PacketMask {
 public:
  /// Which sizes of messages in a fragment patches will bring.
  struct MissingSizes {
    bool any = false;
    /// Offsets from the payload's first byte, in order.
    std::span<const uint32_t> known = {};
    bool all_known = false;  // there are no others
    /// This one was assumed to be missing when the chunk was masked before.
    std::optional<uint32_t> assumed = {};
  };

  /// Where a patch may put the size of a nested message.
  struct Place {
    ChunkId chunk{};
    uint32_t offset = 0;  // from the payload's first byte

    friend bool operator==(const Place&, const Place&) = default;
  };

  /// Masks the packet's next fragment.
  /// @param place of the fragment's first byte
  /// @param missing sizes of its messages
  /// @return where a size is assumed to be missing, though it may not be
  std::optional<Place> Take(std::span<uint8_t> bytes, Place place, const MissingSizes& missing);
  /// A patch puts a size at a place.
  void SetSize(Place place, uint64_t size);
  /// The packet ends in the next fragment, and so do messages whose size is missing, it is not
  /// known where: all of that fragment becomes zeros from the first of them on.
  void ForgetUnfinished();
  /// The packet ends here. Messages whose size is still missing are taken to end with it.
  /// @param visit called with (Place, size) of each
  template <typename Visit>
  void VisitMissingSizes(Visit visit) const {
    for (const Level& level : std::span(levels_).first(depth_))
      if (level.left == kUnknown && level.has_size) visit(level.size_at, level.seen);
  }

 private:
  struct Message;  // which of its fields are kept

  static constexpr uint64_t kUnknown = UINT64_MAX;
  static constexpr size_t kMaxLevels = 5;

  /// A message, or other bytes, that are being read.
  struct Level {
    const Message* message = nullptr;  // nullptr: bytes of no message
    bool kept = false;                 // without a message: the bytes are kept
    uint64_t left = kUnknown;          // bytes
    uint64_t seen = 0;                 // bytes
    bool has_size = true;              // unlike the packet itself
    Place size_at;                     // where its size is expected, if it is unknown
  };
  enum class Phase : uint8_t { kTag, kVarint, kSize };

  static const Message kClock, kClockSnapshot, kDefaults, kFtraceBundle, kCpuStats, kKprobeStats,
      kFtraceStats, kPacket;

  Level& top() { return levels_[depth_ - 1]; }
  /// Whether this number of bytes of the level's message cannot be more.
  void Advance(uint64_t bytes);
  /// Whether no message that is being read ends before so many bytes.
  bool ReachesOver(uint64_t bytes) const;
  void LeaveFinished();
  void Enter(const Level& level);
  /// The rest of the message is not well-formed.
  void Spoil();
  /// Takes a byte of a varint. @return whether it is complete
  bool AddByte(uint8_t& byte, bool is_kept, size_t exact_bytes);
  void OnTag();

  std::array<Level, kMaxLevels> levels_ = {
      Level{.message = &kPacket, .has_size = false, .size_at = {}}};
  size_t depth_ = 1;
  Phase phase_ = Phase::kTag;
  bool keeps_ = false;             // the varint that is being read, or the bytes that follow
  const Message* next_ = nullptr;  // the message that follows
  uint64_t value_ = 0;
  size_t value_bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PAYLOAD_PACKET_MASK_H_
