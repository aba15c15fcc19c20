#include "core/reads/found_reads.h"

namespace ringscope {

Status InsertedReads::Change(Op op) {
  AddReads();  // before the first record
  ++records_;
  if (!std::holds_alternative<Commit>(op.body)) service_.Take(op, op.time_ns);
  const auto* read = std::get_if<ReadPass>(&op.body);
  if (read == nullptr || service_.AnswersNothing(*read)) Add(std::move(op));
  AddReads();
  return {};
}

void InsertedReads::AddReads() {
  for (; next_ < reads_.size() && reads_[next_].after <= records_; ++next_) {
    ReadPass read;
    read.max_bytes = ServiceReads::kFilePassBytes;
    read.reason = ReadReason::kFile;
    Add({.time_ns = reads_[next_].time_ns, .body = read});
  }
}

}  // namespace ringscope
