#include "core/session/replay.h"

#include <utility>

namespace ringscope {
namespace {

/// Records that a plain stream of operations consists of; any other kind makes it a session's log.
bool IsPlain(const OpBody& body) {
  return std::holds_alternative<Commit>(body) || std::holds_alternative<BufferSetUp>(body) ||
         std::holds_alternative<ReadPass>(body) || std::holds_alternative<CloneRead>(body) ||
         std::holds_alternative<ProtoVmSetUp>(body) ||
         std::holds_alternative<ProtoVmStates>(body) || std::holds_alternative<LogHeader>(body) ||
         std::holds_alternative<Note>(body);
}

}  // namespace

Replay::Replay(ReplayOptions options, ReplayListeners listeners)
    : options_(std::move(options)),
      session_(options_.session, std::move(listeners)),
      reader_(session_, options_.pass_bytes, options_.ahead,
              ServiceReads(options_.reads.mode == ReadsMode::kStreamed, options_.reads.every_ns)),
      policy_(MakePolicy()) {}

std::unique_ptr<ReadPolicy> Replay::MakePolicy() {
  switch (options_.reads.mode) {
    case ReadsMode::kAuto:
      return std::make_unique<AutoReads>(reader_, options_.moves_sequences);
    case ReadsMode::kRecorded:
      return std::make_unique<RecordedReads>(reader_, options_.moves_sequences);
    case ReadsMode::kEnd:
      return std::make_unique<EndReads>(reader_);
    case ReadsMode::kEvery:
      return std::make_unique<PeriodicReads>(reader_, options_.reads.every_ns);
    case ReadsMode::kStreamed:
      return std::make_unique<FileReads>(reader_);
    case ReadsMode::kNone:
      break;
  }
  return std::make_unique<ReadPolicy>(reader_);
}

Status Replay::AdvanceTo(uint64_t time_ns) {
  if (!first_time_ns_) {
    first_time_ns_ = time_ns;
    policy_->BeginAt(time_ns);
  } else {
    RS_RETURN_IF_ERROR(policy_->BeforeTime(time_ns));
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
  if (std::holds_alternative<Commit>(op.body)) return session_.Apply(op);
  const bool is_damage = IsDamage(op.body);
  if (is_damage) --records_;
  is_plain_ &= is_damage || IsPlain(op.body);
  const ServiceReads::Due due = reader_.service().Take(op, last_time_ns_);
  if (due == ServiceReads::Due::kBefore) RS_RETURN_IF_ERROR(policy_->OnFileRead());
  if (const auto* freed = std::get_if<BufferFreed>(&op.body))
    RS_RETURN_IF_ERROR(policy_->BeforeFreed(freed->id));
  if (const auto* read = std::get_if<ReadPass>(&op.body)) return ApplyRead(*read);
  if (const auto* clone = std::get_if<CloneRead>(&op.body))
    return session_.ReadClone(clone->buffer);
  RS_RETURN_IF_ERROR(session_.Apply(op));
  return due == ServiceReads::Due::kAfter ? policy_->OnFileRead() : Status{};
}

Status Replay::ApplyRead(const ReadPass& read) {
  if (!reader_.service().AnswersNothing(read)) return policy_->OnRecordedRead(read);
  ++empty_reads_;
  return {};
}

Status Replay::Finish() {
  const CloneView* const clone = session_.clone();
  RS_RETURN_IF_ERROR(
      policy_->AtEnd(clone != nullptr, is_plain_ && options_.plain_streams_as_recorded));
  if (clone != nullptr) {
    session_.BeginCloneReads();
    if (options_.reads.mode != ReadsMode::kNone) RS_RETURN_IF_ERROR(reader_.ReadClone(*clone));
  }
  return session_.EndLog();
}

ReadsUsed Replay::reads_used() const {
  ReadsUsed used;
  used.mode = options_.reads.mode;
  used.period_ns = options_.reads.every_ns;
  used.empty_reads = empty_reads_;
  policy_->Describe(used);
  return used;
}

}  // namespace ringscope
