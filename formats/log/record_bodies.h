#ifndef RINGSCOPE_FORMATS_LOG_RECORD_BODIES_H_
#define RINGSCOPE_FORMATS_LOG_RECORD_BODIES_H_

#include <string>

#include "core/log/op.h"

namespace ringscope::commit_log {

// The bodies of all records but commits. Compiled apart from the codec of commits, which is hot:
// beside these, the compiler would not inline it (half as many instructions again).

/// @param body no Commit
std::string EncodeBody(const OpBody& body);
/// @param kind index of the alternative in OpBody; no Commit
/// @return kCorrupt if the message is not one of that kind
Status DecodeBody(size_t kind, Bytes message, OpBody& body);

}  // namespace ringscope::commit_log

#endif  // RINGSCOPE_FORMATS_LOG_RECORD_BODIES_H_
