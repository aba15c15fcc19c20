#include "formats/log/frames_ahead.h"

#include <utility>

#include "formats/io/made_ahead.h"

namespace ringscope {

FramesAhead::FramesAhead(std::unique_ptr<ZstdFrameReader> reader, bool keep_whole)
    : reader_(std::move(reader)), keep_whole_(keep_whole) {
  if (PaysToReadAhead(reader_->source().size()))
    ahead_.emplace(kAheadBytes, [this](Frame& frame) { return Read(frame); });
}

Result<std::optional<FramesAhead::Item>> FramesAhead::Next() {
  if (!ahead_) return reader_->Next();
  const Frame& frame = ahead_->Next();
  position_ = frame.position;
  return frame.item;
}

FramesAhead::Ahead::Made FramesAhead::Read(Frame& into) {
  into.item = reader_->Next();
  into.position = reader_->position();
  if (!into.item || !*into.item) return {.size = 0, .last = true};
  auto* frame = std::get_if<ZstdFrame>(&**into.item);
  if (frame == nullptr) return {.size = 0};
  // The reader's window moves on: what is in it is copied, what was decompressed is swapped.
  const bool skippable = frame->skippable();
  into.whole.clear();
  if (skippable || keep_whole_) into.whole.assign(frame->whole.begin(), frame->whole.end());
  frame->whole = into.whole;
  if (skippable)
    frame->content = frame->whole.last(frame->content.size());
  else
    reader_->SwapContent(into.content);
  return {.size = frame->content.size() + into.whole.size()};
}

}  // namespace ringscope
