#ifndef RINGSCOPE_CORE_TESTING_STREAM_SETS_H_
#define RINGSCOPE_CORE_TESTING_STREAM_SETS_H_

#include <cstdint>

namespace ringscope::testing {

/// The streams of the seeds from 0 on.
struct StreamSet {
  uint32_t streams = 0;
  int steps = 0;  // of each
};
/// What the tests of all engines together, and of each with an observer, go through.
inline constexpr StreamSet kAgreementStreams{.streams = 300, .steps = 200};
inline constexpr StreamSet kObserverStreams{.streams = 60, .steps = 400};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_STREAM_SETS_H_
