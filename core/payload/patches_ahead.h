#ifndef RINGSCOPE_CORE_PAYLOAD_PATCHES_AHEAD_H_
#define RINGSCOPE_CORE_PAYLOAD_PATCHES_AHEAD_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// The patches in requests that were read and not yet handled: where in a chunk that waits for
/// patches sizes are missing.
class PatchesAhead {
 public:
  struct Places {
    std::vector<uint32_t> offsets;  // from the payload's first byte, in order
    bool are_all = false;           // and each is a size's
  };

  /// A request was read.
  /// @return its chunks in which sizes are missing
  std::vector<ChunkName> Add(const Commit& commit);
  /// It was handled.
  void Remove(const Commit& commit);
  /// @return nullptr: none
  const Places* Find(const ChunkName& chunk) const;
  bool HasAll(const ChunkName& chunk) const {
    const Places* const places = Find(chunk);
    return places != nullptr && places->are_all;
  }

 private:
  struct Entry {
    Places places;
    uint64_t requests = 0;  // that have patches of the chunk
  };
  CommitRequestParser parser_;
  std::unordered_map<ChunkName, Entry> chunks_;
};

/// The size that a patch fills in: a varint that takes all of its bytes. nullopt: it is none.
std::optional<uint64_t> PatchedSizeOf(Bytes data);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PAYLOAD_PATCHES_AHEAD_H_
