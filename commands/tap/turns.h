#ifndef RINGSCOPE_COMMANDS_TAP_TURNS_H_
#define RINGSCOPE_COMMANDS_TAP_TURNS_H_

#include <deque>

namespace ringscope::record {

/// Gives a turn to one of several takers at a time, in the order in which they ask.
class Turns {
 public:
  class Taker {
   public:
    virtual ~Taker() = default;
    /// It has the turn that it asked for.
    virtual void OnTurn() = 0;
  };

  /// @return whether it is the taker's turn; if not, OnTurn will be called.
  bool Take(Taker& taker);
  /// Ends the taker's turn, or its waiting for one.
  void Leave(Taker& taker);
  bool IsHeldBy(const Taker& taker) const { return holder_ == &taker; }

 private:
  Taker* holder_ = nullptr;
  std::deque<Taker*> waiting_;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_TURNS_H_
