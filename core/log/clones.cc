#include "core/log/clones.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringscope {

CloneFacts& CloneScan::Of(uint64_t clone) {
  const auto at = std::lower_bound(
      clones_.begin(), clones_.end(), clone,
      [](const CloneFacts& facts, uint64_t number) { return facts.clone < number; });
  if (at != clones_.end() && at->clone == clone) return *at;
  CloneFacts& added = *clones_.emplace(at);
  added.clone = clone;
  return added;
}

void CloneScan::Add(const Op& op) {
  std::visit(Overloaded{
                 [&](const CloneRequested& requested) {
                   requested_ = requested.clone;
                   Of(requested.clone).session = requested.session;
                 },
                 [&](const BufferCleared& cleared) {
                   if (requested_ != 0) Of(requested_).cleared.insert(cleared.buffer);
                 },
                 [&](const BufferCloned& cloned) {
                   CloneFacts& clone = Of(cloned.clone);
                   clone.buffers.insert(cloned.buffer);
                   if (cloned.transfer) clone.transferred.insert(cloned.buffer);
                   if (op.time_ns) clone.time_ns = op.time_ns;
                 },
                 [&](const CloneEnded& ended) {
                   CloneFacts& clone = Of(ended.clone);
                   clone.failed = !ended.success;
                   clone.error = ended.error;
                   clone.is_in_file = ended.into_file;
                   clone.own_session = ended.session;
                 },
                 [&](const ClonePass& pass) { Of(pass.clone).passes.push_back(pass.max_bytes); },
                 [](const auto&) {},
             },
             op.body);
}

std::vector<CloneFacts> CloneScan::clones() const {
  std::vector<CloneFacts> clones = clones_;
  std::erase_if(clones,
                [](const CloneFacts& clone) { return clone.buffers.empty() && !clone.failed; });
  return clones;
}

Result<CloneView> ViewOfClone(const std::vector<CloneFacts>& clones, uint64_t clone) {
  std::string known;
  for (const CloneFacts& facts : clones) {
    if (!facts.failed) known += fmt::format("{}{}", known.empty() ? "" : ", ", facts.clone);
    if (facts.clone != clone) continue;
    if (!facts.failed) return CloneView{clone, facts.buffers, facts.is_in_file, facts.passes};
    return Fail(ErrorCode::kUsage,
                fmt::format("clone {} was not made: the service reported {}", clone,
                            facts.error.empty() ? "an error" : "'" + facts.error + "'"));
  }
  return Fail(ErrorCode::kUsage, fmt::format("there is no clone {}", clone), {},
              known.empty() ? "the log has no clones" : fmt::format("clones: {}", known));
}

}  // namespace ringscope
