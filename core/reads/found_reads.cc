#include "core/reads/found_reads.h"

namespace ringscope {

Result<std::optional<Op>> InsertedReads::Next() {
  while (true) {
    if (next_ < reads_.size() && reads_[next_].after <= records_) {
      const FoundRead& found = reads_[next_++];
      ReadPass read;
      read.max_bytes = ServiceReads::kFilePassBytes;
      read.reason = ReadReason::kFile;
      return Op{.time_ns = found.time_ns, .body = read};
    }
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_.Next());
    if (!op) return op;
    ++records_;
    if (std::holds_alternative<Commit>(op->body)) return op;
    service_.Take(*op, op->time_ns);
    const auto* read = std::get_if<ReadPass>(&op->body);
    if (read == nullptr || service_.AnswersNothing(*read)) return op;
  }
}

}  // namespace ringscope
