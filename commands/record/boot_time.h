#ifndef RINGSCOPE_COMMANDS_RECORD_BOOT_TIME_H_
#define RINGSCOPE_COMMANDS_RECORD_BOOT_TIME_H_

#include <time.h>

#include <cstdint>

namespace ringscope {

/// CLOCK_BOOTTIME, the clock of a recording's times, in ns.
inline uint64_t BootTimeNs() {
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_BOOT_TIME_H_
