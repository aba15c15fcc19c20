#include "formats/log/zstd_frames.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"

namespace ringscope {
namespace {

using commit_log::IsFrameMagic;
using commit_log::IsSkippableMagic;
using commit_log::kSkippableHeaderSize;
using commit_log::kZstdMagic;

constexpr size_t kMagicSize = 4;
constexpr size_t kMaxHeaderSize = 18;  // of a data frame
/// Set in the byte after the magic number of a frame that ends with a checksum. Source: RFC 8878.
constexpr uint8_t kChecksumBit = 0x04;

/// Bytes that the search may follow and decompress in vain before it stops trying every place.
constexpr uint64_t kMaxSearchEffort = uint64_t{1} << 30;

constexpr char kTorn[] = "the file ends in the middle of a frame";

uint32_t LoadMagic(Bytes bytes) { return wire::LoadLittleEndian<uint32_t>(bytes.data()); }

}  // namespace

bool ZstdFrame::skippable() const { return IsSkippableMagic(magic); }

/// A frame by its own headers.
struct ZstdFrameReader::Layout {
  uint32_t magic = 0;
  size_t size = 0;      // the whole frame; with a problem: up to where it was followed
  size_t content = 0;   // bytes after decompression
  std::string problem;  // why this cannot be a frame, if it cannot
  Layout& Refuse(std::string why) {
    problem = std::move(why);
    return *this;
  }
};

ZstdFrameReader::ZstdFrameReader(std::unique_ptr<ByteSource> source, Limits limits, IsOwnFn is_own)
    : window_(std::move(source)),
      limits_(limits),
      max_frame_(ZSTD_compressBound(limits.content) + (size_t{64} << 10)),
      is_own_(std::move(is_own)),
      context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {}

Result<std::optional<FrameOrBad>> ZstdFrameReader::Next() {
  window_.Drop(std::exchange(skip_, 0));
  RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(1));
  if (!more) return std::nullopt;

