#ifndef RINGSCOPE_COMMANDS_PLUGIN_HOST_RING_H_
#define RINGSCOPE_COMMANDS_PLUGIN_HOST_RING_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/perfetto/packet.h"

namespace ringscope {

/// One direction of the memory that ringscope shares with a plug-in's process: a stream of bytes
/// through a ring. Counts of bytes wrap around.
struct RingHead {
  alignas(64) std::atomic<uint32_t> written{0};
  std::atomic<uint32_t> reader_waits{0};
  alignas(64) std::atomic<uint32_t> taken{0};
  std::atomic<uint32_t> writer_waits{0};
};

inline constexpr uint32_t kCallRingBytes = uint32_t{1} << 20;
inline constexpr uint32_t kAnswerRingBytes = uint32_t{1} << 18;

/// The shared memory. Either side may find anything in what the other writes.
struct HostMemory {
  // What the plug-in's process does now.
  alignas(64) std::atomic<uint32_t> call{0};  // a HostCall; 0: it waits for one
  std::atomic<uint64_t> record{0};            // as in CallHead
  RingHead calls, answers;
  alignas(64) std::array<uint8_t, kCallRingBytes> call_bytes;
  std::array<uint8_t, kAnswerRingBytes> answer_bytes;
};

/// Tells the processor that this is a loop that waits.
inline void SpinPause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How long to look for something before sleeping: as long as that has been of use. Where other
/// programs keep all cores busy, looking only takes time from the one that is waited for.
class SpinLimit {
 public:
  explicit SpinLimit(int most) : most_(most), limit_(most) {}

  /// To be asked before each wait.
  int Next() { return ++waits_ % kTriedInFullEvery == 0 ? most_ : limit_; }
  void Succeeded() { limit_ = limit_ < most_ / 2 ? limit_ * 2 : most_; }
  void Failed() { limit_ = limit_ > 2 * kFewest ? limit_ / 2 : kFewest; }

 private:
  static constexpr int kFewest = 2;
  static constexpr uint32_t kTriedInFullEvery = 32;

  const int most_;
  int limit_;
  uint32_t waits_ = 0;
};

/// The end that writes. What is put is seen by the reader after Publish.
class RingWriter {
 public:
  RingWriter(RingHead& head, uint8_t* bytes, uint32_t size)
      : head_(head), bytes_(bytes), size_(size) {}

  /// Bytes that can be put; nullopt: what the reader wrote is impossible.
  std::optional<uint32_t> Space() const {
    const uint32_t used = written_ - head_.taken.load(std::memory_order_acquire);
    if (used > size_) return std::nullopt;
    return size_ - used;
  }
  /// @param part at most Space() bytes
  void Put(Bytes part);
  void Publish();
  uint32_t unpublished() const { return written_ - published_; }
  /// Sleeps until there may be more space. @param time at most; zero: without limit
  void WaitForSpace(std::chrono::nanoseconds time);

 private:
  RingHead& head_;
  uint8_t* const bytes_;
  const uint32_t size_;  // a power of two
  uint32_t written_ = 0;
  uint32_t published_ = 0;
};

/// The end that reads. Space is free for the writer after Release.
class RingReader {
 public:
  RingReader(RingHead& head, const uint8_t* bytes, uint32_t size)
      : head_(head), bytes_(bytes), size_(size) {}

  /// Bytes that can be taken; nullopt: what the writer wrote is impossible.
  std::optional<uint32_t> Available() const {
    const uint32_t count = head_.written.load(std::memory_order_acquire) - taken_;
    if (count > size_) return std::nullopt;
    return count;
  }
  /// @param count at most Available()
  void Take(uint8_t* to, uint32_t count);
  void Release();
  /// Sleeps until there may be more than Available() returned last, which was 0.
  void WaitForBytes(std::chrono::nanoseconds time);

 private:
  RingHead& head_;
  const uint8_t* const bytes_;
  const uint32_t size_;
  uint32_t taken_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_HOST_RING_H_
