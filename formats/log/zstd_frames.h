#ifndef RINGSCOPE_FORMATS_LOG_ZSTD_FRAMES_H_
#define RINGSCOPE_FORMATS_LOG_ZSTD_FRAMES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "formats/io/byte_stream.h"
#include "formats/io/byte_window.h"
#include "formats/log/frame_decompressor.h"

namespace ringscope {

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
  uint32_t magic = 0;  // of the frame that seems to begin there; 0: none
  std::string what;
};

/// Splits an input into zstd frames and skippable frames, and checks and decompresses each. After
/// damage it continues at the next intact frame: where the damaged one ends, if its blocks lead to
/// the start of another, else at the next magic number that begins a whole frame.
///
/// Data frames must state their content's size and carry a checksum, as the commit log's do.
/// Memory: one frame, compressed and decompressed, and the frames ahead. Time: linear in what the
/// frames decompress to; the search for a frame after damage is bounded against input made to
/// prolong it.
class ZstdFrameReader {
 public:
  struct Limits {
    size_t content = 0;    // largest content of a data frame
    size_t skippable = 0;  // largest content of a skippable frame
  };
  /// Whether a frame is one of the format's own. In the search after damage only such frames
  /// count, so that compressed data inside a damaged frame is not taken for one; and a skippable
  /// frame that is not must at least be followed by another frame.
  using IsOwnFn = std::function<bool(const ZstdFrame&)>;
  ZstdFrameReader(std::unique_ptr<ByteSource> source, Limits limits, IsOwnFn is_own);

  /// The next frame or bad range; nullopt: the end. Valid until the next call.
  Result<std::optional<std::variant<ZstdFrame, BadRange>>> Next();

  /// Exchanges the memory that holds the content of the data frame returned last, which then stays
  /// valid, for other memory.
  void SwapContent(FrameContent& content) { decompressor_.Swap(content); }

  /// From here on frames are decompressed ahead of their turn, in that many threads. Everything
  /// else stays as it is.
  void DecompressAhead(unsigned threads) { decompressor_.Start(threads); }

  const ByteSource& source() const { return window_.source(); }
  /// Bytes of the input before the next frame.
  uint64_t position() const { return window_.offset() + skip_; }

 private:
  struct Layout;

  /// The frame that begins at that distance after the window's front.
  Result<Layout> Inspect(size_t at);
  Result<Layout> InspectSkippable(Layout layout);
  Result<Layout> InspectData(Layout layout);
  Result<Layout> WalkBlocks(Layout layout);
  /// Whether the input has so many bytes from the frame's beginning on.
  Result<bool> Has(const Layout& layout, size_t size);
  /// Those of them that are in the window, from the frame's byte `at` on.
  Bytes BytesOf(const Layout& layout, size_t at) const;
  /// Begins the frames that follow the one at the window's front, which is of that size.
  void BeginAhead(size_t size);

  // These look at the window's front.
  std::optional<ZstdFrame> Open(const Layout& layout, std::string* problem);
  Result<bool> IsFollowedByFrame(size_t end);
  Result<BadRange> Resynchronise(uint32_t magic, std::string what);

  ByteWindow window_;
  const Limits limits_;
  const size_t max_frame_;  // compressed
  IsOwnFn is_own_;
  size_t skip_ = 0;  // bytes of the frame that was returned last, still in the window

  FrameDecompressor decompressor_;
  uint64_t looked_to_ = 0;  // how far into the input frames were begun ahead
  bool is_stuck_ = false;   // at something there that is no frame
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_ZSTD_FRAMES_H_