  RS_ASSIGN_OR_RETURN(Layout layout, Inspect());
  if (!layout.problem.empty()) return Resynchronise(std::move(layout));
  const std::optional<ZstdFrame> frame = Open(layout);
  if (!frame || (frame->skippable() && !is_own_(*frame))) {
    // The end of a frame that is not verified can be believed if another frame begins there, or
    // the input ends.
    RS_ASSIGN_OR_RETURN(const bool is_followed, window_.Fill(layout.size + kMagicSize));
    if (is_followed && !IsFrameMagic(LoadMagic(window_.bytes().subspan(layout.size)))) {
      if (frame) layout.problem = "the size of a skippable frame is wrong";
      return Resynchronise(std::move(layout));
    }
  }
  skip_ = layout.size;
  if (!frame)
    return BadRange{window_.offset(), layout.size, layout.magic, std::move(layout.problem)};
  return frame->skippable() ? Open(layout) : frame;  // the window may have moved
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::Inspect() {
  Layout layout;
  RS_ASSIGN_OR_RETURN(bool whole, window_.Fill(kMagicSize));
  if (!whole) return layout.Refuse(kTorn);
  layout.magic = LoadMagic(window_.bytes());
  if (layout.magic == kZstdMagic) return InspectData(std::move(layout));
  if (!IsSkippableMagic(layout.magic)) {
    layout.magic = 0;
    return layout.Refuse("no frame begins here");
  }
  layout.size = kSkippableHeaderSize;
  RS_ASSIGN_OR_RETURN(whole, window_.Fill(kSkippableHeaderSize));
  if (!whole) return layout.Refuse(kTorn);
  layout.content = LoadMagic(window_.bytes().subspan(kMagicSize));
  if (layout.content > limits_.skippable)
    return layout.Refuse(fmt::format("a skippable frame of {} bytes, at most {} are expected",
                                     layout.content, limits_.skippable));
  RS_ASSIGN_OR_RETURN(whole, window_.Fill(layout.size + layout.content));
  if (!whole) return layout.Refuse(kTorn);
  layout.size += layout.content;
  return layout;
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::InspectData(Layout layout) {
  RS_ASSIGN_OR_RETURN(bool whole, window_.Fill(kMaxHeaderSize));  // frames may be shorter
  const Bytes start = window_.bytes();
  const uint64_t content = ZSTD_getFrameContentSize(start.data(), start.size());
  if (content == ZSTD_CONTENTSIZE_ERROR && !whole) return layout.Refuse(kTorn);
  if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN ||
      (start[kMagicSize] & kChecksumBit) == 0 ||
      ZSTD_getDictID_fromFrame(start.data(), start.size()) != 0)
    return layout.Refuse("the frame header is not one of a commit log (size and checksum known)");
  if (content > limits_.content)
    return layout.Refuse(
        fmt::format("a frame of {} bytes after decompression, at most {} are allowed", content,
                    limits_.content));
  layout.content = static_cast<size_t>(content);
  for (;;) {
    const Bytes frame = window_.bytes();
    layout.size = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
    if (!ZSTD_isError(layout.size)) return layout;
    const bool is_cut = ZSTD_getErrorCode(layout.size) == ZSTD_error_srcSize_wrong;
    layout.size = frame.size();
    if (!is_cut) return layout.Refuse("the frame's blocks are damaged");
    if (frame.size() >= max_frame_) return layout.Refuse("the frame's blocks exceed its content");
    RS_ASSIGN_OR_RETURN(whole, window_.Fill(frame.size() + 1));
    if (!whole) return layout.Refuse(kTorn);
  }
}

/// Decompresses a data frame into content_. @return nullopt with the layout's problem
std::optional<ZstdFrame> ZstdFrameReader::Open(Layout& layout) {
  ZstdFrame frame{window_.offset(), layout.magic, window_.bytes().first(layout.size), {}};
  if (frame.skippable()) {
    frame.content = frame.whole.subspan(kSkippableHeaderSize);
    return frame;
  }
  if (content_.capacity < layout.content) {
    content_.capacity = std::max(layout.content, 2 * content_.capacity);
    content_.bytes = std::make_unique_for_overwrite<uint8_t[]>(content_.capacity);
  }
  const size_t got = ZSTD_decompressDCtx(context_.get(), content_.bytes.get(), layout.content,
                                         frame.whole.data(), frame.whole.size());
  frame.content = {content_.bytes.get(), layout.content};
  if (got == layout.content) return frame;
  layout.problem =
      ZSTD_isError(got)
          ? fmt::format("the frame does not decompress: {}", ZSTD_getErrorName(got))
          : fmt::format("the frame holds {} bytes, its header states {}", got, layout.content);
  return std::nullopt;
}

Result<std::optional<FrameOrBad>> ZstdFrameReader::Resynchronise(Layout at) {
  BadRange bad{window_.offset(), 0, at.magic, std::move(at.problem)};
  uint64_t effort = 0;
  size_t step = 1;
  for (;;) {
    window_.Drop(std::min(step, window_.size()));
    RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(kMagicSize));
    if (!more) {
      window_.Drop(window_.size());
      break;
    }
    const Bytes bytes = window_.bytes();
    size_t begin = 0;
    while (begin + kMagicSize <= bytes.size() && !IsFrameMagic(LoadMagic(bytes.subspan(begin))))
      ++begin;
    window_.Drop(begin);
    step = 0;
    if (window_.size() < kMagicSize) continue;
    RS_ASSIGN_OR_RETURN(Layout layout, Inspect());
    effort += layout.size;
    if (layout.problem.empty()) {
      const std::optional<ZstdFrame> frame = Open(layout);
      if (frame && is_own_(*frame)) break;
      effort += layout.content;
    }
    step = effort > kMaxSearchEffort ? std::max(layout.size, size_t{1}) : 1;
  }
  bad.bytes = window_.offset() - bad.offset;
  return bad;
}

}  // namespace ringscope
