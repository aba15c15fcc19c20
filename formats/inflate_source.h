#ifndef RINGSCOPE_FORMATS_INFLATE_SOURCE_H_
#define RINGSCOPE_FORMATS_INFLATE_SOURCE_H_

#include <memory>

#include "formats/byte_stream.h"

namespace ringscope {

/// Whether `start`, the first bytes of an input, begin a gzip member.
bool IsGzip(Bytes start);

/// An input compressed by deflate being decompressed: gzip (one member or several) or zlib; the
/// content tells which. An input that ends early or is damaged gives an error behind the bytes that
/// could be read. Memory: a few tens of KiB.
std::unique_ptr<ByteSource> MakeInflateSource(std::unique_ptr<ByteSource> compressed);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INFLATE_SOURCE_H_
