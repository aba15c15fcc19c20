#ifndef RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_
#define RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/key_index.h"

namespace ringscope {

/// The service's trusted_packet_sequence_id: one per {producer, writer}, in order of first use.
/// 1 is the service's own.
class SequenceIds {
 public:
  uint32_t IdOf(SequenceKey key) {
    uint32_t id = ids_.Find(key);
    if (id == KeyIndex::kNone) {
      id = static_cast<uint32_t>(ids_.size()) + 2;
      ids_.Insert(key, id);
    }
    return id;
  }

 private:
  KeyIndex ids_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_
