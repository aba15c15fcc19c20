#include "formats/trace/file_blocks.h"

#include <span>

#include "core/base/wire.h"

namespace ringscope {

Result<Bytes> FileBlocks::Read(uint64_t offset, size_t size) {
  const uint64_t number = offset / kBlockBytes;
  const auto begin = static_cast<size_t>(offset % kBlockBytes);
  if (size > kBlockBytes - begin) return ReadAlone(offset, size);
  Block& block = blocks_[number % blocks_.size()];
  if (block.number != number) {
    // Slices from too many places alternate, so that most bytes read are not used: each slice is
    // read by itself.
    if (loaded_ / 4 > returned_ + blocks_.size() * kBlockBytes) return ReadAlone(offset, size);
    if (!block.bytes) block.bytes = std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes);
    block.number = UINT64_MAX;
    RS_ASSIGN_OR_RETURN(block.size,
                        file_.ReadAt(number * kBlockBytes, {block.bytes.get(), kBlockBytes}));
    loaded_ += kBlockBytes;
    block.number = number;
  }
  returned_ += size;
  if (begin + size > block.size) return FailShort();
  return Bytes(block.bytes.get() + begin, size);
}

/// Reads a slice past the blocks.
Result<Bytes> FileBlocks::ReadAlone(uint64_t offset, size_t size) {
  // A large slice's memory is released after it.
  if (alone_.capacity() > kBlockBytes && size <= kBlockBytes) std::string().swap(alone_);
  alone_.resize(size);
  RS_ASSIGN_OR_RETURN(const size_t got,
                      file_.ReadAt(offset, {reinterpret_cast<uint8_t*>(alone_.data()), size}));
  if (got < size) return FailShort();
  return wire::AsBytes(alone_);
}

tl::unexpected<Error> FileBlocks::FailShort() const {
  return Fail(ErrorCode::kIo, "the file has become shorter while it was read",
              {file_.path(), {}, {}});
}

}  // namespace ringscope
