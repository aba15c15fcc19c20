#include "formats/log/prepared_frame.h"

#include <cstring>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/record_codec.h"

namespace ringscope {
namespace {

/// More than a commit's record has besides its request.
constexpr size_t kMaxCommitOverhead = 160;

}  // namespace

PreparedFrame::PreparedFrame(size_t capacity) : capacity_(capacity) {
  bytes_.reserve(kSpace + capacity_);
  Clear();
}

void PreparedFrame::Clear() { bytes_.assign(kSpace, '\0'); }

bool PreparedFrame::Append(const Op& op) {
  const size_t space = kSpace + capacity_ - bytes_.size();
  if (const auto* const commit = std::get_if<Commit>(&op.body)) {
    if (commit->request.size() + kMaxCommitOverhead > space) return false;
    commit_log::AppendRecord(op, std::nullopt, bytes_);
  } else {
    std::string encoded;
    commit_log::AppendRecord(op, std::nullopt, encoded);
    if (encoded.size() > space) return false;
    bytes_ += encoded;
  }
  return true;
}

std::string_view PreparedFrame::Finish(uint64_t first_record) {
  const commit_log::NumberedHead head =
      commit_log::HeadWithNumber(wire::AsBytes(bytes_).subspan(kSpace), first_record);
  const size_t start = kSpace + head.replaces - head.bytes.size();
  std::memcpy(bytes_.data() + start, head.bytes.data(), head.bytes.size());
  return std::string_view(bytes_).substr(start);
}

}  // namespace ringscope
