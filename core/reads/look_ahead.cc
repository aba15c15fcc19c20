#include "core/reads/look_ahead.h"

namespace ringscope {

Result<bool> HasReads(OpSource& ops) {
  ServiceReads service(/*all=*/false, /*period_ns=*/0);
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops.Next());
    if (!op) return false;
    if (std::holds_alternative<Commit>(op->body)) continue;
    service.Take(*op, op->time_ns);
    if (const auto* read = std::get_if<ReadPass>(&op->body))
      if (!service.AnswersNothing(*read)) return true;
  }
}

Result<std::vector<bool>> FinishedReads(OpSource& ops) {
  ReplayListener nobody;
  ReplayOptions as_recorded;
  as_recorded.reads.mode = ReadsMode::kRecorded;
  Replay replay(std::move(as_recorded), nobody);
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops.Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
  return replay.finished_reads();
}

}  // namespace ringscope
