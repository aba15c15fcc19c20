#ifndef RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_
#define RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/log_moment.h"

namespace ringscope::ledger {

/// Chunks at which reads of their sequences stop because a patch is missing: while they are in the
/// buffer, and, if they were evicted, until their patch comes after all. A chunk that is still here
/// when the log ends was never patched. Memory: O(such chunks), limited by kMaxEvicted for each
/// sequence.
class PatchStalls {
 public:
  struct Blocking {
    uint64_t id = 0;  // of the chunk, unwrapped
    LogMoment since;  // its commit
    bool held = true;
  };

  /// The chunk, in the buffer, waits for a patch.
  void Add(SequenceKey sequence, uint64_t chunk, const LogMoment& since);
  /// It got its patches, or left the buffer by a read.
  void Remove(SequenceKey sequence, uint64_t chunk);
  /// It was evicted as it was.
  void Evict(SequenceKey sequence, uint64_t chunk);

  /// The lowest blocking chunk of the sequence in the buffer, if below `chunk`.
  std::optional<uint64_t> FirstBefore(SequenceKey sequence, uint64_t chunk) const;
  /// The lowest one in this range, in the buffer or evicted.
  const Blocking* FindIn(SequenceKey sequence, uint64_t first, uint64_t last) const;

 private:
  static constexpr size_t kMaxEvicted = 1024;

  // By id, ascending.
  std::unordered_map<SequenceKey, std::vector<Blocking>> chunks_;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_
