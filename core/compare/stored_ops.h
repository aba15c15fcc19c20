#ifndef RINGSCOPE_CORE_COMPARE_STORED_OPS_H_
#define RINGSCOPE_CORE_COMPARE_STORED_OPS_H_

#include <string_view>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// The size that a writer leaves in place of a packet it aborted: kWriterDropSize.
inline constexpr std::string_view kAbortMarker = "\xFF\xFF\xFF\x7F";

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
