#ifndef RINGSCOPE_CORE_ENGINE_PAYLOAD_STORE_H_
#define RINGSCOPE_CORE_ENGINE_PAYLOAD_STORE_H_

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/result.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/fragment.h"

namespace ringscope {

/// Asks the system to back memory with large pages, if it has any.
using LargePagesAdvice = void (*)(void* begin, size_t bytes);
/// Set once by the program, before the first buffer is made: nothing here asks the system. Absent:
/// pages are as the system gives them, which costs time alone.
inline LargePagesAdvice large_pages_advice = nullptr;

/// Fetches a payload that will be read soon. (Inlined: a call of a function that does nothing else
/// is removed.)
[[gnu::always_inline]] inline void PrefetchPayload(const uint8_t* payload, uint32_t size) {
  constexpr uint32_t kLine = 64;
  for (uint32_t at = 0; at < size; at += kLine) __builtin_prefetch(payload + at);
}

/// A buffer's bytes, in which each chunk has its payload after the space of its header.
class PayloadStore {
 public:
  /// All zeros; untouched pages cost nothing. Large ones are asked for in large pages: a chunk
  /// would else be in a page of its own most of the time. Fails (kLimit) if the memory cannot be
  /// had.
  static Result<PayloadStore> OfSize(uint64_t size) {
    constexpr uint64_t kLargePage = uint64_t{2} << 20;
    PayloadStore store(std::calloc(size, 1));
    uint8_t* const bytes = store.bytes_.get();
    if (bytes == nullptr)
      return Fail(ErrorCode::kLimit, fmt::format("no memory for a buffer of {} bytes", size));
    if (large_pages_advice != nullptr && size >= 4 * kLargePage) {
      const uint64_t before = (0 - reinterpret_cast<uintptr_t>(bytes)) % kLargePage;
      large_pages_advice(bytes + before, (size - before) / kLargePage * kLargePage);
    }
    return store;
  }
  /// A copy of the first `used` bytes; those that follow are undefined. Fails as OfSize.
  Result<PayloadStore> Clone(uint64_t used, uint64_t size) const {
    PayloadStore clone(std::malloc(size));
    if (clone.bytes_ == nullptr)
      return Fail(ErrorCode::kLimit, fmt::format("no memory for a clone of {} bytes", size));
    std::memcpy(clone.bytes_.get(), bytes_.get(), used);
    return clone;
  }

  /// The payload of the chunk at this offset of the buffer.
  uint8_t* At(uint64_t chunk) { return bytes_.get() + chunk + kStoredHeaderSize; }
  const uint8_t* At(uint64_t chunk) const { return bytes_.get() + chunk + kStoredHeaderSize; }
  Bytes Slice(uint64_t chunk, const Fragment& fragment) const {
    return {At(chunk) + fragment.body, fragment.size()};
  }
  void Write(uint64_t chunk, Bytes payload) {
    if (!payload.empty()) std::memcpy(At(chunk), payload.data(), payload.size());
  }
  /// Patches a payload of `size` bytes.
  /// @return false if a patch is out of bounds; those before it are applied
  bool Apply(uint64_t chunk, uint32_t size, std::span<const Patch> patches) {
    for (const Patch& patch : patches) {
      if (size < kPatchSize || patch.offset > size - kPatchSize) return false;
      std::memcpy(At(chunk) + patch.offset, patch.data, kPatchSize);
    }
    return true;
  }

 private:
  explicit PayloadStore(void* bytes) : bytes_(static_cast<uint8_t*>(bytes)) {}

  OwnedBytes bytes_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_PAYLOAD_STORE_H_
