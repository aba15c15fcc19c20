#ifndef RINGSCOPE_CORE_BASE_IDS_H_
#define RINGSCOPE_CORE_BASE_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace ringscope {

using Bytes = std::span<const uint8_t>;

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

/// Order of chunk ids modulo 2^32: the shorter way round decides.
constexpr bool Precedes(ChunkId a, ChunkId b) { return static_cast<int32_t>(Raw(a) - Raw(b)) < 0; }
constexpr ChunkId Successor(ChunkId id) { return ChunkId{Raw(id) + 1}; }
/// Steps from `a` forward to `b`, modulo 2^32.
constexpr uint32_t Distance(ChunkId a, ChunkId b) { return Raw(b) - Raw(a); }
/// Returns the steps from `a` to `b` by the shorter way round, negative if `b` precedes `a`.
constexpr int32_t SignedDistance(ChunkId a, ChunkId b) {
  return static_cast<int32_t>(Distance(a, b));
}

/// A chunk id counted on beyond 2^32: the number nearest to `near` (or, next to 0, not below it)
/// whose lower 32 bits are the id.
constexpr uint64_t Unwrap(uint64_t near, ChunkId id) {
  const auto step = static_cast<int32_t>(Raw(id) - static_cast<uint32_t>(near));
  const auto unwrapped = static_cast<int64_t>(near) + step;
  return unwrapped < 0 ? Raw(id) : static_cast<uint64_t>(unwrapped);
}

/// The id of a chunk that was counted so.
constexpr ChunkId IdOf(uint64_t number) { return ChunkId{static_cast<uint32_t>(number)}; }

/// Numbers the chunk ids of one sequence without wrapping: each gets the number nearest to the
/// newest chunk's. The first chunk's number is its id.
class ChunkIdUnwrapper {
 public:
  /// The number of a chunk, committed or not.
  constexpr uint64_t Of(ChunkId id) const { return known_ ? Unwrap(newest_, id) : Raw(id); }
  /// The number of a chunk that is committed now.
  constexpr uint64_t Add(ChunkId id) { return AddNumber(Of(id)); }
  /// Notes the number of a chunk that is committed now.
  constexpr uint64_t AddNumber(uint64_t number) {
    if (!known_ || number > newest_) newest_ = number;
    known_ = true;
    return number;
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

/// Spreads the bits of a key over a hash.
constexpr size_t MixBits(uint64_t bits) {
  const uint64_t mixed = bits * 0x9E3779B97F4A7C15;
  return mixed ^ mixed >> 29;
}

/// Credentials of a writer, which end up in a packet's trusted fields.
struct Identity {
  uint32_t uid = 0;
  int32_t pid = 0;  // -1: unknown
  friend constexpr bool operator==(const Identity&, const Identity&) = default;
};

}  // namespace ringscope

template <>
struct std::hash<ringscope::SequenceKey> {
  constexpr size_t operator()(ringscope::SequenceKey key) const {
    return ringscope::MixBits(key.Packed());
  }
};
template <>
struct std::hash<ringscope::ChunkName> {
  constexpr size_t operator()(ringscope::ChunkName name) const {
    return ringscope::MixBits(name.Packed());
  }
};
template <>
struct std::hash<ringscope::ChunkAt> {
  constexpr size_t operator()(const ringscope::ChunkAt& chunk) const {
    return ringscope::MixBits(chunk.name.Packed() ^ uint64_t{Raw(chunk.buffer)} << 20);
  }
};

#endif  // RINGSCOPE_CORE_BASE_IDS_H_
