#ifndef RINGSCOPE_CORE_LOG_PAYLOAD_MASK_H_
#define RINGSCOPE_CORE_LOG_PAYLOAD_MASK_H_

#include <string>

#include "core/log/op.h"

namespace ringscope {

/// Makes a log without payloads, record by record. Keeps all that buffers depend on. A packet in
/// one fragment keeps its fields' numbers and sizes, its timestamp and clock, and what losses are
/// counted by; the rest becomes zeros. A packet in several fragments keeps such fields before the
/// first that may wait for a patch; the rest becomes unassigned fields that are well-formed however
/// fragments are cut. Patches bring the same filler. See commit_log.md.
class PayloadMask {
 public:
  /// The header of a masked log.
  static LogHeader HeaderOf(LogHeader header);
  /// Masks a record. @return it, valid until the next call
  const Op& Apply(const Op& op);

 private:
  Op op_;
  std::string request_;  // that op_ points to
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_PAYLOAD_MASK_H_
