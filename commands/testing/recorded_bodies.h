#ifndef RINGSCOPE_COMMANDS_TESTING_RECORDED_BODIES_H_
#define RINGSCOPE_COMMANDS_TESTING_RECORDED_BODIES_H_

#include <utility>
#include <vector>

#include "core/log/op.h"

namespace ringscope::testing {

/// The records of a test that has one thread, without their times.
struct RecordedBodies : public RecordSink {
  void Append(OpBody body) override { bodies.push_back(std::move(body)); }

  std::vector<OpBody> bodies;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_RECORDED_BODIES_H_
