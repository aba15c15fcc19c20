#ifndef RINGSCOPE_CORE_TESTING_LANES_IN_TURN_H_
#define RINGSCOPE_CORE_TESTING_LANES_IN_TURN_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/sweep/sweep_input.h"

namespace ringscope {

/// Runs the lanes of a sweep on the caller's thread.
class LanesInTurn : public LaneRunner {
 public:
  explicit LanesInTurn(const std::vector<SweepLane*>& lanes) : lanes_(lanes) {}
  void Put(std::shared_ptr<const SweepBatch> batch) override {
    for (SweepLane* lane : lanes_) lane->Apply(*batch);
  }
  void Finish(const std::function<void(SweepLane&)>& last) override {
    for (SweepLane* lane : lanes_) last(*lane);
  }

 private:
  const std::vector<SweepLane*> lanes_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TESTING_LANES_IN_TURN_H_
