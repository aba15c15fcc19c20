#include "formats/trace/file_blocks.h"

#include <algorithm>
#include <span>

#include "core/base/wire.h"

namespace ringscope {

FileBlocks::FileBlocks(ByteSource& file, size_t memory)
    : file_(file), blocks_(std::max(memory / kBlockBytes, size_t{1})) {}

Result<Bytes> FileBlocks::Read(uint64_t offset, size_t size) {
  const uint64_t number = offset / kBlockBytes;
  const auto begin = static_cast<size_t>(offset % kBlockBytes);
  if (size > kBlockBytes - begin) return ReadAcross(offset, size);
  const Block* block = Find(number);
  if (block == nullptr) {
    // Where most of what is read is not used, as slices from too many places alternate, each is
    // read by itself.
    if (loaded_ / 4 > returned_ + blocks_.size() * kBlockBytes) return ReadAlone(offset, size);
    RS_ASSIGN_OR_RETURN(block, Load(number));
  }
  returned_ += size;
  if (begin + size > block->size) return FailShort();
  return Bytes(block->bytes.get() + begin, size);
}

FileBlocks::Block* FileBlocks::Find(uint64_t number) {
  Block& block = blocks_[places_[number % places_.size()]];
  if (block.number == number) {
    block.used = ++now_;
    return &block;
  }
  const auto found = std::ranges::find(blocks_, number, &Block::number);
  if (found == blocks_.end()) return nullptr;
  places_[number % places_.size()] = static_cast<uint32_t>(found - blocks_.begin());
  found->used = ++now_;
  return &*found;
}

Result<const FileBlocks::Block*> FileBlocks::Load(uint64_t number) {
  Block& block = *std::ranges::min_element(blocks_, {}, &Block::used);
  if (!block.bytes) block.bytes = std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes);
  block.number = kNone;
  RS_ASSIGN_OR_RETURN(block.size,
                      file_.ReadAt(number * kBlockBytes, {block.bytes.get(), kBlockBytes}));
  loaded_ += kBlockBytes;
  block.number = number;
  block.used = ++now_;
  places_[number % places_.size()] = static_cast<uint32_t>(&block - blocks_.data());
  return &block;
}

Result<Bytes> FileBlocks::ReadAcross(uint64_t offset, size_t size) {
  if (size > kBlockBytes) return ReadAlone(offset, size);
  const auto in_first = static_cast<size_t>(kBlockBytes - offset % kBlockBytes);
  RS_ASSIGN_OR_RETURN(const Bytes first, Read(offset, in_first));
  std::string joined(wire::AsText(first));
  RS_ASSIGN_OR_RETURN(const Bytes second, Read(offset + in_first, size - in_first));
  joined += wire::AsText(second);
  alone_.swap(joined);
  return wire::AsBytes(alone_);
}

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
