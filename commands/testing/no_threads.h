#ifndef RINGSCOPE_COMMANDS_TESTING_NO_THREADS_H_
#define RINGSCOPE_COMMANDS_TESTING_NO_THREADS_H_

#include <pthread.h>

namespace ringscope::testing {

/// As long as it lives no thread can be started, as in a system that has no more of them: each
/// would get a stack that fits into no address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_NO_THREADS_H_
