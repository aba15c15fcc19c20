#ifndef RINGSCOPE_CORE_ENGINE_ZEROED_STORAGE_H_
#define RINGSCOPE_CORE_ENGINE_ZEROED_STORAGE_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace ringscope {

struct FreeDeleter {
  void operator()(uint8_t* p) const { std::free(p); }
};
/// A buffer's bytes.
using ZeroedStorage = std::unique_ptr<uint8_t[], FreeDeleter>;

/// All zeros, and untouched pages cost nothing; null if the memory cannot be had.
inline ZeroedStorage AllocateZeroed(uint64_t size) {
  return ZeroedStorage(static_cast<uint8_t*>(std::calloc(size, 1)));
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_ZEROED_STORAGE_H_
