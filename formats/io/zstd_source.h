#ifndef RINGSCOPE_FORMATS_IO_ZSTD_SOURCE_H_
#define RINGSCOPE_FORMATS_IO_ZSTD_SOURCE_H_

#include <memory>
#include <string>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// Whether `start`, the first bytes of an input, begin a zstd frame.
bool IsZstd(Bytes start);

/// A zstd-compressed input being decompressed: one frame or several, skippable ones skipped.
class ZstdSource : public ByteSource {
 public:
  static std::unique_ptr<ZstdSource> Make(std::unique_ptr<ByteSource> compressed);
  /// Up to `size` bytes that Read will return next; fewer only at the end.
  virtual Result<std::string> Peek(size_t size) = 0;
  /// Compressed bytes consumed so far, and their total where it is known: for progress.
  virtual uint64_t compressed_position() const = 0;
  virtual std::optional<uint64_t> compressed_size() const = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_ZSTD_SOURCE_H_
