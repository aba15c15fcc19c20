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

/// What the search for a frame may spend, in bytes decompressed in vain, before it stops trying
/// every place where one might begin.
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

/// What a frame's own headers state.
struct ZstdFrameReader::Shape {
  size_t at = 0;  // where it begins, after the window's front
  uint32_t magic = 0;
  size_t size = 0;     // the whole frame; with a problem: up to where it was followed
  size_t content = 0;  // bytes after decompression
  size_t blocks = 0;
  std::string problem;  // why this cannot be a frame; empty: it may be one
  Shape& Refuse(std::string why) {
    problem = std::move(why);
    return *this;
  }
};

ZstdFrameReader::ZstdFrameReader(std::unique_ptr<ByteSource> source, Limits limits, IsOwnFn is_own)
    : window_(std::move(source)),
      limits_(limits),
      max_frame_(ZSTD_compressBound(limits.content) + (size_t{64} << 10)),
      is_own_(std::move(is_own)) {}

Result<std::optional<std::variant<ZstdFrame, BadRange>>> ZstdFrameReader::Next() {
  using Item = std::variant<ZstdFrame, BadRange>;
  window_.Drop(std::exchange(skip_, 0));
  RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(1));
  if (!more) return std::optional<Item>();

  RS_ASSIGN_OR_RETURN(Shape shape, Inspect(0));
  if (!shape.problem.empty()) {
    RS_ASSIGN_OR_RETURN(BadRange bad, Resynchronise(shape.magic, std::move(shape.problem)));
    return Item(std::move(bad));
  }
  BeginAhead(shape.size);
  std::string problem = "the size of a skippable frame is wrong";
  const std::optional<ZstdFrame> frame = Open(shape, &problem);
  bool take = frame && (!frame->skippable() || is_own_(*frame));
  if (!take) {
    // A data frame with a bad content, or a skippable frame that is not verified: where it ends
    // can be believed if another frame begins there.
    RS_ASSIGN_OR_RETURN(take, IsFollowedByFrame(shape.size));
  }
  if (!take) {
    RS_ASSIGN_OR_RETURN(BadRange bad, Resynchronise(shape.magic, std::move(problem)));
    return Item(std::move(bad));
  }
  skip_ = shape.size;
  if (frame && frame->skippable())
    return Item(*Open(shape, &problem));  // the window may have moved
  if (frame) return Item(*frame);
  return Item(BadRange{window_.offset(), shape.size, shape.magic, std::move(problem)});
}

Result<bool> ZstdFrameReader::Has(const Shape& shape, size_t size) {
  return window_.Fill(shape.at + size);
}

Bytes ZstdFrameReader::BytesOf(const Shape& shape, size_t at) const {
  return window_.bytes().subspan(shape.at + at);
}

Result<ZstdFrameReader::Shape> ZstdFrameReader::Inspect(size_t at) {
  Shape shape;
  shape.at = at;
  RS_ASSIGN_OR_RETURN(const bool whole, Has(shape, kMagicSize));
  if (!whole) return shape.Refuse(kTorn);
  shape.magic = LoadMagic(BytesOf(shape, 0));
  if (shape.magic == kZstdMagic) return InspectData(std::move(shape));
  if (IsSkippableMagic(shape.magic)) return InspectSkippable(std::move(shape));
  shape.magic = 0;
  return shape.Refuse("no frame begins here");
}

Result<ZstdFrameReader::Shape> ZstdFrameReader::InspectSkippable(Shape shape) {
  shape.size = kSkippableHeaderSize;
  RS_ASSIGN_OR_RETURN(const bool header, Has(shape, kSkippableHeaderSize));
  if (!header) return shape.Refuse(kTorn);
  shape.content = LoadMagic(BytesOf(shape, kMagicSize));
  if (shape.content > limits_.skippable) {
    return shape.Refuse(fmt::format("a skippable frame of {} bytes, at most {} are expected",
                                    shape.content, limits_.skippable));
  }
  RS_ASSIGN_OR_RETURN(const bool whole, Has(shape, shape.size + shape.content));
  if (!whole) return shape.Refuse(kTorn);
  shape.size += shape.content;
  return shape;
}

