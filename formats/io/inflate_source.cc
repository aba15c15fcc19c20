#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <utility>
#include <vector>

#include "formats/io/compressed_source.h"

namespace ringscope {
namespace {

constexpr int kAnyHeader = 32 + MAX_WBITS;  // zlib's or gzip's

class InflateSource : public CompressedSource {
 public:
  explicit InflateSource(std::unique_ptr<ByteSource> compressed)
      : compressed_(std::move(compressed)), buffer_(ReadBytesFor(*compressed_)) {
    usable_ = ::inflateInit2(&stream_, kAnyHeader) == Z_OK;
  }
  ~InflateSource() override {
    if (usable_) ::inflateEnd(&stream_);
  }

  Result<size_t> Read(std::span<uint8_t> into) override {
    Result<size_t> got = ReadSome(into);
    position_ = consumed_ - stream_.avail_in;
    return got;
  }

  const std::string& path() const override { return compressed_->path(); }
  uint64_t compressed_position() const override { return position_; }
  std::optional<uint64_t> compressed_size() const override { return compressed_->size(); }

 private:
  Result<size_t> ReadSome(std::span<uint8_t> into) {
    if (!usable_) return Fail(ErrorCode::kLimit, "zlib has no memory", Here());
    if (into.empty()) return size_t{0};
    stream_.next_out = into.data();
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(into.size(), UINT_MAX));
    const uInt space = stream_.avail_out;
    while (stream_.avail_out == space) {
      if (stream_.avail_in == 0) {
        RS_ASSIGN_OR_RETURN(const bool more, Refill());
        if (!more) return size_t{0};
      }
      if (at_end_) {  // after a member, there is another one
        ::inflateReset(&stream_);
        at_end_ = false;
      }
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        at_end_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        if (stream_.avail_out < space) break;  // what precedes the damage; the next call reports it
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("zlib cannot decompress this: {}",
                                stream_.msg != nullptr ? stream_.msg : "damaged"),
                    Here(), "the file is damaged, or has another format");
      }
    }
    return space - stream_.avail_out;
  }

  Where Here() const { return {path(), consumed_ - stream_.avail_in, {}}; }

  /// @return false at the end of the compressed input
  Result<bool> Refill() {
    RS_ASSIGN_OR_RETURN(const size_t got, compressed_->Read(buffer_));
    consumed_ += got;
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<uInt>(got);
    if (got > 0) return true;
    if (at_end_ || consumed_ == 0) return false;
    return Fail(ErrorCode::kCorrupt, "the compressed input ends in the middle", Here(),
                "the file is cut off: copy it again");
  }

  std::unique_ptr<ByteSource> compressed_;
  std::vector<uint8_t> buffer_;
  z_stream stream_{};
  bool usable_ = false;
  bool at_end_ = false;    // of a member
  uint64_t consumed_ = 0;  // compressed bytes read
  std::atomic<uint64_t> position_ = 0;
};

}  // namespace

bool IsGzip(Bytes start) { return start.size() >= 2 && start[0] == 0x1F && start[1] == 0x8B; }

std::unique_ptr<CompressedSource> MakeInflateSource(std::unique_ptr<ByteSource> compressed) {
  return std::make_unique<InflateSource>(std::move(compressed));
}

}  // namespace ringscope
