#ifndef RINGSCOPE_CORE_COMPARE_RECORDED_CALLS_H_
#define RINGSCOPE_CORE_COMPARE_RECORDED_CALLS_H_

#include <deque>
#include <memory>

#include "core/compare/plain_stream.h"
#include "core/session/session.h"

namespace ringscope {

/// Records what the engines of a session get to do: each buffer's operations without the session
/// around them, as the service's rules let them through.
class RecordedCalls {
 public:
  struct Recorded {
    BufferId buffer{};
    PlainStream stream;
  };

  /// @param most bytes of payloads that are kept, of all buffers; what follows is left out
  explicit RecordedCalls(uint64_t most) : state_(std::make_shared<State>()) { state_->left = most; }

  /// For Session::Options: engines that record what they are made to do.
  EngineMaker Maker() const;
  /// A stream for each engine that was made, in that order. Complete once the session is gone.
  const std::deque<Recorded>& streams() const { return state_->streams; }
  /// Whether anything was left out.
  bool is_cut() const { return state_->is_cut; }

 private:
  struct State {
    std::deque<Recorded> streams;  // addresses stay
    uint64_t left = 0;             // bytes
    bool is_cut = false;
  };
  class RecordingEngine;

  std::shared_ptr<State> state_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_RECORDED_CALLS_H_
