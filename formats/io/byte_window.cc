#include "formats/io/byte_window.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ringscope {

Result<bool> ByteWindow::Fill(size_t size) {
  while (end_ - begin_ < size && !at_end_) {
    if (failure_) return tl::unexpected(*failure_);
    if (begin_ > 0 && begin_ + std::max(size, read_bytes_) > capacity_) {
      std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == capacity_) GrowFor(size);
    const Result<size_t> got = source_->Read({buffer_.get() + end_, capacity_ - end_});
    if (!got) {
      failure_ = got.error();
      continue;
    }
    at_end_ = *got == 0;
    end_ += *got;
  }
  return end_ - begin_ >= size;
}

/// Doubles the buffer, but not beyond what is asked for: a claimed size takes no memory. Growth by
/// single bytes is rounded up to an eighth.
void ByteWindow::GrowFor(size_t size) {
  const size_t needed = begin_ + std::max(size, read_bytes_);
  const size_t capacity =
      std::max({read_bytes_, capacity_ + capacity_ / 8, std::min(2 * capacity_, needed)});
  void* const grown = std::realloc(buffer_.get(), capacity);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(buffer_.release());
  buffer_.reset(static_cast<uint8_t*>(grown));
  capacity_ = capacity;
}

}  // namespace ringscope
