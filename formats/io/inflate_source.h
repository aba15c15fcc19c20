#ifndef RINGSCOPE_FORMATS_IO_INFLATE_SOURCE_H_
#define RINGSCOPE_FORMATS_IO_INFLATE_SOURCE_H_

#include <memory>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// Whether `start`, the first bytes of an input, begin a gzip member.
bool IsGzip(Bytes start);

/// An input compressed by deflate being decompressed: gzip (one member or several) or zlib; the
/// content decides which. An input that ends early or is damaged gives an error after the bytes
/// that could be read. Memory: a few tens of KiB.
std::unique_ptr<ByteSource> MakeInflateSource(std::unique_ptr<ByteSource> compressed);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_INFLATE_SOURCE_H_
