#ifndef RINGSCOPE_FORMATS_LOG_LOG_INDEX_H_
#define RINGSCOPE_FORMATS_LOG_LOG_INDEX_H_

#include <optional>

#include "formats/io/byte_stream.h"
#include "formats/log/commit_log_index.h"

namespace ringscope {

/// Reads the index of a log of one file that was closed, from the file's end alone.
/// @param source of any kind; only one that can be read at any place has an index
/// @return nullopt if no index is there that can be trusted
Result<std::optional<commit_log::Index>> ReadIndex(ByteSource& source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_LOG_INDEX_H_
