#include "formats/log/prepared_frame.h"

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/record_codec.h"

namespace ringscope {
namespace {

/// More than a commit's record has besides its request.
constexpr size_t kMaxCommitOverhead = 160;

}  // namespace

bool PreparedFrame::Append(const Op& op) {
  const size_t size = bytes_.size();
  const auto* const commit = std::get_if<Commit>(&op.body);
  if (commit != nullptr && commit->request.size() + kMaxCommitOverhead > capacity_ - size)
    return false;
  commit_log::AppendRecord(op, std::nullopt, bytes_);
  if (bytes_.size() <= capacity_) return true;
  bytes_.resize(size);
  return false;
}

void PreparedFrame::AppendTo(std::string& content, uint64_t first_record) const {
  const commit_log::NumberedHead head =
      commit_log::HeadWithNumber(wire::AsBytes(bytes_), first_record);
  content += head.bytes;
  content.append(bytes_, head.replaces);
}

}  // namespace ringscope
