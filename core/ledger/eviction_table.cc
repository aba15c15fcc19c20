#include "core/ledger/eviction_table.h"

#include <algorithm>
#include <utility>

namespace ringscope {
namespace {

/// The keys with the largest counts, the largest first; of equal ones by key.
std::vector<SequenceKey> LargestOf(const std::map<SequenceKey, uint64_t>& counts, size_t size) {
  std::vector<std::pair<SequenceKey, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(sorted.size(), size));
  std::vector<SequenceKey> keys;
  for (const auto& [key, count] : sorted) keys.push_back(key);
  return keys;
}

size_t IndexOf(const std::vector<SequenceKey>& keys, SequenceKey key) {
  return static_cast<size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
}

}  // namespace

uint64_t EvictionMatrix::all() const {
  uint64_t sum = 0;
  for (const std::vector<uint64_t>& row : packets)
    for (const uint64_t count : row) sum += count;
  return sum;
}

void EvictionTable::OnPacketFate(const PacketAccount& account) {
  if (account.fate != Fate::kOverwritten) return;
  if (!account.culprit) {
    ++unknown_;
    return;
  }
  ++packets_[account.sequence][account.culprit->sequence];
}

EvictionMatrix EvictionTable::Top(size_t size) const {
  std::map<SequenceKey, uint64_t> lost, pushed;
  for (const auto& [victim, by] : packets_) {
    for (const auto& [culprit, count] : by) {
      lost[victim] += count;
      pushed[culprit] += count;
    }
  }
  EvictionMatrix matrix{.lost = LargestOf(lost, size), .pushed = LargestOf(pushed, size)};
  matrix.other_rows = lost.size() - matrix.lost.size();
  matrix.other_columns = pushed.size() - matrix.pushed.size();
  matrix.unknown = unknown_;
  matrix.packets.assign(matrix.lost.size() + 1, std::vector<uint64_t>(matrix.pushed.size() + 1));
  for (const auto& [victim, by] : packets_) {
    std::vector<uint64_t>& row = matrix.packets[IndexOf(matrix.lost, victim)];
    for (const auto& [culprit, count] : by) row[IndexOf(matrix.pushed, culprit)] += count;
  }
  return matrix;
}

}  // namespace ringscope
