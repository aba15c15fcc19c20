#ifndef RINGSCOPE_FORMATS_OPS_COMMIT_LINE_H_
#define RINGSCOPE_FORMATS_OPS_COMMIT_LINE_H_

#include <string>
#include <string_view>

#include "core/log/op.h"

namespace ringscope {

/// Parses a "commit" line as writers usually write it, which most lines of a log are: without
/// whitespace and escape sequences, each key once, every value as it has to be. Anything else is
/// left to ParseOp, which says what is wrong.
/// @param request gets the commit's request; empty before
/// @return false: it is no such line; `op` and `request` are then meaningless
bool ParseCommitLine(std::string_view line, Op& op, std::string& request);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_COMMIT_LINE_H_
