#include "formats/log/frames_ahead.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "formats/io/read_ahead.h"

namespace ringscope {
FramesAhead::FramesAhead(std::unique_ptr<ZstdFrameReader> reader, bool keep_whole)
    : reader_(std::move(reader)), keep_whole_(keep_whole) {
  if (PaysToReadAhead(reader_->source().size())) Start();
}

void FramesAhead::Start() {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // The system has no thread for this: frames are read when they are asked for.
  }
}

FramesAhead::~FramesAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<std::optional<FramesAhead::Item>> FramesAhead::Next() {
  if (!thread_.joinable()) return reader_->Next();
  if (current_ && current_->last) return current_->item;
  std::unique_lock lock(mutex_);
  if (current_) {
    held_bytes_ -= current_->bytes;
    // A large frame's memory is not kept: the next one may be allocated already.
    if (current_->bytes >= kAheadBytes) {
      current_.reset();
    } else {
      spare_.push_back(std::move(current_));
    }
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return !ready_.empty(); });
  current_ = std::move(ready_.front());
  ready_.pop_front();
  return current_->item;
}

uint64_t FramesAhead::position() const {
  if (!thread_.joinable()) return reader_->position();
  return current_ ? current_->position : 0;
}

void FramesAhead::Run() {
  for (bool last = false; !last;) {
    std::unique_ptr<Slot> slot;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || held_bytes_ < kAheadBytes; });
      if (stop_) return;
      if (!spare_.empty()) {
        slot = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (!slot) slot = std::make_unique<Slot>();
    Read(*slot);
    last = slot->last;
    {
      const std::lock_guard lock(mutex_);
      held_bytes_ += slot->bytes;
      ready_.push_back(std::move(slot));
    }
    changed_.notify_all();
  }
}

void FramesAhead::Read(Slot& slot) {
  slot.item = reader_->Next();
  slot.position = reader_->position();
  slot.bytes = 0;
  slot.last = !slot.item || !*slot.item;
  if (slot.last) return;
  auto* frame = std::get_if<ZstdFrame>(&**slot.item);
  if (frame == nullptr) return;
  // The reader's window moves on: what is in it is copied, what was decompressed is swapped.
  const bool skippable = frame->skippable();
  slot.whole.clear();
  if (skippable || keep_whole_) slot.whole.assign(frame->whole.begin(), frame->whole.end());
  frame->whole = slot.whole;
  if (skippable) {
    frame->content = frame->whole.last(frame->content.size());
  } else {
    reader_->SwapContent(slot.content);
  }
  slot.bytes = frame->content.size() + slot.whole.size();
}

}  // namespace ringscope