Result<ZstdFrameReader::Shape> ZstdFrameReader::InspectData(Shape shape) {
  shape.size = kMagicSize + 1;
  RS_ASSIGN_OR_RETURN(bool whole, Has(shape, shape.size));
  if (!whole) return shape.Refuse(kTorn);
  const uint8_t descriptor = BytesOf(shape, kMagicSize).front();
  const bool single_segment = (descriptor & kSingleSegmentBit) != 0;
  constexpr std::array<size_t, 4> kSizeBytes = {0, 2, 4, 8};
  const size_t size_bytes =
      descriptor >> 6 == 0 && single_segment ? 1 : kSizeBytes[descriptor >> 6];
  if ((descriptor & (kDictionaryBits | kUnusedBits)) != 0 || (descriptor & kChecksumBit) == 0 ||
      size_bytes == 0) {
    return shape.Refuse("the frame header is not one of a commit log (size and checksum known)");
  }
  if (!single_segment) ++shape.size;  // the window's size
  const size_t size_at = shape.size;
  shape.size += size_bytes;
  RS_ASSIGN_OR_RETURN(whole, Has(shape, shape.size));
  if (!whole) return shape.Refuse(kTorn);
  uint64_t content = size_bytes == 2 ? 256 : 0;
  for (size_t i = 0; i < size_bytes; ++i) {
    content += uint64_t{BytesOf(shape, size_at + i).front()} << (8 * i);
  }
  if (content > limits_.content) {
    return shape.Refuse(
        fmt::format("a frame of {} bytes after decompression, at most {} are allowed", content,
                    limits_.content));
  }
  shape.content = static_cast<size_t>(content);
  return WalkBlocks(std::move(shape));
}

Result<ZstdFrameReader::Shape> ZstdFrameReader::WalkBlocks(Shape shape) {
  enum BlockType : uint32_t { kRaw, kRle, kCompressed, kReserved };
  uint64_t plain = 0;  // content that raw and run-length blocks give
  for (bool last = false; !last;) {
    RS_ASSIGN_OR_RETURN(const bool whole, Has(shape, shape.size + kBlockHeaderSize));
    if (!whole) return shape.Refuse(kTorn);
    const Bytes header = BytesOf(shape, shape.size).first(kBlockHeaderSize);
    const uint32_t packed =
        uint32_t{header[0]} | uint32_t{header[1]} << 8 | uint32_t{header[2]} << 16;
    last = (packed & 1) != 0;
    const uint32_t type = packed >> 1 & 3;
    const size_t block = packed >> 3;
    if (type != kCompressed) plain += block;
    if (type == kReserved || block > kMaxBlockSize || plain > shape.content ||
        ++shape.blocks > MaxBlocks(shape.content)) {
      return shape.Refuse("the frame's blocks are damaged");
    }
    shape.size += kBlockHeaderSize + (type == kRle ? 1 : block);
    if (shape.size > max_frame_) return shape.Refuse("the frame's blocks exceed its content");
  }
  RS_ASSIGN_OR_RETURN(const bool whole, Has(shape, shape.size + kChecksumSize));
  if (!whole) return shape.Refuse(kTorn);
  shape.size += kChecksumSize;
  return shape;
}

void ZstdFrameReader::BeginAhead(size_t size) {
  size_t room = decompressor_.Room();
  const uint64_t next = window_.offset() + size;
  if (room == 0 || (is_stuck_ && next <= looked_to_)) return;
  is_stuck_ = false;
  looked_to_ = std::max(looked_to_, next);
  while (room > 0) {
    const auto shape = Inspect(static_cast<size_t>(looked_to_ - window_.offset()));
    // What is wrong there is found again, and said, when it comes to the window's front.
    is_stuck_ = !shape || !shape->problem.empty();
    if (is_stuck_) return;
    if (!IsSkippableMagic(shape->magic)) {
      const Bytes frame = BytesOf(*shape, 0).first(shape->size);
      if (!decompressor_.Begin(looked_to_, frame, shape->content)) return;
      --room;
    }
    looked_to_ += shape->size;
  }
}

std::optional<ZstdFrame> ZstdFrameReader::Open(const Shape& shape, std::string* problem) {
  ZstdFrame frame{window_.offset(), shape.magic, window_.bytes().first(shape.size), {}};
  if (frame.skippable()) {
    frame.content = frame.whole.subspan(kSkippableHeaderSize);
    return frame;
  }
  const std::optional<Bytes> content =
      decompressor_.Run(frame.offset, frame.whole, shape.content, problem);
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
    RS_ASSIGN_OR_RETURN(const Shape shape, Inspect(0));
    effort += shape.blocks * kEffortPerBlock;
    if (shape.problem.empty()) {
      std::string problem;
      const std::optional<ZstdFrame> frame = Open(shape, &problem);
      if (frame && is_own_(*frame)) break;
      effort += shape.content;
    }
    step = effort > kMaxSearchEffort ? std::max(shape.size, size_t{1}) : 1;
  }
  bad.bytes = window_.offset() - bad.offset;
  return bad;
}

}  // namespace ringscope
