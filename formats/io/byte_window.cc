#include "formats/io/byte_window.h"

#include <algorithm>
#include <cstring>

namespace ringscope {

Result<bool> ByteWindow::Fill(size_t size) {
  while (end_ - begin_ < size && !at_end_) {
    if (begin_ > 0 && begin_ + std::max(size, read_bytes_) > buffer_.size()) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    // The buffer grows with the bytes that are really read, whatever size is asked for.
    if (end_ == buffer_.size()) buffer_.resize(std::max(read_bytes_, 2 * buffer_.size()));
    RS_ASSIGN_OR_RETURN(const size_t got,
                        source_->Read({buffer_.data() + end_, buffer_.size() - end_}));
    at_end_ = got == 0;
    end_ += got;
  }
  return end_ - begin_ >= size;
}

}  // namespace ringscope
