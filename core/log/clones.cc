#include "core/log/clones.h"

#include <fmt/format.h>

namespace ringscope {

CloneFacts& CloneScan::Of(uint64_t clone) {
  CloneFacts& facts = clones_[clone];
  facts.clone = clone;
  return facts;
}

void CloneScan::Add(const Op& op) {
  std::visit(
      Overloaded{
          [&](const CloneRequested& requested) { Of(requested.clone).session = requested.session; },
          [&](const BufferCloned& cloned) { Of(cloned.clone).buffers.insert(cloned.buffer); },
          [&](const CloneEnded& ended) {
            CloneFacts& clone = Of(ended.clone);
            clone.failed = !ended.success;
            clone.error = ended.error;
            clone.is_in_file = ended.into_file;
          },
          [&](const ClonePass& pass) { Of(pass.clone).passes.push_back(pass.max_bytes); },
          [](const auto&) {},
      },
      op.body);
}

std::vector<CloneFacts> CloneScan::clones() const {
  std::vector<CloneFacts> clones;
  for (const auto& [number, clone] : clones_)
    if (!clone.buffers.empty() || clone.failed) clones.push_back(clone);
  return clones;
}

Result<CloneFacts> FindMadeClone(const std::vector<CloneFacts>& clones, uint64_t clone) {
  std::string known;
  for (const CloneFacts& facts : clones) {
    if (!facts.failed) known += fmt::format("{}{}", known.empty() ? "" : ", ", facts.clone);
    if (facts.clone != clone) continue;
    if (!facts.failed) return facts;
    return Fail(ErrorCode::kUsage,
                fmt::format("clone {} was not made: the service reported {}", clone,
                            facts.error.empty() ? "an error" : "'" + facts.error + "'"));
  }
  return Fail(ErrorCode::kUsage, fmt::format("there is no clone {}", clone), {},
              known.empty() ? "the log has no clones" : fmt::format("clones: {}", known));
}

}  // namespace ringscope
