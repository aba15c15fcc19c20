#include "core/ledger/ledger_chains.h"

namespace ringscope::ledger {

ChainId Chains::New() {
  if (!free_.empty()) {
    const ChainId id = free_.back();
    free_.pop_back();
    chains_[id] = Chain{};
    return id;
  }
  chains_.emplace_back();
  return static_cast<ChainId>(chains_.size() - 1);
}

ChainId Chains::Find(ChainId id) {
  path_.clear();
  for (; chains_[id].merged_into != kNoChain; id = chains_[id].merged_into) path_.push_back(id);
  passed_ += path_.size();
  // The signposts on the way point to the end from now on, so that none is passed often. Each is
  // held by those that point to it: from the far end, as the last to point may free it.
  for (size_t i = path_.size(); i-- > 1;) {
    const ChainId passed = path_[i];
    chains_[path_[i - 1]].merged_into = id;
    ++chains_[id].refs;
    Release(passed);
  }
  return id;
}

void Chains::AwaitNext(ChunkName chunk, ChainId id) {
  id = Find(id);
  awaiting_next_[chunk] = id;
  chains_[id].awaits_next = chunk;
}

void Chains::AwaitPrevious(ChunkName chunk, ChainId id) { awaiting_previous_[chunk] = Find(id); }

ChainId Chains::Take(Waiting& waiting, ChunkName chunk) {
  if (waiting.empty()) return kNoChain;
  const auto found = waiting.find(chunk);
  if (found == waiting.end()) return kNoChain;
  const ChainId id = found->second;
  waiting.erase(found);
  return id;
}

void Chains::Free(ChainId id) {
  chains_[id] = Chain{};
  chains_[id].state = State::kGone;
  free_.push_back(id);
}

void Chains::Release(ChainId id) {
  // A chain that was merged stays as a signpost until its own records are gone.
  while (true) {
    Chain& chain = chains_[id];
    --chain.refs;
    const ChainId into = chain.merged_into;
    if (into == kNoChain || chain.refs > 0) return;
    Free(id);
    id = into;
  }
}

void Chains::Merge(ChainId earlier, ChainId later) {
  earlier = Find(earlier);
  later = Find(later);
  if (earlier == later) return;
  Chain& a = chains_[earlier];
  Chain& b = chains_[later];
  a.account.last_chunk = b.account.last_chunk;
  a.account.size += b.account.size;
  if (b.account.written.record > a.account.written.record) a.account.written = b.account.written;
  a.has_end = b.has_end;
  a.back_closed = b.back_closed;
  if (!b.back_closed) AwaitNext(b.awaits_next, earlier);
  a.abandoned_at_end |= b.abandoned_at_end;
  if (!a.violation) a.violation = b.violation;
  a.fragments += b.fragments;
  a.fragments_held += b.fragments_held;
  a.fragments_unpatched += b.fragments_unpatched;
  if (b.reported() && !a.reported()) a.state = b.state;
  // The first event after which it could not be delivered counts.
  const bool b_first =
      b.state == State::kLost &&
      (a.state == State::kLive ||
       (a.state == State::kLost && b.account.decided.record < a.account.decided.record));
  if (b_first) {
    a.state = State::kLost;
    a.account.fate = b.account.fate;
    a.account.cause = b.account.cause;
    a.account.own_fault = b.account.own_fault;
    a.account.decided = b.account.decided;
    a.account.loss_bits = b.account.loss_bits;
    a.account.culprit = b.account.culprit;
  }
  b.merged_into = earlier;
  b.state = State::kGone;
  if (b.refs > 0)
    ++a.refs;  // by the signpost
  else
    Free(later);
}

}  // namespace ringscope::ledger
