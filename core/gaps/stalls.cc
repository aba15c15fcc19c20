#include "core/gaps/stalls.h"

#include <algorithm>

#include "core/perfetto/chunk.h"

namespace ringscope {
namespace {

constexpr size_t kMaxLossy = 256;
/// Stalls that the fates of packets may still be reported for.
constexpr std::ptrdiff_t kRecent = 4;

/// Returns the last stall at this chunk, or the end.
template <typename Stalls>
auto FindLast(Stalls& stalls, ChunkName chunk) {
  return std::find_if(stalls.rbegin(), stalls.rend(),
                      [&](const Stall& stall) { return stall.chunk == chunk; });
}

}  // namespace

void SequenceStalls::OnEvent(const BufferEvent& event) {
  const bool is_open = open_ && open_->chunk == event.chunk;
  if (const auto* stalled = event.As<BufferEvent::Stalled>()) {
    if (open_ && !is_open) End(StallEnd::kCompleted, event.at);
    if (!open_) {
      open_ = Stall{.chunk = event.chunk, .reason = stalled->reason};
      last_pass_.reset();
    }
    if (last_pass_ == event.at.record) return;
    last_pass_ = event.at.record;
    ++open_->passes;
  } else if (const auto* patched = event.As<BufferEvent::Patched>()) {
    if (is_open && !patched->state.needs_patch()) End(StallEnd::kPatched, event.at);
  } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
    const bool is_read = erased->is_read();
    if (!open_ && !is_read && erased->state.needs_patch())
      open_ = Stall{.chunk = event.chunk, .reason = StallReason::kNeedsPatch};
    else if (!is_open)
      return;
    End(is_read                  ? StallEnd::kCompleted
        : erased->is_for_clone() ? StallEnd::kCloned
                                 : StallEnd::kOverwritten,
        event.at);
  } else if (const ObservedChunk* state = event.arrived()) {
    if (!open_ || open_->reason == StallReason::kNeedsPatch) return;
    if (open_->reason == StallReason::kMissingChunk
            ? event.chunk.chunk == Successor(open_->chunk.chunk)
            : is_open && !state->incomplete)
      End(StallEnd::kCompleted, event.at);
  }
}

void SequenceStalls::End(StallEnd end, const LogMoment& at) {
  open_->end = end;
  open_->ended = at;
  const bool is_lossy = end != StallEnd::kPatched && end != StallEnd::kCompleted;
  if (is_lossy && lossy_.size() < kMaxLossy) lossy_.push_back(*open_);
  open_.reset();
}

/// Counts the packet if it was written from a stalled chunk on, before the stall ended.
void SequenceStalls::OnPacketFate(const PacketAccount& account) {
  for (auto stall = lossy_.rbegin(); stall != lossy_.rend() && stall - lossy_.rbegin() < kRecent;
       ++stall)
    if (!Precedes(IdOf(account.last_chunk), stall->chunk.chunk) &&
        account.written.record <= stall->ended.record) {
      ++stall->packets;
      return;
    }
}

const Stall* SequenceStalls::FindLossy(ChunkName chunk) const {
  const auto found = FindLast(lossy_, chunk);
  return found == lossy_.rend() ? nullptr : &*found;
}

void SequenceStalls::OnLatePatch(ChunkName chunk, const LogMoment& at, uint64_t held_size) {
  const auto stall = FindLast(lossy_, chunk);
  if (stall == lossy_.rend() || stall->patched) return;
  stall->patched = at;
  stall->held_size = held_size;
}

}  // namespace ringscope
