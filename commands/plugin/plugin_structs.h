#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_STRUCTS_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_STRUCTS_H_

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/engine/engine.h"
#include "core/perfetto/packet.h"
#include "include/ringscope/plugin_abi.h"

namespace ringscope {

// The plug-in interface's structs and ours.

/// A struct that a plug-in filled, as far as it has it; nullopt for none.
template <typename T>
std::optional<T> TakeStruct(const T* given) {
  if (given == nullptr || given->struct_size < sizeof(given->struct_size)) return std::nullopt;
  T taken{};
  std::memcpy(&taken, given, std::min<size_t>(given->struct_size, sizeof(taken)));
  return taken;
}

inline SequenceKey ToKey(ringscope_sequence sequence) {
  return {ProducerId{sequence.producer}, WriterId{sequence.writer}};
}
inline PacketPlace ToPlace(const ringscope_place& place) {
  return {.first_chunk = ChunkId{place.first_chunk},
          .first_offset = place.first_offset,
          .last_chunk = ChunkId{place.last_chunk}};
}
inline Bytes ToBytes(const ringscope_slice& slice) {
  return slice.data == nullptr ? Bytes() : Bytes(slice.data, static_cast<size_t>(slice.size));
}
inline std::optional<ObservedChunk> ToChunk(const ringscope_chunk* given) {
  const auto chunk = TakeStruct(given);
  if (!chunk) return std::nullopt;
  return ObservedChunk{.sequence = ToKey(chunk->sequence),
                       .chunk = ChunkId{chunk->chunk},
                       .offset = chunk->offset,
                       .outer_size = chunk->outer_size,
                       .payload_size = chunk->payload_size,
                       .payload_avail = chunk->payload_avail,
                       .flags = chunk->flags,
                       .incomplete = chunk->incomplete != 0,
                       .payload = ToBytes(chunk->payload)};
}
/// Whether a VM of a plug-in has no more, and no less, than it can have.
inline bool IsPossibleVm(const ringscope_vm& vm) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  const auto is_possible = [](const ringscope_slice& part) {
    return part.size <= kMostBytes && (part.size == 0 || part.data != nullptr);
  };
  return is_possible(vm.data_source) && is_possible(vm.program) && is_possible(vm.state) &&
         vm.producer_count <= UINT16_MAX && (vm.producer_count == 0 || vm.producers != nullptr);
}
inline ringscope_sequence FromKey(SequenceKey key) { return {Raw(key.producer), Raw(key.writer)}; }

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_STRUCTS_H_
