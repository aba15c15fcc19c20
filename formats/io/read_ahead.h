#ifndef RINGSCOPE_FORMATS_IO_READ_AHEAD_H_
#define RINGSCOPE_FORMATS_IO_READ_AHEAD_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// Returns true for files that are not small. Elsewhere a read may never end.
inline bool PaysToReadAhead(std::optional<uint64_t> size) {
  constexpr uint64_t kSmall = uint64_t{512} << 10;
  return size.value_or(0) > kSmall;
}

/// Reads a source in a thread of its own, a few blocks in advance. Memory: at most 8 MiB.
std::unique_ptr<ByteSource> MakeReadAheadSource(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_READ_AHEAD_H_
