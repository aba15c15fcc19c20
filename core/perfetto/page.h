#ifndef RINGSCOPE_CORE_PERFETTO_PAGE_H_
#define RINGSCOPE_CORE_PERFETTO_PAGE_H_

#include <cstdint>

namespace ringscope {

/// Bytes of a page: buffers that are sized here are whole numbers of them.
inline constexpr uint64_t kPageBytes = 4096;

constexpr uint64_t PagesDown(uint64_t bytes) { return bytes / kPageBytes * kPageBytes; }
/// @param bytes at most UINT64_MAX - kPageBytes
constexpr uint64_t PagesUp(uint64_t bytes) { return PagesDown(bytes + kPageBytes - 1); }

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PAGE_H_
