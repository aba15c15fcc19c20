#include <fmt/format.h>
#include <zstd.h>

#include <atomic>
#include <utility>
#include <vector>

#include "core/base/wire.h"
#include "formats/io/compressed_source.h"

namespace ringscope {
namespace {

struct FreeDStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdSource : public CompressedSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> compressed, int window_log)
      : compressed_(std::move(compressed)),
        stream_(ZSTD_createDStream()),
        buffer_(ZSTD_DStreamInSize()) {
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, window_log);
  }

  Result<size_t> Read(std::span<uint8_t> into) override {
    Result<size_t> got = ReadSome(into);
    position_ = consumed_ + input_.pos;
    return got;
  }

  const std::string& path() const override { return compressed_->path(); }
  uint64_t compressed_position() const override { return position_; }
  std::optional<uint64_t> compressed_size() const override { return compressed_->size(); }

 private:
  Result<size_t> ReadSome(std::span<uint8_t> into) {
    ZSTD_outBuffer output{into.data(), into.size(), 0};
    while (output.pos == 0 && !into.empty()) {
      if (input_.pos == input_.size && !pending_output_) {
        RS_ASSIGN_OR_RETURN(const bool more, Refill());
        if (!more) return size_t{0};
      }
      const uint64_t offset = consumed_ + input_.pos;
      const size_t left = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_isError(left)) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("zstd cannot decompress this: {}", ZSTD_getErrorName(left)),
                    Where{path(), offset, {}}, "the file is damaged, or has another format");
      }
      inside_frame_ = left != 0;
      pending_output_ = output.pos == output.size && inside_frame_;
    }
    return output.pos;
  }

  /// @return false at the end of the compressed input
  Result<bool> Refill() {
    RS_ASSIGN_OR_RETURN(const size_t got, compressed_->Read(buffer_));
    consumed_ += input_.size;
    input_ = {buffer_.data(), got, 0};
    if (got > 0) return true;
    if (inside_frame_) {
      return Fail(ErrorCode::kCorrupt, "the compressed input ends in the middle of a zstd frame",
                  Where{path(), consumed_, {}}, "the file is cut off: copy it again");
    }
    return false;
  }

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<ZSTD_DStream, FreeDStream> stream_;
  std::vector<uint8_t> buffer_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  uint64_t consumed_ = 0;  // compressed bytes before the current input buffer
  std::atomic<uint64_t> position_ = 0;
  bool inside_frame_ = false;
  bool pending_output_ = false;  // the decompressor may hold output that did not fit
};

}  // namespace

bool IsZstd(Bytes start) {
  return start.size() >= 4 && wire::LoadLittleEndian<uint32_t>(start.data()) == ZSTD_MAGICNUMBER;
}

std::unique_ptr<CompressedSource> MakeZstdSource(std::unique_ptr<ByteSource> compressed,
                                                 int window_log) {
  return std::make_unique<ZstdSource>(std::move(compressed), window_log);
}

std::unique_ptr<CompressedSource> MakeSourceFor(Bytes start, std::unique_ptr<ByteSource>& source) {
  if (IsZstd(start)) return MakeZstdSource(std::move(source));
  if (IsGzip(start)) return MakeInflateSource(std::move(source));
  return nullptr;
}

}  // namespace ringscope
