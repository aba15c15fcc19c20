#include "commands/record/turns.h"

#include <algorithm>

namespace ringscope {

bool Turns::Take(Taker& taker) { return Ask(taker, /*next=*/false); }

bool Turns::TakeNext(Taker& taker) { return Ask(taker, /*next=*/true); }

bool Turns::Ask(Taker& taker, bool next) {
  if (holder_ == &taker) return true;
  if (holder_ == nullptr && taker.MayHaveTurn()) {
    std::erase(waiting_, &taker);
    holder_ = &taker;
    return true;
  }
  const auto waits = std::find(waiting_.begin(), waiting_.end(), &taker);
  if (waits != waiting_.end() && !next) return false;
  if (waits != waiting_.end()) waiting_.erase(waits);
  waiting_.insert(next ? waiting_.begin() : waiting_.end(), &taker);
  if (holder_ != nullptr && taker.MayHaveTurn()) holder_->OnWanted();
  return false;
}

void Turns::Leave(Taker& taker) {
  std::erase(waiting_, &taker);
  if (holder_ != &taker) return;
  holder_ = nullptr;
  GiveTurn();
}

bool Turns::IsWanted() const {
  return std::ranges::any_of(waiting_, [](const Taker* taker) { return taker->MayHaveTurn(); });
}

void Turns::GiveTurn() {
  if (holder_ != nullptr) {
    if (IsWanted()) holder_->OnWanted();
    return;
  }
  const auto next =
      std::ranges::find_if(waiting_, [](const Taker* taker) { return taker->MayHaveTurn(); });
  if (next == waiting_.end()) return;
  holder_ = *next;
  waiting_.erase(next);
  holder_->OnTurn();
}

}  // namespace ringscope
