#ifndef RINGSCOPE_FORMATS_LOG_RECORD_CODEC_H_
#define RINGSCOPE_FORMATS_LOG_RECORD_CODEC_H_

#include "core/log/op.h"

namespace ringscope::commit_log {

// The bodies of all records but commits. Compiled apart from the codec of commits, which is hot:
// beside these, the compiler would not inline it (half as many instructions again).

/// @param body no Commit
std::string EncodeBody(const OpBody& body);
/// @param kind index of the alternative in OpBody; no Commit
/// @return kCorrupt if the message is not one of that kind
Status DecodeBody(size_t kind, Bytes message, OpBody& body);

/// Appends the record as a field of CommitLog. @param number for a frame's first record
void AppendRecord(const Op& op, std::optional<uint64_t> number, std::string& out);

/// Decodes a Record message; nullopt if this version does not know its kind. A commit's request
/// points into `record`. Errors do not name a place.
Result<std::optional<Op>> DecodeRecord(Bytes record);

/// Returns true if protobuf parsers accept these bytes as a request: they limit tags and lengths.
bool IsWellFormedRequest(Bytes request);

}  // namespace ringscope::commit_log

#endif  // RINGSCOPE_FORMATS_LOG_RECORD_CODEC_H_
