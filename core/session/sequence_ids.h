#ifndef RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_
#define RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/key_index.h"

namespace ringscope {

/// Returns the order in which the service goes through the writers of a buffer: that of an
/// open-addressing hash table without deletions, whose key is producer << 16 | writer and whose
/// hash is the key.
/// @param inserted distinct writers, in the order in which the buffer counted them first
inline std::vector<SequenceKey> InTableOrder(const std::vector<SequenceKey>& inserted) {
  constexpr size_t kFirst = 1024, kSecond = 8192, kPercent = 75;
  std::vector<std::optional<SequenceKey>> slots;
  const auto insert = [&](SequenceKey key) {
    const size_t hash = size_t{Raw(key.producer)} << 16 | Raw(key.writer);
    for (size_t step = 0;; ++step) {
      auto& slot = slots[(hash + 2 * step * step + step) & (slots.size() - 1)];
      if (slot) continue;
      slot = key;
      return;
    }
  };
  size_t size = 0;
  for (const SequenceKey key : inserted) {
    if (size >= slots.size() * kPercent / 100) {
      const size_t capacity = slots.empty()            ? kFirst
                              : slots.size() == kFirst ? kSecond
                                                       : slots.size() * 2;
      const auto before = std::exchange(slots, std::vector<std::optional<SequenceKey>>(capacity));
      for (const auto& slot : before)
        if (slot) insert(*slot);
    }
    insert(key);
    ++size;
  }
  std::vector<SequenceKey> order;
  order.reserve(size);
  for (const auto& slot : slots)
    if (slot) order.push_back(*slot);
  return order;
}

/// The service's trusted_packet_sequence_id: one per {machine, producer, writer}, in order of first
/// use. 1 is the service's own.
class SequenceIds {
 public:
  /// @param machine machine_id of the producer; 0: the service's own machine
  uint32_t IdOf(SequenceKey key, uint32_t machine = 0) {
    KeyIndex& ids = machine == 0 ? host_ : remote_[machine];
    uint32_t id = ids.Find(key);
    if (id == KeyIndex::kNone) {
      id = next_++;
      ids.Insert(key, id);
    }
    return id;
  }

 private:
  KeyIndex host_;
  std::map<uint32_t, KeyIndex> remote_;  // by machine
  uint32_t next_ = 2;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_
