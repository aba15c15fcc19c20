#ifndef RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_
#define RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_

#include <memory>
#include <string>

#include "formats/io/log_source.h"

namespace ringscope {

class CommitLogObserver;

/// Opens a .tblog or .ops.jsonl by its content, perhaps compressed; "-" for standard input.
Result<std::unique_ptr<LogSource>> OpenLog(const std::string& path);
/// @param observer sees something only if the input is a commit log
Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source,
                                           CommitLogObserver* observer = nullptr);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_OPEN_LOG_H_
