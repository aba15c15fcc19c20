#ifndef RINGSCOPE_FORMATS_TESTING_NO_THREADS_H_
#define RINGSCOPE_FORMATS_TESTING_NO_THREADS_H_

namespace ringscope::testing {

/// As long as it lives no thread can be started, as in a system that has no more of them. One at a
/// time.
class NoThreads {
 public:
  /// @param first threads that can be started before
  explicit NoThreads(unsigned first = 0);
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_NO_THREADS_H_
