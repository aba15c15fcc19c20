#ifndef RINGSCOPE_COMMANDS_RECORD_TURNS_H_
#define RINGSCOPE_COMMANDS_RECORD_TURNS_H_

#include <deque>

namespace ringscope {

/// Gives the turn to one of several takers at a time. Who has it keeps it until another asks.
class Turns {
 public:
  class Taker {
   public:
    virtual ~Taker() = default;
    /// It has the turn that it asked for. Called from within other takers' calls.
    virtual void OnTurn() = 0;
    /// It has the turn, and another asks for it: it is to leave as soon as it can.
    virtual void OnWanted() = 0;
    /// Whether it may have the turn now. See Reconsider.
    virtual bool MayHaveTurn() const = 0;
  };

  /// @return whether it is the taker's turn; if not, OnTurn will be called.
  bool Take(Taker& taker);
  /// As Take, before all others that wait.
  bool TakeNext(Taker& taker);
  /// Ends the taker's turn, or its waiting for one.
  void Leave(Taker& taker);
  /// Some taker may have the turn now that could not before.
  void Reconsider() { GiveTurn(); }
  /// The holder's turn is to end, if it must.
  void AskHolder() {
    if (holder_ != nullptr) holder_->OnWanted();
  }

  bool IsHeldBy(const Taker& taker) const { return holder_ == &taker; }
  /// Whether a taker waits that may have the turn.
  bool IsWanted() const;

 private:
  bool Ask(Taker& taker, bool next);
  void GiveTurn();

  Taker* holder_ = nullptr;
  std::deque<Taker*> waiting_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_TURNS_H_
