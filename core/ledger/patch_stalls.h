#ifndef RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_
#define RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/base/ids.h"
#include "core/base/log_moment.h"

namespace ringscope::ledger {

/// Chunks at which reads of their sequences stop because a patch is missing: while they are in the
/// buffer, and, if they were evicted, until their patch comes after all. A chunk that is still here
/// when the log ends was never patched. Memory: O(such chunks), at most kMaxEvicted evicted ones of
/// each sequence.
class PatchStalls {
 public:
  struct Blocking {
    uint64_t id = 0;  // of the chunk, unwrapped
    LogMoment since;  // its commit
    bool held = true;
  };

  /// The chunk, in the buffer, waits for a patch.
  void Add(SequenceKey sequence, uint64_t chunk, const LogMoment& since) {
    chunks_[sequence][chunk] = {chunk, since, true};
  }
  /// It got its patches, or left the buffer by a read.
  void Remove(SequenceKey sequence, uint64_t chunk) {
    if (chunks_.empty()) return;
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return;
    found->second.erase(chunk);
    if (found->second.empty()) chunks_.erase(found);
  }
  /// It was evicted as it was.
  void Evict(SequenceKey sequence, uint64_t chunk) {
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return;
    auto& chunks = found->second;
    const auto at = chunks.find(chunk);
    if (at == chunks.end()) return;
    at->second.held = false;
    // What was reported long ago does not need the oldest ones.
    const auto is_evicted = [](const auto& one) { return !one.second.held; };
    if (static_cast<size_t>(std::ranges::count_if(chunks, is_evicted)) > kMaxEvicted)
      chunks.erase(std::ranges::find_if(chunks, is_evicted));
  }

  /// The lowest blocking chunk of the sequence in the buffer, if below `chunk`.
  std::optional<uint64_t> FirstBefore(SequenceKey sequence, uint64_t chunk) const {
    if (chunks_.empty()) return std::nullopt;
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return std::nullopt;
    for (const auto& [id, blocking] : found->second) {
      if (id >= chunk) break;
      if (blocking.held) return id;
    }
    return std::nullopt;
  }
  /// The lowest one in this range, in the buffer or evicted.
  const Blocking* FindIn(SequenceKey sequence, uint64_t first, uint64_t last) const {
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return nullptr;
    const auto at = found->second.lower_bound(first);
    return at == found->second.end() || at->first > last ? nullptr : &at->second;
  }

 private:
  static constexpr size_t kMaxEvicted = 1024;

  std::unordered_map<SequenceKey, std::map<uint64_t, Blocking>> chunks_;  // by id
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_
