#include "core/gaps/buffer_history.h"

#include <algorithm>

namespace ringscope {

void BufferHistory::AddCommit(uint64_t record, ChunkName chunk, uint32_t outer) {
  ++held_;
  most_held_ = std::max(most_held_, held_);
  Add(record, chunk, outer, true);
}

void BufferHistory::AddDiscard(uint64_t record, ChunkName chunk, uint32_t outer) {
  const Entry* before = Find(chunk);
  if (before != nullptr && before->outer >= outer) return;
  Add(record, chunk, outer, false);
}

void BufferHistory::Add(uint64_t record, ChunkName chunk, uint32_t outer, bool written) {
  found_ = nullptr;
  end_of_.reset();
  numbers_.Add(chunk).first = end_number();
  entries_.push_back({end_number(), record, bytes_, chunk, outer, written});
  blocks_.Add(chunk.sequence, written ? outer : 0);
  bytes_ += outer;
  largest_ = std::max(largest_, outer);
  Trim();
}

void BufferHistory::Trim() {
  // A chunk that just left the ledger was written while at most as many others were held, and since
  // it left, kLateness more have.
  const size_t limit = kLateness + 2 * most_held_ + 64;
  if (entries_.size() <= limit) return;
  const Entry& oldest = entries_.front();
  const uint64_t* newest = numbers_.Find(oldest.chunk);
  if (newest != nullptr && *newest == first_number_) numbers_.Erase(oldest.chunk);
  if (window_first_ <= first_number_ && first_number_ < window_end_) {
    Count(first_number_, first_number_ + 1, false, window_);
    window_first_ = first_number_ + 1;
  }
  entries_.pop_front();
  ++first_number_;
  const uint64_t earliest = entries_.front().record;
  while (reads_.size() > 1 && reads_.front().record < earliest) reads_.pop_front();
}

void BufferHistory::AddRead(uint64_t record) {
  // Of reads with nothing in between, the last record is the one that later questions ask for.
  if (!reads_.empty() && reads_.back().bytes == bytes_) {
    reads_.back().record = record;
    return;
  }
  reads_.push_back({.record = record, .bytes = bytes_});
}

auto BufferHistory::Find(ChunkName chunk) const -> const Entry* {
  if (found_ != nullptr && found_chunk_ == chunk) return found_;
  const uint64_t* number = numbers_.Find(chunk);
  if (number == nullptr) return nullptr;
  found_chunk_ = chunk;
  return found_ = &entries_[*number - first_number_];
}

uint64_t BufferHistory::EndOfRecord(uint64_t record) const {
  if (end_of_ == record) return end_;
  const auto at =
      std::upper_bound(entries_.begin(), entries_.end(), record,
                       [](uint64_t value, const Entry& entry) { return value < entry.record; });
  end_of_ = record;
  return end_ = first_number_ + static_cast<uint64_t>(at - entries_.begin());
}

std::optional<uint64_t> BufferHistory::BytesAtReadFrom(uint64_t record) const {
  const auto at =
      std::lower_bound(reads_.begin(), reads_.end(), record,
                       [](const ReadEntry& read, uint64_t value) { return read.record < value; });
  if (at == reads_.end()) return std::nullopt;
  return at->bytes;
}

void BufferHistory::Count(uint64_t first, uint64_t end, bool add, BytesBySequence& bytes) const {
  for (uint64_t i = std::max(first, first_number_); i < std::min(end, end_number()); ++i) {
    const Entry& entry = entries_[i - first_number_];
    if (!entry.written) continue;
    const SequenceKey sequence = entry.chunk.sequence;
    if (add)
      bytes[sequence] += entry.outer;
    else
      bytes.Subtract(sequence, entry.outer);
  }
}

const BytesBySequence& BufferHistory::BytesBetween(uint64_t first, uint64_t end) {
  first = std::clamp(first, first_number_, end_number());
  end = std::clamp(end, first, end_number());
  constexpr uint64_t kSmall = 64;
  if (end - first <= kSmall) {
    small_window_.clear();
    Count(first, end, true, small_window_);
    return small_window_;
  }
  const bool overlaps = first < window_end_ && window_first_ < end;
  if (!overlaps) {
    window_.clear();
    window_first_ = window_end_ = first;
  }
  if (first < window_first_)
    Count(first, window_first_, true, window_);
  else
    Count(window_first_, first, false, window_);
  window_first_ = first;
  if (end > window_end_)
    Count(window_end_, end, true, window_);
  else
    Count(end, window_end_, false, window_);
  window_end_ = end;
  return window_;
}

}  // namespace ringscope
