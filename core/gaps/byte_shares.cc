#include "core/gaps/byte_shares.h"

#include <algorithm>
#include <utility>

namespace ringscope {
namespace {

bool IsLarger(const SequenceShare& a, const SequenceShare& b) {
  return a.bytes != b.bytes ? a.bytes > b.bytes : a.sequence < b.sequence;
}

}  // namespace

void BytesBySequence::Grow() {
  slots_.assign(std::max<size_t>(slots_.size() * 2, 16), kNone);
  for (size_t i = 0; i < shares_.size(); ++i)
    slots_[SlotOf(shares_[i].sequence)] = static_cast<uint32_t>(i);
}

void BytesBySequence::Erase(size_t hole) {
  const uint32_t erased = slots_[hole];
  const size_t mask = slots_.size() - 1;
  // What follows, up to the next free place, moves up as far as its own place allows.
  for (size_t next = Next(hole); slots_[next] != kNone; next = Next(next)) {
    const size_t home = HomeOf(shares_[slots_[next]].sequence);
    const bool stays = ((next - home) & mask) < ((next - hole) & mask);
    if (stays) continue;
    slots_[hole] = slots_[next];
    hole = next;
  }
  slots_[hole] = kNone;
  const uint32_t last = static_cast<uint32_t>(shares_.size() - 1);
  if (erased != last) {
    slots_[SlotOf(shares_[last].sequence)] = erased;
    shares_[erased] = shares_[last];
  }
  shares_.pop_back();
}

void ByteShares::AddOne(SequenceKey sequence, uint64_t bytes) {
  const auto at = std::find_if(shares_.begin(), shares_.end(), [&](const SequenceShare& share) {
    return share.sequence == sequence;
  });
  if (at != shares_.end())
    at->bytes += bytes;
  else
    shares_.push_back({sequence, bytes});
}

void ByteShares::Add(const BytesBySequence& bytes) {
  if (bytes.size() <= 2 * kMost) {
    for (const auto& [sequence, count] : bytes) AddOne(sequence, count);
    if (shares_.size() > 2 * kMost) Sort();
    return;
  }
  // Far more than are kept: the largest so far are in a heap, the least of them in front.
  const std::vector<SequenceShare> before = std::move(shares_);
  shares_.clear();
  const auto offer = [&](const SequenceShare& share) {
    if (shares_.size() == kMost && !IsLarger(share, shares_.front())) {
      other_bytes_ += share.bytes;
      return;
    }
    if (shares_.size() == kMost) {
      std::pop_heap(shares_.begin(), shares_.end(), IsLarger);
      other_bytes_ += shares_.back().bytes;
      shares_.pop_back();
    }
    shares_.push_back(share);
    std::push_heap(shares_.begin(), shares_.end(), IsLarger);
  };
  for (const auto& [sequence, count] : bytes) {
    const auto at = std::ranges::find(before, sequence, &SequenceShare::sequence);
    offer({sequence, count + (at == before.end() ? 0 : at->bytes)});
  }
  for (const SequenceShare& share : before)
    if (!bytes.contains(share.sequence)) offer(share);
}

void ByteShares::AddPart(const ByteShares& other, uint64_t part, uint64_t whole) {
  const auto scale = [&](uint64_t bytes) {
    if (part == whole) return bytes;
    return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(part) /
                                 static_cast<double>(whole));
  };
  for (const SequenceShare& share : other.shares_) AddOne(share.sequence, scale(share.bytes));
  other_bytes_ += scale(other.other_bytes_);
  if (shares_.size() > 2 * kMost) Sort();
}

void ByteShares::Sort() {
  std::sort(shares_.begin(), shares_.end(), IsLarger);
  for (size_t i = kMost; i < shares_.size(); ++i) other_bytes_ += shares_[i].bytes;
  if (shares_.size() > kMost) shares_.resize(kMost);
}

void ShareBlocks::Add(SequenceKey sequence, uint64_t bytes) {
  if (bytes > 0) current_[sequence] += bytes;
  if (++chunks_ % kBlock != 0) return;
  ByteShares block;
  block.Add(current_);
  current_.clear();
  // A full group of blocks makes one of the next level.
  for (size_t level = 0;; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    block.Sort();
    std::vector<ByteShares>& blocks = levels_[level];
    blocks.push_back(std::move(block));
    if (blocks.size() % kFanOut != 0) return;
    block = ByteShares();
    for (size_t i = blocks.size() - kFanOut; i < blocks.size(); ++i) block.Add(blocks[i]);
  }
}

ByteShares ShareBlocks::Between(uint64_t first, uint64_t end) const {
  ByteShares sum;
  if (levels_.empty()) return sum;
  uint64_t at = (first + kBlock / 2) / kBlock;
  const uint64_t last = std::min<uint64_t>((end + kBlock / 2) / kBlock, levels_[0].size());
  while (at < last) {
    size_t level = 0;
    uint64_t width = 1;
    while (level + 1 < levels_.size() && at % (width * kFanOut) == 0 &&
           at + width * kFanOut <= last)
      ++level, width *= kFanOut;
    sum.Add(levels_[level][at / width]);
    at += width;
  }
  return sum;
}

}  // namespace ringscope
