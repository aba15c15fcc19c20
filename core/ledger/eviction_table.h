#ifndef RINGSCOPE_CORE_LEDGER_EVICTION_TABLE_H_
#define RINGSCOPE_CORE_LEDGER_EVICTION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/ledger/ledger.h"

namespace ringscope {

/// Who pushed out whom: packets that were overwritten, by their sequence (rows) and by the sequence
/// whose commit needed the space (columns). Those that lost, and those that pushed, most come
/// first; the rest is summed up.
struct EvictionMatrix {
  std::vector<SequenceKey> lost;               // of the rows
  std::vector<SequenceKey> pushed;             // of the columns
  std::vector<std::vector<uint64_t>> packets;  // by row and column; one more of each: all others
  uint64_t other_rows = 0;                     // sequences in the last row
  uint64_t other_columns = 0;                  // sequences in the last column
  uint64_t unknown = 0;  // packets of which the engine does not report who needed the space

  uint64_t all() const;  // without `unknown`
};

/// Counts them in a replay. Memory: O(pairs of sequences of which one pushed out the other).
class EvictionTable : public LedgerSink {
 public:
  void OnPacketFate(const PacketAccount& account) override;

  /// @param size rows and columns at most, beside those of all others
  EvictionMatrix Top(size_t size) const;

 private:
  std::map<SequenceKey, std::map<SequenceKey, uint64_t>> packets_;
  uint64_t unknown_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_EVICTION_TABLE_H_
