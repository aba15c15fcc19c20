#include "core/payload/payload_free_stream.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {

void PayloadFreeStream::Take(const Op& op) {
  auto held = std::make_unique<Held>(Held{.op = op, .request = {}, .waiting = {}});
  if (auto* const commit = std::get_if<Commit>(&held->op.body)) {
    held->request = wire::AsText(commit->request);
    commit->request = wire::AsBytes(held->request);
    held->waiting = remover_.ReadAhead(*commit);
    bytes_ += held->request.size();
  }
  held_.push_back(std::move(held));
}

bool PayloadFreeStream::Waits(const Held& held, std::optional<uint64_t> now_ns) const {
  if (is_finished_ || bytes_ > kMostBytes) return false;
  if (now_ns && held.op.time_ns && *now_ns > *held.op.time_ns + kMostWaitNs) return false;
  return !std::ranges::all_of(
      held.waiting, [&](const ChunkName& chunk) { return remover_.patches_ahead().HasAll(chunk); });
}

const Op* PayloadFreeStream::Next(std::optional<uint64_t> now_ns) {
  if (held_.empty() || Waits(*held_.front(), now_ns)) return nullptr;
  const std::unique_ptr<Held> next = std::move(held_.front());
  held_.pop_front();
  bytes_ -= next->request.size();
  return &remover_.ApplyNext(next->op);
}

}  // namespace ringscope
