#ifndef RINGSCOPE_CORE_COMPARE_STORED_OPS_H_
#define RINGSCOPE_CORE_COMPARE_STORED_OPS_H_

#include <vector>

#include "core/log/op.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// Makes each chunk and each patched chunk of a commit a commit of its own. Requests in several
/// parts stay as they are. The flush id of a request is left out.
std::vector<StoredOp> SplitCommits(const std::vector<StoredOp>& ops);

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

#endif  // RINGSCOPE_CORE_COMPARE_STORED_OPS_H_
