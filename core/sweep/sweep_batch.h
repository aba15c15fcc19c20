#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_BATCH_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_BATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/chunk_shape.h"
#include "core/engine/engine.h"
#include "core/log/op.h"

namespace ringscope {

/// Some records of a log, taken apart once for all configurations of a sweep: chunks as shapes,
/// after the service's rules. Nothing in it points outside.
struct SweepBatch {
  enum class Kind : uint8_t {
    kRecord,   // a commit begins: index into `times`
    kOp,       // another record: index into `ops`
    kChunk,    // goes into its buffer
    kPatches,  // go into their buffer
  };
  struct Step {
    Kind kind = Kind::kRecord;
    uint32_t index = 0;
  };
  struct Chunk {
    BufferId buffer{};
    ChunkCommit commit;  // without payload
    uint32_t first_fragment = 0;
    uint32_t fragments = 0;
    ChunkShape shape;  // without fragments
  };
  struct Patches {
    BufferId buffer{};
    ChunkPatches patches;  // without `patches`
    uint32_t first = 0;
    uint32_t count = 0;
  };

  std::vector<Step> steps;
  std::vector<std::optional<uint64_t>> times;
  std::vector<Op> ops;
  std::vector<Chunk> chunks;
  std::vector<ShapeFragment> fragments;  // of all chunks
  std::vector<Patches> patches;
  std::vector<Patch> patch_places;  // of all patches, without data

  size_t op_bytes = 0;  // texts and messages that belong to `ops`, about

  /// Memory that it takes, about.
  size_t bytes() const {
    return steps.capacity() * sizeof(Step) + times.capacity() * sizeof(times[0]) +
           ops.capacity() * sizeof(Op) + op_bytes + chunks.capacity() * sizeof(Chunk) +
           fragments.capacity() * sizeof(ShapeFragment) + patches.capacity() * sizeof(Patches) +
           patch_places.capacity() * sizeof(Patch);
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_BATCH_H_
