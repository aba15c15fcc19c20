#ifndef RINGSCOPE_CORE_TESTING_REPLAYS_IN_TURN_H_
#define RINGSCOPE_CORE_TESTING_REPLAYS_IN_TURN_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/sweep/sweep_input.h"

namespace ringscope {

/// Runs the replays of a sweep on the caller's thread.
class ReplaysInTurn : public ReplayRunner {
 public:
  explicit ReplaysInTurn(const std::vector<SweepReplay*>& replays) : replays_(replays) {}
  void Put(std::shared_ptr<const SweepBatch> batch) override {
    for (SweepReplay* replay : replays_) replay->Apply(*batch);
  }
  void Finish(const std::function<void(SweepReplay&)>& last) override {
    for (SweepReplay* replay : replays_) last(*replay);
  }

 private:
  const std::vector<SweepReplay*> replays_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TESTING_REPLAYS_IN_TURN_H_
