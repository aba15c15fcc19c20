// The program that has NoThreads gets a pthread_create of its own, in front of the system's.

#include "formats/testing/no_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace ringscope::testing {
namespace {

/// Threads that can be started.
std::atomic<int64_t> threads_left = INT64_MAX;

}  // namespace

NoThreads::NoThreads(unsigned first) { threads_left = first; }
NoThreads::~NoThreads() { threads_left = INT64_MAX; }

/// Whether one more thread can be started.
bool TakeThread() { return threads_left.fetch_sub(1) > 0; }

}  // namespace ringscope::testing

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  static const auto system_create =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (!ringscope::testing::TakeThread()) return EAGAIN;
  return system_create(thread, attributes, start, argument);
}
