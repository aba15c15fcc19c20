#include "formats/log/zstd_frames.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"

namespace ringscope {
namespace {

using commit_log::IsFrameMagic;
using commit_log::IsSkippableMagic;
using commit_log::kSkippableHeaderSize;
using commit_log::kZstdMagic;

constexpr size_t kMagicSize = 4;
constexpr size_t kBlockHeaderSize = 3;
constexpr size_t kChecksumSize = 4;
constexpr size_t kMaxBlockSize = size_t{128} << 10;

// Bits of the frame header's first byte. Source: RFC 8878, section 3.1.1.1.1.
constexpr uint8_t kDictionaryBits = 0x03;
constexpr uint8_t kChecksumBit = 0x04;
constexpr uint8_t kUnusedBits = 0x18;
constexpr uint8_t kSingleSegmentBit = 0x20;

/// Blocks that a frame may have: far more than any compressor makes, and few enough to walk.
constexpr size_t MaxBlocks(size_t content) { return 64 + content / 128; }

/// Bytes that the search may decompress in vain before it stops trying every place.
constexpr uint64_t kMaxSearchEffort = uint64_t{1} << 30;
constexpr uint64_t kEffortPerBlock = 16;

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
  size_t at = 0;  // where it begins, after the window's front
  uint32_t magic = 0;
  size_t size = 0;     // the whole frame; with a problem: up to where it was followed
  size_t content = 0;  // bytes after decompression
  size_t blocks = 0;
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

  RS_ASSIGN_OR_RETURN(Layout layout, Inspect(0));
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

Result<bool> ZstdFrameReader::Has(const Layout& layout, size_t size) {
  return window_.Fill(layout.at + size);
}

Bytes ZstdFrameReader::BytesOf(const Layout& layout, size_t at) const {
  return window_.bytes().subspan(layout.at + at);
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::Inspect(size_t at) {
  Layout layout;
  layout.at = at;
  RS_ASSIGN_OR_RETURN(const bool whole, Has(layout, kMagicSize));
  if (!whole) return layout.Refuse(kTorn);
  layout.magic = LoadMagic(BytesOf(layout, 0));
  if (layout.magic == kZstdMagic) return InspectData(std::move(layout));
  if (IsSkippableMagic(layout.magic)) return InspectSkippable(std::move(layout));
  layout.magic = 0;
  return layout.Refuse("no frame begins here");
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::InspectSkippable(Layout layout) {
  layout.size = kSkippableHeaderSize;
  RS_ASSIGN_OR_RETURN(const bool header, Has(layout, kSkippableHeaderSize));
  if (!header) return layout.Refuse(kTorn);
  layout.content = LoadMagic(BytesOf(layout, kMagicSize));
  if (layout.content > limits_.skippable) {
    return layout.Refuse(fmt::format("a skippable frame of {} bytes, at most {} are expected",
                                     layout.content, limits_.skippable));
  }
  RS_ASSIGN_OR_RETURN(const bool whole, Has(layout, layout.size + layout.content));
  if (!whole) return layout.Refuse(kTorn);
  layout.size += layout.content;
  return layout;
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::InspectData(Layout layout) {
  layout.size = kMagicSize + 1;
  RS_ASSIGN_OR_RETURN(bool whole, Has(layout, layout.size));
  if (!whole) return layout.Refuse(kTorn);
  const uint8_t descriptor = BytesOf(layout, kMagicSize).front();
  const bool single_segment = (descriptor & kSingleSegmentBit) != 0;
  constexpr std::array<size_t, 4> kSizeBytes = {0, 2, 4, 8};
  const size_t size_bytes =
      descriptor >> 6 == 0 && single_segment ? 1 : kSizeBytes[descriptor >> 6];
  if ((descriptor & (kDictionaryBits | kUnusedBits)) != 0 || (descriptor & kChecksumBit) == 0 ||
      size_bytes == 0) {
    return layout.Refuse("the frame header is not one of a commit log (size and checksum known)");
  }
  if (!single_segment) ++layout.size;  // the window's size
  const size_t size_at = layout.size;
  layout.size += size_bytes;
  RS_ASSIGN_OR_RETURN(whole, Has(layout, layout.size));
  if (!whole) return layout.Refuse(kTorn);
  uint64_t content = size_bytes == 2 ? 256 : 0;
  for (size_t i = 0; i < size_bytes; ++i) {
    content += uint64_t{BytesOf(layout, size_at + i).front()} << (8 * i);
  }
  if (content > limits_.content) {
    return layout.Refuse(
        fmt::format("a frame of {} bytes after decompression, at most {} are allowed", content,
                    limits_.content));
  }
  layout.content = static_cast<size_t>(content);
  return WalkBlocks(std::move(layout));
}

Result<ZstdFrameReader::Layout> ZstdFrameReader::WalkBlocks(Layout layout) {
  enum BlockType : uint32_t { kRaw, kRle, kCompressed, kReserved };
  uint64_t plain = 0;  // content that raw and run-length blocks give
  for (bool last = false; !last;) {
    RS_ASSIGN_OR_RETURN(const bool whole, Has(layout, layout.size + kBlockHeaderSize));
    if (!whole) return layout.Refuse(kTorn);
    const Bytes header = BytesOf(layout, layout.size).first(kBlockHeaderSize);
    const uint32_t packed =
        uint32_t{header[0]} | uint32_t{header[1]} << 8 | uint32_t{header[2]} << 16;
    last = (packed & 1) != 0;
    const uint32_t type = packed >> 1 & 3;
    const size_t block = packed >> 3;
    if (type != kCompressed) plain += block;
    if (type == kReserved || block > kMaxBlockSize || plain > layout.content ||
        ++layout.blocks > MaxBlocks(layout.content)) {
      return layout.Refuse("the frame's blocks are damaged");
    }
    layout.size += kBlockHeaderSize + (type == kRle ? 1 : block);
    if (layout.size > max_frame_) return layout.Refuse("the frame's blocks exceed its content");
  }
  RS_ASSIGN_OR_RETURN(const bool whole, Has(layout, layout.size + kChecksumSize));
  if (!whole) return layout.Refuse(kTorn);
  layout.size += kChecksumSize;
  return layout;
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
    RS_ASSIGN_OR_RETURN(const Layout layout, Inspect(0));
    effort += layout.blocks * kEffortPerBlock;
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
