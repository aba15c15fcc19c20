#ifndef RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_
#define RINGSCOPE_CORE_SESSION_SEQUENCE_IDS_H_

#include <cstdint>
#include <map>

#include "core/base/ids.h"
#include "core/base/key_index.h"

namespace ringscope {

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
