#ifndef RINGSCOPE_CORE_BASE_IDS_H_
#define RINGSCOPE_CORE_BASE_IDS_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

namespace ringscope {

using Bytes = std::span<const uint8_t>;
struct BytesDeleter {
  void operator()(uint8_t* bytes) const { std::free(bytes); }
};
/// Memory of malloc and its like: it can grow, be aligned, or stay untouched.
using OwnedBytes = std::unique_ptr<uint8_t[], BytesDeleter>;

/// A producer's connection, as the service numbers it.
enum class ProducerId : uint16_t {};
/// A trace writer of a producer (one per thread and target buffer).
enum class WriterId : uint16_t {};
/// A buffer's service-wide ("global") id.
enum class BufferId : uint16_t {};
/// A chunk's number within its sequence; wraps at 2^32.
enum class ChunkId : uint32_t {};

constexpr uint16_t Raw(ProducerId id) { return static_cast<uint16_t>(id); }
constexpr uint16_t Raw(WriterId id) { return static_cast<uint16_t>(id); }
constexpr uint16_t Raw(BufferId id) { return static_cast<uint16_t>(id); }
constexpr uint32_t Raw(ChunkId id) { return static_cast<uint32_t>(id); }

constexpr ChunkId Successor(ChunkId id) { return ChunkId{Raw(id) + 1}; }
/// Steps from `a` forward to `b`, modulo 2^32.
constexpr uint32_t Distance(ChunkId a, ChunkId b) { return Raw(b) - Raw(a); }
/// Returns the steps from `a` to `b` by the shorter way round, negative if `b` precedes `a`.
constexpr int32_t SignedDistance(ChunkId a, ChunkId b) {
  return static_cast<int32_t>(Distance(a, b));
}
/// Order of chunk ids modulo 2^32: the shorter way round decides.
constexpr bool Precedes(ChunkId a, ChunkId b) { return SignedDistance(b, a) < 0; }

/// The id of a chunk that was counted beyond 2^32.
constexpr ChunkId IdOf(uint64_t number) { return ChunkId{static_cast<uint32_t>(number)}; }

/// Numbers the chunk ids of one sequence without wrapping: each gets the number nearest to the
/// newest chunk's (or, next to 0, not below it). The first chunk's number is its id.
class ChunkIdUnwrapper {
 public:
  /// The number of a chunk, committed or not.
  constexpr uint64_t Of(ChunkId id) const {
    const int64_t number = static_cast<int64_t>(newest_) + SignedDistance(IdOf(newest_), id);
    return !known_ || number < 0 ? Raw(id) : static_cast<uint64_t>(number);
  }
  /// Notes the number of a chunk that is committed now.
  constexpr void AddNumber(uint64_t number) {
    newest_ = std::max(newest_, number);
    known_ = true;
  }
  /// The highest number so far.
  constexpr uint64_t newest() const { return newest_; }

 private:
  uint64_t newest_ = 0;
  bool known_ = false;
};

/// A sequence of packets: what one writer of one producer writes. Never both 0.
struct SequenceKey {
  ProducerId producer{};
  WriterId writer{};

  constexpr uint32_t Packed() const { return uint32_t{Raw(producer)} << 16 | Raw(writer); }
  friend constexpr bool operator==(SequenceKey, SequenceKey) = default;
  friend constexpr auto operator<=>(SequenceKey a, SequenceKey b) {
    return a.Packed() <=> b.Packed();
  }
};

/// A chunk of a sequence, by its id.
struct ChunkName {
  SequenceKey sequence;
  ChunkId chunk{};

  constexpr ChunkName Next() const { return {sequence, Successor(chunk)}; }
  constexpr ChunkName Previous() const { return {sequence, ChunkId{Raw(chunk) - 1}}; }
  /// The sequence in the upper half, so that the ids of a sequence are next to each other.
  constexpr uint64_t Packed() const { return uint64_t{sequence.Packed()} << 32 | Raw(chunk); }
  friend constexpr bool operator==(ChunkName, ChunkName) = default;
};

/// A chunk of a sequence in a buffer.
struct ChunkAt {
  BufferId buffer{};
  ChunkName name;

  constexpr uint64_t Packed() const {
    return name.Packed() ^ static_cast<uint64_t>(Raw(buffer)) << 20;
  }
  friend constexpr bool operator==(const ChunkAt&, const ChunkAt&) = default;
};

/// A buffer as people name it: by its index in the trace config, `buffers[1]`, or by its id in the
/// log, `1`.
struct BufferKey {
  bool is_index = false;
  uint32_t number = 0;

  constexpr BufferKey(BufferId id) : number(Raw(id)) {}
  constexpr BufferKey(bool by_index, uint32_t value) : is_index(by_index), number(value) {}
  constexpr bool Names(BufferId id, uint32_t index) const {
    return number == (is_index ? index : Raw(id));
  }
  friend constexpr auto operator<=>(const BufferKey&, const BufferKey&) = default;
};

/// Credentials of a writer, which end up in a packet's trusted fields.
struct Identity {
  uint32_t uid = 0;
  int32_t pid = 0;  // -1: unknown
  friend constexpr bool operator==(const Identity&, const Identity&) = default;
};

/// Spreads the bits of a key over a hash.
struct PackedHash {
  constexpr size_t operator()(const auto& key) const {
    const uint64_t mixed = key.Packed() * uint64_t{0x9E3779B97F4A7C15};
    return mixed ^ mixed >> 29;
  }
};

}  // namespace ringscope

template <>
struct std::hash<ringscope::SequenceKey> : ringscope::PackedHash {};
template <>
struct std::hash<ringscope::ChunkName> : ringscope::PackedHash {};
template <>
struct std::hash<ringscope::ChunkAt> : ringscope::PackedHash {};

#endif  // RINGSCOPE_CORE_BASE_IDS_H_
