#ifndef RINGSCOPE_CORE_LEDGER_PACKET_VALUES_H_
#define RINGSCOPE_CORE_LEDGER_PACKET_VALUES_H_

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/ledger.h"

namespace ringscope {

/// A value for each packet of the chunks that the ledger remembers. Memory: O(these packets).
template <typename Value>
class PacketValues {
 public:
  /// Sets the value of a packet that begins in a chunk.
  /// @param fragment index, of the packet's first one in the chunk
  void Set(const ChunkAt& at, size_t fragment, Value value) {
    if (last_.second == nullptr || last_.first != at) last_ = {at, &chunks_[at]};
    std::vector<Value>& values = *last_.second;
    if (values.size() <= fragment) values.resize(fragment + 1);
    values[fragment] = value;
  }
  /// Returns the packet's value; Value(): none was set.
  Value Of(const PacketAccount& account) const {
    const ChunkAt at{account.buffer, {account.sequence, IdOf(account.first_chunk)}};
    if (last_.second == nullptr || last_.first != at) {
      const auto found = chunks_.find(at);
      if (found == chunks_.end()) return Value();
      last_ = {at, &found->second};
    }
    return account.fragment < last_.second->size() ? (*last_.second)[account.fragment] : Value();
  }
  /// Forgets a chunk. @return its packets' values by their first fragment; may be empty
  std::vector<Value> Forget(const ChunkAt& at) {
    last_ = {};
    const auto found = chunks_.find(at);
    if (found == chunks_.end()) return {};
    std::vector<Value> values = std::move(found->second);
    chunks_.erase(found);
    return values;
  }

 private:
  mutable std::unordered_map<ChunkAt, std::vector<Value>> chunks_;
  /// The chunk that was looked up last: packets of a chunk follow each other.
  mutable std::pair<ChunkAt, std::vector<Value>*> last_{};
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_PACKET_VALUES_H_
