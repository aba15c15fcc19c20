#ifndef RINGSCOPE_CORE_LOG_PAYLOAD_MASK_H_
#define RINGSCOPE_CORE_LOG_PAYLOAD_MASK_H_

#include <string>

#include "core/log/op.h"

namespace ringscope {

/// Makes a log without payloads of a log, record by record. All that buffers go by stays: sizes of
/// chunks and fragments, flags, counts, and the places of patches. Every other record stays as it
/// is; the header states that payloads are masked.
///
/// A packet that is in one fragment keeps the numbers, types and sizes of its fields, its timestamp
/// with its clock, and what losses are counted by (sequence flags, loss bits, counters of ftrace's
/// buffers). Everything else becomes zeros. So it is as valid, and of the same kind, as before.
///
/// A packet in several fragments keeps such fields at its beginning, before the first that may wait
/// for a patch. The rest becomes a filler of unassigned fields, each fragment by itself: a varint
/// is open wherever the packet continues, so that the fragments are well-formed in any number and
/// size. Patches bring the same filler and change nothing. (One byte in a fragment of odd size that
/// continues at both ends differs; a patch of just its last bytes would make the packet invalid.)
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
