#ifndef RINGSCOPE_CORE_SESSION_READS_TEXT_H_
#define RINGSCOPE_CORE_SESSION_READS_TEXT_H_

#include <string>

#include "core/session/read_policy.h"

namespace ringscope {

/// When a replay read: "as recorded", "every 500 ms as for a file (assumed)".
std::string ReadsText(const ReadsUsed& used);
/// For a column: "recorded", "streamed (assumed)".
std::string ReadsName(const ReadsUsed& used);
/// Returns sentences about reads that were assumed, left out or added; may be empty.
std::string ReadsNotes(const ReadsUsed& used);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_READS_TEXT_H_
