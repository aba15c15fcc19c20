#include "commands/tap/turns.h"

#include <algorithm>

namespace ringscope::record {

bool Turns::Take(Taker& taker) {
  if (holder_ == nullptr) holder_ = &taker;
  if (holder_ == &taker) return true;
  if (std::find(waiting_.begin(), waiting_.end(), &taker) == waiting_.end())
    waiting_.push_back(&taker);
  return false;
}

void Turns::Leave(Taker& taker) {
  std::erase(waiting_, &taker);
  if (holder_ != &taker) return;
  holder_ = nullptr;
  if (waiting_.empty()) return;
  holder_ = waiting_.front();
  waiting_.pop_front();
  holder_->OnTurn();
}

}  // namespace ringscope::record
