#ifndef RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_
#define RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/base/ids.h"
#include "core/base/log_moment.h"

namespace ringscope::ledger {

/// Chunks at which reads of their sequences stop because a patch is missing: those in the buffer,
/// and those that were evicted meanwhile. Memory: O(such chunks), at most kMaxEvicted evicted ones
/// of each sequence.
class PatchStalls {
 public:
  struct Blocking {
    uint64_t id = 0;  // of the chunk, unwrapped
    LogMoment since;  // its commit
  };

  /// The chunk, in the buffer, waits for a patch.
  void Add(SequenceKey sequence, uint64_t chunk, const LogMoment& since) {
    Chunks& chunks = chunks_[sequence];
    chunks.evicted.erase(chunk);
    chunks.held[chunk] = {chunk, since};
  }
  /// It got its patches, or left the buffer by a read.
  void Remove(SequenceKey sequence, uint64_t chunk) {
    if (chunks_.empty()) return;
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return;
    auto& [held, evicted] = found->second;
    held.erase(chunk);
    evicted.erase(chunk);
    if (held.empty() && evicted.empty()) chunks_.erase(found);
  }
  /// The chunk was evicted while it still waited for the patch.
  void Evict(SequenceKey sequence, uint64_t chunk) {
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return;
    auto& [held, evicted] = found->second;
    evicted.insert(held.extract(chunk));
    // Chunks evicted long ago are not needed any more.
    if (evicted.size() > kMaxEvicted) evicted.erase(evicted.begin());
  }

  /// The lowest blocking chunk of the sequence in the buffer, if below `chunk`.
  std::optional<uint64_t> FirstBefore(SequenceKey sequence, uint64_t chunk) const {
    if (chunks_.empty()) return std::nullopt;
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end() || found->second.held.empty()) return std::nullopt;
    const uint64_t first = found->second.held.begin()->first;
    return first < chunk ? std::optional(first) : std::nullopt;
  }
  /// The lowest one in this range, in the buffer or evicted.
  const Blocking* FindIn(SequenceKey sequence, uint64_t first, uint64_t last) const {
    if (chunks_.empty()) return nullptr;
    const auto found = chunks_.find(sequence);
    if (found == chunks_.end()) return nullptr;
    const Blocking* lowest = nullptr;
    for (const auto* chunks : {&found->second.held, &found->second.evicted}) {
      const auto at = chunks->lower_bound(first);
      if (at != chunks->end() && at->first <= last && (lowest == nullptr || at->first < lowest->id))
        lowest = &at->second;
    }
    return lowest;
  }

 private:
  static constexpr size_t kMaxEvicted = 1024;

  /// Blocking chunks of a sequence, by id.
  struct Chunks {
    std::map<uint64_t, Blocking> held, evicted;  // in the buffer, and evicted from it
  };
  std::unordered_map<SequenceKey, Chunks> chunks_;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_PATCH_STALLS_H_
