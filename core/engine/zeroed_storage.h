#ifndef RINGSCOPE_CORE_ENGINE_ZEROED_STORAGE_H_
#define RINGSCOPE_CORE_ENGINE_ZEROED_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ringscope {

struct FreeDeleter {
  void operator()(uint8_t* p) const { std::free(p); }
};
/// A buffer's bytes.
using ZeroedStorage = std::unique_ptr<uint8_t[], FreeDeleter>;

/// Asks the system to back memory with large pages, if it has any.
using LargePagesAdvice = void (*)(void* begin, size_t bytes);
/// Set once by the program, before the first buffer is made: nothing here asks the system. Absent:
/// pages are as the system gives them, which costs time alone.
inline LargePagesAdvice large_pages_advice = nullptr;

/// All zeros, and untouched pages cost nothing; null if the memory cannot be had. Large ones are
/// asked for in large pages: a chunk would else be in a page of its own most of the time.
inline ZeroedStorage AllocateZeroed(uint64_t size) {
  constexpr uint64_t kLargePage = uint64_t{2} << 20;
  auto* bytes = static_cast<uint8_t*>(std::calloc(size, 1));
  if (bytes != nullptr && large_pages_advice != nullptr && size >= 4 * kLargePage) {
    const auto address = reinterpret_cast<uintptr_t>(bytes);
    const uint64_t before = (kLargePage - address % kLargePage) % kLargePage;
    const uint64_t length = (size - before) / kLargePage * kLargePage;
    large_pages_advice(bytes + before, length);
  }
  return ZeroedStorage(bytes);
}

/// Fetches a payload that will be read soon. (Inlined: a call of a function that does nothing else
/// is removed.)
[[gnu::always_inline]] inline void PrefetchPayload(const uint8_t* payload, uint32_t size) {
  constexpr uint32_t kLine = 64;
  for (uint32_t at = 0; at < size; at += kLine) __builtin_prefetch(payload + at);
}

/// Allocates a copy of the first `used` bytes of a buffer; what follows them is undefined.
inline ZeroedStorage AllocateCopy(const uint8_t* bytes, uint64_t used, uint64_t size) {
  ZeroedStorage copy(static_cast<uint8_t*>(std::malloc(size)));
  if (copy != nullptr) std::memcpy(copy.get(), bytes, used);
  return copy;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_ZEROED_STORAGE_H_
