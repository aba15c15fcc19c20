#ifndef RINGSCOPE_CORE_PLUGIN_PLACE_INDEX_H_
#define RINGSCOPE_CORE_PLUGIN_PLACE_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/perfetto/chunk.h"
#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/packet.h"

namespace ringscope {

/// Copies of one sequence's chunks, and where a packet with given bytes is in them. Chunks go by
/// their unwrapped ids. Finding a packet, or that there is none, takes time by its size, not by the
/// chunks kept, unless many fragmented packets have their first 64 bytes in common.
class PlaceIndex {
 public:
  /// Keeps a copy of a commit's payload, or more of one that is kept.
  /// @param serial of the commit: the newest of a chunk counts for Forget
  void Keep(uint64_t id, const ChunkCommit& commit, uint64_t serial);
  /// Drops a copy, unless a later commit of the chunk was kept.
  void Forget(uint64_t id, uint64_t serial);
  void ApplyPatches(uint64_t id, const ChunkPatches& patches);
  uint64_t NumberOf(ChunkId id) const { return ids_.Of(id); }

  /// The first place after the packet found last, else the first of all; kUnknownPlace: none.
  PacketPlace Find(const Packet& packet);
  /// Fragments that were compared with packets so far: the work done.
  uint64_t compared() const { return compared_; }

 private:
  /// A chunk as it was committed, with the patches that were applied to it.
  struct Copy {
    std::string payload;
    WrittenChunk chunk;
    uint64_t serial = 0;  // of the commit that brought it
  };
  using Copies = std::map<uint64_t, Copy>;
  using Position = std::pair<uint64_t, uint32_t>;  // chunk, index of the fragment
  struct Found {
    Position at;
    PacketPlace place;
  };
  struct Search;

  template <typename Visit>
  static void VisitKeys(const Copy& copy, Visit visit);
  static std::optional<Bytes> BodyOf(const Copy& copy, const WrittenFragment& fragment);
  void PutIntoIndex(uint64_t id, const Copy& copy);
  void TakeOutOfIndex(uint64_t id, const Copy& copy);
  void Look(uint64_t hash, uint64_t size, Search& search);
  std::optional<PacketPlace> PlaceAt(Position at, const Packet& packet);

  Copies copies_;
  ChunkIdUnwrapper ids_;
  std::unordered_map<uint64_t, std::set<Position>> index_;  // by a hash of the first fragment
  Position next_;                                           // after the packet found last
  uint64_t compared_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PLUGIN_PLACE_INDEX_H_
