#include "core/gaps/buffer_history.h"

#include <algorithm>

namespace ringscope {

void BufferHistory::AddCommit(uint64_t record, ChunkName chunk, uint32_t outer) {
  most_held_ = std::max(most_held_, ++held_);
  Add(record, chunk, outer);
}

void BufferHistory::AddDiscard(uint64_t record, ChunkName chunk, uint32_t outer) {
  const Entry* before = Find(chunk);
  if (before == nullptr || before->outer < outer) Add(record, chunk, outer);
}

void BufferHistory::Add(uint64_t record, ChunkName chunk, uint32_t outer) {
  found_ = nullptr;
  numbers_.Add(chunk).first = first_number_ + entries_.size();
  entries_.push_back({record, bytes_, chunk, outer});
  bytes_ += outer;
  largest_ = std::max(largest_, outer);
  // A chunk that just left the ledger was written while at most as many others were held, and since
  // it left, kLateness more have.
  if (entries_.size() <= kLateness + 2 * most_held_ + 64) return;
  const ChunkName oldest = entries_.front().chunk;
  const uint64_t* newest = numbers_.Find(oldest);
  if (newest != nullptr && *newest == first_number_) numbers_.Erase(oldest);
  entries_.pop_front();
  ++first_number_;
  while (reads_.size() > 1 && reads_.front().record < entries_.front().record) reads_.pop_front();
}

void BufferHistory::AddRead(uint64_t record) {
  // Of reads with nothing in between, the last record is the one that later questions ask for.
  if (!reads_.empty() && reads_.back().bytes == bytes_)
    reads_.back().record = record;
  else
    reads_.push_back({.record = record, .bytes = bytes_});
}

auto BufferHistory::Find(ChunkName chunk) const -> const Entry* {
  if (found_ != nullptr && found_chunk_ == chunk) return found_;
  const uint64_t* number = numbers_.Find(chunk);
  if (number == nullptr) return nullptr;
  found_chunk_ = chunk;
  return found_ = &entries_[*number - first_number_];
}

std::optional<uint64_t> BufferHistory::BytesAtReadFrom(uint64_t record) const {
  const auto at = std::ranges::lower_bound(reads_, record, {}, &ReadEntry::record);
  if (at == reads_.end()) return std::nullopt;
  return at->bytes;
}

}  // namespace ringscope
