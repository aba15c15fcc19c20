#include "formats/io/made_ahead.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ringscope {
namespace {

class ReadAheadSource : public ByteSource {
 public:
  explicit ReadAheadSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), blocks_(kBlocks, [this](Block& block) {
          block.size = source_->Read({block.bytes.get(), kBlockBytes});
          return Blocks::Made{.last = !block.size || *block.size == 0};
        }) {}

  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    if (into.empty()) return size_t{0};
    if (block_ == nullptr) block_ = &blocks_.Next();
    if (!block_->size) return block_->size;  // an error stays, and so does the end
    const size_t count = std::min(into.size(), *block_->size - used_);
    std::memcpy(into.data(), block_->bytes.get() + used_, count);
    used_ += count;
    if (used_ == *block_->size) {
      used_ = 0;
      block_ = nullptr;
    }
    return count;
  }

  const std::string& path() const override { return source_->path(); }
  std::optional<uint64_t> size() const override { return source_->size(); }

 private:
  // Many: one that reads ahead must not wait whenever what is read is put to use in bursts.
  static constexpr size_t kBlocks = 16;
  static constexpr size_t kBlockBytes = size_t{512} << 10;

  struct Block {
    /// Not a vector: what is not read takes no memory.
    std::unique_ptr<uint8_t[]> bytes = std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes);
    Result<size_t> size = size_t{0};
  };
  using Blocks = MadeAhead<Block>;

  const std::unique_ptr<ByteSource> source_;
  Block* block_ = nullptr;  // that is being read, if one is
  size_t used_ = 0;         // bytes of it
  Blocks blocks_;
};

}  // namespace

std::unique_ptr<ByteSource> MakeReadAheadSource(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ReadAheadSource>(std::move(source));
}

}  // namespace ringscope
