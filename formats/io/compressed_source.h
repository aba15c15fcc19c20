#ifndef RINGSCOPE_FORMATS_IO_COMPRESSED_SOURCE_H_
#define RINGSCOPE_FORMATS_IO_COMPRESSED_SOURCE_H_

#include "formats/io/byte_stream.h"

namespace ringscope {

/// A compressed input. Where it is cut off or damaged, its error stays.
class CompressedSource : public ByteSource {
 public:
  /// Compressed bytes consumed, and their total if known: for progress, from any thread.
  virtual uint64_t compressed_position() const = 0;
  virtual std::optional<uint64_t> compressed_size() const = 0;
};

/// Returns true if `start`, the first bytes of an input, begin a zstd frame.
bool IsZstd(Bytes start);
/// Returns true if they begin a gzip member.
bool IsGzip(Bytes start);

/// The largest window of a zstd frame that is taken, as the exponent of 2: zstd's own limit.
inline constexpr int kZstdWindowLog = 27;
/// zstd: one frame or several, skippable ones skipped. Memory: the frame's window.
/// @param window_log a frame with a larger window is an error
std::unique_ptr<CompressedSource> MakeZstdSource(std::unique_ptr<ByteSource> compressed,
                                                 int window_log = kZstdWindowLog);
/// Deflate: gzip (one member or several) or zlib; the content decides which.
std::unique_ptr<CompressedSource> MakeInflateSource(std::unique_ptr<ByteSource> compressed);

/// Returns the one of these that an input needs by its first bytes, or nullptr if it is plain.
std::unique_ptr<CompressedSource> MakeSourceFor(Bytes start, std::unique_ptr<ByteSource>& source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_COMPRESSED_SOURCE_H_
