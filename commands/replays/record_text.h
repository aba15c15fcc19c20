#ifndef RINGSCOPE_COMMANDS_REPLAYS_RECORD_TEXT_H_
#define RINGSCOPE_COMMANDS_REPLAYS_RECORD_TEXT_H_

#include <string>

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// "10 fragments, 4,080 bytes, continues on next, needs patching"
std::string DescribeChunk(const ChunkToMove& chunk);
/// "2 patches at 12, 30, more patches follow"
std::string DescribePatches(const ChunkToPatch& patch);
/// The fields of any record but a commit: "producer 1, uid 10, name 'app'".
std::string DescribeRecord(const OpBody& body);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_RECORD_TEXT_H_
