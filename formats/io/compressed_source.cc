#include "formats/io/compressed_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <climits>
#include <vector>

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// Feeds a library's decompressor with blocks of the compressed input.
class BlockSource : public CompressedSource {
 public:
  BlockSource(std::unique_ptr<ByteSource> compressed, size_t block_bytes)
      : compressed_(std::move(compressed)), block_(block_bytes) {}

  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    Result<size_t> got = into.empty() ? Result<size_t>(size_t{0}) : Decompress(into);
    position_ = Offset();
    return got;
  }
  const std::string& path() const override { return compressed_->path(); }
  uint64_t compressed_position() const override { return position_; }
  std::optional<uint64_t> compressed_size() const override { return compressed_->size(); }

 protected:
  /// Decompresses at least a byte. @return bytes, 0 at the end
  virtual Result<size_t> Decompress(std::span<uint8_t> into) = 0;
  /// Bytes of the block that are not consumed.
  virtual size_t Unconsumed() const = 0;

  /// Returns the next block; empty at the end, where the input must be allowed to end.
  Result<Bytes> NextBlock(bool may_end) {
    RS_ASSIGN_OR_RETURN(const size_t got, compressed_->Read(block_));
    read_ += got;
    if (got == 0 && !may_end && read_ > 0)
      return Fail(ErrorCode::kCorrupt, "the compressed input ends in the middle",
                  {path(), read_, {}}, "the file is cut off: copy it again");
    return Bytes(block_.data(), got);
  }
  uint64_t Offset() const { return read_ - Unconsumed(); }
  tl::unexpected<Error> Damaged(const char* library, const char* why) const {
    return Fail(ErrorCode::kCorrupt, fmt::format("{} cannot decompress this: {}", library, why),
                {path(), Offset(), {}}, "the file is damaged, or has another format");
  }

 private:
  const std::unique_ptr<ByteSource> compressed_;
  std::vector<uint8_t> block_;
  uint64_t read_ = 0;  // compressed bytes
  std::atomic<uint64_t> position_ = 0;
};

class ZstdSource : public BlockSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> compressed, int window_log)
      : BlockSource(std::move(compressed), ZSTD_DStreamInSize()), stream_(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, window_log);
  }

 private:
  Result<size_t> Decompress(std::span<uint8_t> into) override {
    ZSTD_outBuffer output{into.data(), into.size(), 0};
    while (output.pos == 0) {
      if (input_.pos == input_.size && !pending_output_) {
        RS_ASSIGN_OR_RETURN(const Bytes block, NextBlock(/*may_end=*/!inside_frame_));
        input_ = {block.data(), block.size(), 0};
        if (block.empty()) return size_t{0};
      }
      const size_t left = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_isError(left)) return Damaged("zstd", ZSTD_getErrorName(left));
      inside_frame_ = left != 0;
      pending_output_ = output.pos == output.size && inside_frame_;
    }
    return output.pos;
  }
  size_t Unconsumed() const override { return input_.size - input_.pos; }

  struct FreeDStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  const std::unique_ptr<ZSTD_DStream, FreeDStream> stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool inside_frame_ = false;
  bool pending_output_ = false;  // the decompressor may hold output that did not fit
};

class InflateSource : public BlockSource {
 public:
  explicit InflateSource(std::unique_ptr<ByteSource> compressed, size_t block_bytes)
      : BlockSource(std::move(compressed), block_bytes) {
    constexpr int kAnyHeader = 32 + MAX_WBITS;  // zlib's or gzip's
    usable_ = ::inflateInit2(&stream_, kAnyHeader) == Z_OK;
  }
  ~InflateSource() override {
    if (usable_) ::inflateEnd(&stream_);
  }

 private:
  Result<size_t> Decompress(std::span<uint8_t> into) override {
    if (!usable_) return Fail(ErrorCode::kLimit, "zlib has no memory", {path(), Offset(), {}});
    stream_.next_out = into.data();
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(into.size(), UINT_MAX));
    const uInt space = stream_.avail_out;
    while (stream_.avail_out == space) {
      if (stream_.avail_in == 0) {
        RS_ASSIGN_OR_RETURN(const Bytes block, NextBlock(/*may_end=*/at_end_));
        if (block.empty()) return size_t{0};
        stream_.next_in = const_cast<uint8_t*>(block.data());
        stream_.avail_in = static_cast<uInt>(block.size());
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
        return Damaged("zlib", stream_.msg != nullptr ? stream_.msg : "damaged");
      }
    }
    return space - stream_.avail_out;
  }
  size_t Unconsumed() const override { return stream_.avail_in; }

  z_stream stream_{};
  bool usable_ = false;
  bool at_end_ = false;  // of a member
};

}  // namespace

bool IsZstd(Bytes start) {
  return start.size() >= 4 && wire::LoadLittleEndian<uint32_t>(start.data()) == ZSTD_MAGICNUMBER;
}

bool IsGzip(Bytes start) { return start.size() >= 2 && start[0] == 0x1F && start[1] == 0x8B; }

std::unique_ptr<CompressedSource> MakeZstdSource(std::unique_ptr<ByteSource> compressed,
                                                 int window_log) {
  return std::make_unique<ZstdSource>(std::move(compressed), window_log);
}

std::unique_ptr<CompressedSource> MakeInflateSource(std::unique_ptr<ByteSource> compressed) {
  const size_t block_bytes = ReadBytesFor(*compressed);
  return std::make_unique<InflateSource>(std::move(compressed), block_bytes);
}

std::unique_ptr<CompressedSource> MakeSourceFor(Bytes start, std::unique_ptr<ByteSource>& source) {
  if (IsZstd(start)) return MakeZstdSource(std::move(source));
  if (IsGzip(start)) return MakeInflateSource(std::move(source));
  return nullptr;
}

}  // namespace ringscope
