#ifndef RINGSCOPE_CORE_COMPARE_STREAM_STEP_H_
#define RINGSCOPE_CORE_COMPARE_STREAM_STEP_H_

#include <cstdint>

#include "core/compare/stored_ops.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// An operation on one buffer, without a session around it. It refers to bytes of others.
struct StreamStep {
  enum class Kind : uint8_t { kCommit, kPatch, kRead, kClone };
  Kind kind = Kind::kCommit;
  ChunkCommit commit;
  ChunkPatches patches;
  uint64_t max_packets = UINT64_MAX;  // of a read
};

/// The buffer of the operations that OpOf makes.
inline constexpr BufferId kStreamBuffer{0};

/// The set-up of the buffer, as the first record of a log.
StoredOp SetUpOf(uint64_t size, FillPolicy policy);
/// The step as a record of a log.
StoredOp OpOf(const StreamStep& step);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_STREAM_STEP_H_
