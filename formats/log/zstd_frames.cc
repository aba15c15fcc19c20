#include "formats/log/zstd_frames.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

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

/// First place in `bytes` where four bytes are a frame's magic number.
std::optional<size_t> FindMagic(Bytes bytes) {
  for (size_t i = 0; i + kMagicSize <= bytes.size(); ++i) {
    if (IsFrameMagic(LoadMagic(bytes.subspan(i)))) return i;
  }
  return std::nullopt;
}

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
      context_(ZSTD_createDCtx()) {}

void ZstdFrameReader::FreeContext::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

Result<std::optional<std::variant<ZstdFrame, BadRange>>> ZstdFrameReader::Next() {
  using Item = std::variant<ZstdFrame, BadRange>;
  window_.Drop(std::exchange(skip_, 0));
  RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(1));
  if (!more) return std::optional<Item>();

  RS_ASSIGN_OR_RETURN(Layout layout, Inspect());
  if (!layout.problem.empty()) {
    RS_ASSIGN_OR_RETURN(BadRange bad, Resynchronise(layout.magic, std::move(layout.problem)));
    return Item(std::move(bad));
  }
  std::string problem = "the size of a skippable frame is wrong";
  const std::optional<ZstdFrame> frame = Open(layout, &problem);
  bool take = frame && (!frame->skippable() || is_own_(*frame));
  if (!take) {
    // The end of a frame that is not verified can be believed if another frame begins there.
    RS_ASSIGN_OR_RETURN(take, IsFollowedByFrame(layout.size));
  }
  if (!take) {
    RS_ASSIGN_OR_RETURN(BadRange bad, Resynchronise(layout.magic, std::move(problem)));
    return Item(std::move(bad));
  }
  skip_ = layout.size;
  if (frame && frame->skippable())
    return Item(*Open(layout, &problem));  // the window may have moved
  if (frame) return Item(*frame);
  return Item(BadRange{window_.offset(), layout.size, layout.magic, std::move(problem)});
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::Inspect() {
  Layout layout;
  RS_ASSIGN_OR_RETURN(const bool whole, window_.Fill(kMagicSize));
  if (!whole) return layout.Refuse(kTorn);
  layout.magic = LoadMagic(window_.bytes());
  if (layout.magic == kZstdMagic) return InspectData(std::move(layout));
  if (IsSkippableMagic(layout.magic)) return InspectSkippable(std::move(layout));
  layout.magic = 0;
  return layout.Refuse("no frame begins here");
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::InspectSkippable(Layout layout) {
  layout.size = kSkippableHeaderSize;
  RS_ASSIGN_OR_RETURN(const bool header, window_.Fill(kSkippableHeaderSize));
  if (!header) return layout.Refuse(kTorn);
  layout.content = LoadMagic(window_.bytes().subspan(kMagicSize));
  if (layout.content > limits_.skippable) {
    return layout.Refuse(fmt::format("a skippable frame of {} bytes, at most {} are expected",
                                     layout.content, limits_.skippable));
  }
  RS_ASSIGN_OR_RETURN(const bool whole, window_.Fill(layout.size + layout.content));
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
  if (content > limits_.content) {
    return layout.Refuse(
        fmt::format("a frame of {} bytes after decompression, at most {} are allowed", content,
                    limits_.content));
  }
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

std::optional<Bytes> ZstdFrameReader::Decompress(Bytes frame, size_t content_size,
                                                 std::string* problem) {
  if (content_.capacity < content_size) {
    content_.capacity = std::max(content_size, 2 * content_.capacity);
    content_.bytes = std::make_unique_for_overwrite<uint8_t[]>(content_.capacity);
  }
  const size_t got = ZSTD_decompressDCtx(context_.get(), content_.bytes.get(), content_size,
                                         frame.data(), frame.size());
  if (ZSTD_isError(got))
    *problem = fmt::format("the frame does not decompress: {}", ZSTD_getErrorName(got));
  else if (got != content_size)
    *problem = fmt::format("the frame holds {} bytes, its header states {}", got, content_size);
  else
    return Bytes(content_.bytes.get(), content_size);
  return std::nullopt;
}

std::optional<ZstdFrame> ZstdFrameReader::Open(const Layout& layout, std::string* problem) {
  ZstdFrame frame{window_.offset(), layout.magic, window_.bytes().first(layout.size), {}};
  if (frame.skippable()) {
    frame.content = frame.whole.subspan(kSkippableHeaderSize);
    return frame;
  }
  const std::optional<Bytes> content = Decompress(frame.whole, layout.content, problem);
  if (!content) return std::nullopt;
  frame.content = *content;
  return frame;
}

Result<bool> ZstdFrameReader::IsFollowedByFrame(size_t end) {
  RS_ASSIGN_OR_RETURN(const bool whole, window_.Fill(end + kMagicSize));
  // The end of the input, or of what is left of it, is as good as a frame.
  return !whole || IsFrameMagic(LoadMagic(window_.bytes().subspan(end)));
}

Result<BadRange> ZstdFrameReader::Resynchronise(uint32_t magic, std::string what) {
  BadRange bad{window_.offset(), 0, magic, std::move(what)};
  uint64_t effort = 0;
  size_t step = 1;
  for (;;) {
    window_.Drop(std::min(step, window_.size()));
    RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(kMagicSize));
    if (!more) {
      window_.Drop(window_.size());
      break;
    }
    const std::optional<size_t> candidate = FindMagic(window_.bytes());
    if (!candidate) {
      step = window_.size() - (kMagicSize - 1);
      continue;
    }
    window_.Drop(*candidate);
    RS_ASSIGN_OR_RETURN(const Layout layout, Inspect());
    effort += layout.size;
    if (layout.problem.empty()) {
      std::string problem;
      const std::optional<ZstdFrame> frame = Open(layout, &problem);
      if (frame && is_own_(*frame)) break;
      effort += layout.content;
    }
    step = effort > kMaxSearchEffort ? std::max(layout.size, size_t{1}) : 1;
  }
  bad.bytes = window_.offset() - bad.offset;
  return bad;
}

}  // namespace ringscope
