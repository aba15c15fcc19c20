#include "core/session/replay.h"

namespace ringscope {
Replay::Replay(ReplayOptions options, ReplayListeners listeners)
    : session_(std::move(options.session), std::move(listeners)),
      reads_(session_, options.reads, std::move(options.has_reads), options.is_reconfigured),
      plain_as_recorded_(options.plain_streams_as_recorded) {}

Status Replay::AdvanceTo(uint64_t time_ns) {
  if (!first_time_ns_) {
    first_time_ns_ = time_ns;
    reads_.BeginAt(time_ns);
  } else {
    RS_RETURN_IF_ERROR(reads_.BeforeTime(time_ns));
    if (time_ns < *last_time_ns_) [[unlikely]]
      latest_ns_ = std::max(latest_ns_, *last_time_ns_);
  }
  last_time_ns_ = time_ns;
  return {};
}

Status Replay::Apply(const Op& op, std::optional<uint64_t> number) {
  if (op.time_ns) RS_RETURN_IF_ERROR(AdvanceTo(*op.time_ns));
  ++records_;
  session_.BeginRecord(op, number.value_or(records_));
  // Most records are commits, which decide nothing about reads.
  if (std::holds_alternative<Commit>(op.body)) {
    if (!start_.ns()) [[unlikely]]
      start_.Add(op);
    return session_.Apply(op);
  }
  start_.Add(op);
  const bool is_damage = IsDamage(op.body);
  if (is_damage) --records_;
  // Any other kind makes a plain stream of operations a session's log.
  is_plain_ &=
      is_damage ||
      op.body.Is<BufferSetUp, ReadPass, CloneRead, ProtoVmSetUp, ProtoVmStates, LogHeader, Note>();
  const ServiceReads::Due due = reads_.service().Take(op, last_time_ns_);
  if (due == ServiceReads::Due::kBefore) RS_RETURN_IF_ERROR(reads_.OnFileRead());
  if (const auto* freed = std::get_if<BufferFreed>(&op.body))
    RS_RETURN_IF_ERROR(reads_.BeforeFreed(freed->id));
  if (const auto* changed = std::get_if<SessionChanged>(&op.body);
      changed != nullptr && changed->change == SessionChange::kConsumerGone)
    reads_.OnConsumerGone();
  if (const auto* read = std::get_if<ReadPass>(&op.body)) return reads_.OnRecordedRead(*read);
  if (const auto* clone = std::get_if<CloneRead>(&op.body))
    return session_.ReadClone(clone->buffer);
  RS_RETURN_IF_ERROR(session_.Apply(op));
  return due == ServiceReads::Due::kAfter ? reads_.OnFileRead() : Status{};
}

Status Replay::Finish() {
  RS_RETURN_IF_ERROR(reads_.AtEnd(is_plain_ && plain_as_recorded_));
  return session_.EndLog();
}

Status NotedReads::Change(Op op) {
  if (replay_) RS_RETURN_IF_ERROR(replay_->Apply(op));
  if (auto* const read = std::get_if<ReadPass>(&op.body)) {
    std::vector<bool>& known = reads_->left_nothing;
    if (replay_) known.push_back(replay_->reads().left_nothing());
    if (passes_ < known.size()) read->left_nothing = known[passes_];
    ++passes_;
  }
  Add(std::move(op));
  return {};
}

}  // namespace ringscope
