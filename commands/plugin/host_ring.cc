#include "commands/plugin/host_ring.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>

namespace ringscope {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

/// Sleeps while the word has this value, until it is woken, or at most for a time.
void SleepWhile(std::atomic<uint32_t>& word, uint32_t value, std::chrono::nanoseconds time) {
  constexpr int64_t kSecond = 1'000'000'000;
  const timespec limit = {.tv_sec = time.count() / kSecond, .tv_nsec = time.count() % kSecond};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, time.count() > 0 ? &limit : nullptr, nullptr, 0);
}

void WakeSleeper(std::atomic<uint32_t>& word, std::atomic<uint32_t>& sleeps) {
  if (sleeps.load() == 0) return;
  sleeps.store(0);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Sleeps until the other side changes `word`, of which `seen` is known.
void SleepForChange(std::atomic<uint32_t>& word, uint32_t seen, std::atomic<uint32_t>& sleeps,
                    std::chrono::nanoseconds time) {
  sleeps.store(1);
  if (word.load() == seen) SleepWhile(word, seen, time);
  sleeps.store(0);
}

}  // namespace

void RingWriter::Put(Bytes part) {
  const uint32_t at = written_ & (size_ - 1);
  const auto count = static_cast<uint32_t>(part.size());
  const uint32_t first = std::min(count, size_ - at);
  if (first > 0) std::memcpy(bytes_ + at, part.data(), first);
  if (count > first) std::memcpy(bytes_, part.data() + first, count - first);
  written_ += count;
}

void RingWriter::Publish() {
  published_ = written_;
  head_.written.store(written_);
  WakeSleeper(head_.written, head_.reader_waits);
}

void RingWriter::WaitForSpace(std::chrono::nanoseconds time) {
  SleepForChange(head_.taken, written_ - size_, head_.writer_waits, time);
}

void RingReader::Take(uint8_t* to, uint32_t count) {
  const uint32_t at = taken_ & (size_ - 1);
  const uint32_t first = std::min(count, size_ - at);
  if (first > 0) std::memcpy(to, bytes_ + at, first);
  if (count > first) std::memcpy(to + first, bytes_, count - first);
  taken_ += count;
}

void RingReader::Release() {
  head_.taken.store(taken_);
  WakeSleeper(head_.taken, head_.writer_waits);
}

void RingReader::WaitForBytes(std::chrono::nanoseconds time) {
  SleepForChange(head_.written, taken_, head_.reader_waits, time);
}

}  // namespace ringscope
