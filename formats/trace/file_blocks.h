#ifndef RINGSCOPE_FORMATS_TRACE_FILE_BLOCKS_H_
#define RINGSCOPE_FORMATS_TRACE_FILE_BLOCKS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// Reads small slices of a file, of which those that are close to each other in the file are often
/// asked for soon after each other: it is read in blocks, of which some are kept.
/// Memory: what it is given, at least one block, and the largest slice.
class FileBlocks {
 public:
  static constexpr size_t kBlockBytes = size_t{128} << 10;

  /// @param file CanReadAt(); must outlive this
  /// @param memory bytes
  FileBlocks(ByteSource& file, size_t memory)
      : file_(file), blocks_(std::max(memory / kBlockBytes, size_t{1})) {}

  /// The bytes from `offset` on; valid until the next call. A file that has fewer is an error.
  Result<Bytes> Read(uint64_t offset, size_t size);

 private:
  struct Block {
    uint64_t number = UINT64_MAX;  // its place in the file, in blocks
    size_t size = 0;               // bytes that the file has of it
    std::unique_ptr<uint8_t[]> bytes;
  };

  Result<Bytes> ReadAlone(uint64_t offset, size_t size);
  tl::unexpected<Error> FailShort() const;

  ByteSource& file_;
  std::vector<Block> blocks_;           // a block is where its number modulo their count is
  uint64_t loaded_ = 0, returned_ = 0;  // bytes
  std::string alone_;                   // a slice that is in no block as a whole
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_FILE_BLOCKS_H_
