#include "formats/io/read_ahead.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ringscope {
namespace {

class ReadAheadSource : public ByteSource {
 public:
  explicit ReadAheadSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
    try {
      thread_ = std::thread([this] { ReadBlocks(); });
    } catch (const std::system_error&) {
    }
  }
  ~ReadAheadSource() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Result<size_t> Read(std::span<uint8_t> into) override {
    if (!thread_.joinable()) return source_->Read(into);
    if (into.empty()) return size_t{0};
    Block& block = blocks_[taken_ % kBlocks];
    if (used_ == 0) {  // it may not have been read yet
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ > taken_; });
    }
    if (!block.size) return block.size;  // the source's error, or below its end: both stay
    const size_t count = std::min(into.size(), *block.size - used_);
    std::memcpy(into.data(), block.bytes.get() + used_, count);
    used_ += count;
    if (count > 0 && used_ == *block.size) {
      used_ = 0;
      const std::lock_guard lock(mutex_);
      ++taken_;
      changed_.notify_all();
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

  void ReadBlocks() {
    for (uint64_t next = 0;; ++next) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || next < taken_ + kBlocks; });
        if (stopping_) return;
      }
      Block& block = blocks_[next % kBlocks];
      block.size = source_->Read({block.bytes.get(), kBlockBytes});
      const bool is_last = !block.size || *block.size == 0;
      {
        const std::lock_guard lock(mutex_);
        filled_ = next + 1;
      }
      changed_.notify_all();
      if (is_last) return;
    }
  }

  const std::unique_ptr<ByteSource> source_;
  std::array<Block, kBlocks> blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Blocks that the thread has filled, and that the reader is done with.
  uint64_t filled_ = 0, taken_ = 0;
  bool stopping_ = false;
  size_t used_ = 0;  // bytes of the reader's block; its own
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ByteSource> MakeReadAheadSource(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ReadAheadSource>(std::move(source));
}

}  // namespace ringscope
