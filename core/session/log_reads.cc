#include "core/session/log_reads.h"

#include "core/session/replay.h"

namespace ringscope {
namespace {

Result<bool> FindAny(OpSource& ops) {
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

Result<std::vector<bool>> FindFinished(OpSource& ops) {
  ReplayListener nobody;
  ReplayOptions as_recorded;
  as_recorded.reads.mode = ReadsMode::kRecorded;
  Replay replay(std::move(as_recorded), nobody);
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops.Next());
    if (!op) return replay.reads_used().finished;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
}

}  // namespace

Result<bool> LogReads::HasAny() {
  if (any_) return *any_;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, open_());
  RS_ASSIGN_OR_RETURN(any_, FindAny(*ops));
  return *any_;
}

Result<bool> LogReads::IsFinished(size_t pass) {
  if (!finished_) {
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, open_());
    RS_ASSIGN_OR_RETURN(finished_, FindFinished(*ops));
  }
  return pass < finished_->size() && (*finished_)[pass];
}

Status LogReads::FindAll() {
  RS_ASSIGN_OR_RETURN(const bool any, HasAny());
  if (!any) finished_.emplace();
  return IsFinished(0).map([](bool) {});
}

}  // namespace ringscope
