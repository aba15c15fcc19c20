#ifndef RINGSCOPE_FORMATS_LOG_ZSTD_FRAMES_H_
#define RINGSCOPE_FORMATS_LOG_ZSTD_FRAMES_H_

#include <variant>

#include "formats/io/byte_stream.h"

struct ZSTD_DCtx_s;

namespace ringscope {

/// Memory that a data frame is decompressed into.
struct FrameContent {
  std::unique_ptr<uint8_t[]> bytes;
  size_t capacity = 0;
};

/// A zstd or skippable frame of an input.
struct ZstdFrame {
  uint64_t offset = 0;  // bytes from the input's start
  uint32_t magic = 0;
  Bytes whole;    // as it is in the input
  Bytes content;  // decompressed; of a skippable frame: what follows its header

  bool skippable() const;
};

/// Bytes of an input that are no intact frame.
struct BadRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t magic = 0;  // of the frame that seems to begin there, or 0
  std::string what;
};
using FrameOrBad = std::variant<ZstdFrame, BadRange>;

/// Splits an input into zstd frames and skippable frames, and checks and decompresses each. After
/// damage continues at the next intact frame. Data frames must state their size and have a
/// checksum. Memory: one frame. Time: linear; the search after damage is bounded.
class ZstdFrameReader {
 public:
  struct Limits {
    size_t content = 0;    // largest content of a data frame
    size_t skippable = 0;  // largest content of a skippable frame
  };
  /// Returns true for the format's own frames. The search after damage takes only these: compressed
  /// data may look like others.
  using IsOwnFn = std::function<bool(const ZstdFrame&)>;
  ZstdFrameReader(std::unique_ptr<ByteSource> source, Limits limits, IsOwnFn is_own);

  /// Returns the next frame or bad range, or nullopt at the end. Valid until the next call.
  Result<std::optional<FrameOrBad>> Next();

  /// Exchanges the memory of the data frame returned last, which then stays valid.
  void SwapContent(FrameContent& content) { std::swap(content_, content); }

  const ByteSource& source() const { return window_.source(); }
  /// Bytes of the input before the next frame.
  uint64_t position() const { return window_.offset() + skip_; }

 private:
  struct Layout;

  // These look at the window's front.
  Result<Layout> Inspect();
  Result<Layout> InspectData(Layout layout);
  std::optional<ZstdFrame> Open(Layout& layout);
  Result<std::optional<FrameOrBad>> Resynchronise(Layout at);

  ByteWindow window_;
  const Limits limits_;
  const size_t max_frame_;  // compressed
  IsOwnFn is_own_;
  size_t skip_ = 0;  // bytes of the frame that was returned last, still in the window
  const std::shared_ptr<ZSTD_DCtx_s> context_;
  FrameContent content_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_ZSTD_FRAMES_H_
