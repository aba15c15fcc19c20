#include "core/log/service_reads.h"

#include <algorithm>

#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr uint64_t kServiceMs = 1'000'000;
/// Grace after a period's end in which the request for the flush before a read may come. The
/// service sends it at once; a recorder may be late.
constexpr uint64_t kFlushGraceNs = 50 * kServiceMs;

uint64_t Later(uint64_t time_ns, uint64_t by_ns) {
  return time_ns + std::min(by_ns, UINT64_MAX - time_ns);
}

}  // namespace

bool ServiceReads::TakeDue(uint64_t time_ns) {
  if (time_ns < due_ns_ || due_ns_ == UINT64_MAX) return false;
  Stream& stream = *stream_;
  const uint64_t at = due_ns_;
  if (stream.flushes && !stream.waits) {
    stream.waits = true;
    stream.flush.reset();
    due_ns_ = Later(at, kFlushGraceNs);
    if (time_ns < due_ns_) return false;
  }
  stream.any_read = true;
  stream.waits = false;
  Arm(at);
  // If several periods have passed, the first read takes all there is.
  if (due_ns_ <= time_ns)
    due_ns_ = Later(time_ns, stream.period_ns - (time_ns - due_ns_) % stream.period_ns);
  return true;
}

/// The next multiple of a period on CLOCK_MONOTONIC; the service counts in whole milliseconds.
uint64_t ServiceReads::NextMultiple(uint64_t period_ms, uint64_t now_ns) const {
  const uint64_t now_ms = (now_ns - boot_ahead_ns_.value_or(0)) / kServiceMs;
  return Later(now_ns, (period_ms - now_ms % period_ms) * kServiceMs);
}

bool ServiceReads::TakeStatistics(std::optional<uint64_t> session, uint64_t now_ns) {
  SessionFacts* const facts = FindIn(sessions_, session.value_or(0));
  if (facts == nullptr) return true;
  if (now_ns < facts->statistics_due_ns) return false;
  facts->statistics_due_ns = NextMultiple(facts->config.snapshot_interval_ms, now_ns);
  return true;
}

void ServiceReads::StartStream(std::optional<uint64_t> session, const TraceConfigFacts& config,
                               std::optional<uint64_t> time_ns) {
  stream_ = Stream{};
  Stream& stream = *stream_;
  stream.session = session;
  stream.period_ns = chosen_ns_ != 0
                         ? FileWritePeriodNs(std::max<uint64_t>(chosen_ns_ / kServiceMs, 1))
                         : config.PeriodNs();
  // Another period would have had its flushes at other times, which no log can show.
  stream.flushes = config.FlushesBeforeWrite() && stream.period_ns == config.PeriodNs();
  stream.flush_timeout_ns = config.flush_timeout_ms * kServiceMs;
  stream.started = !config.StartsLater();
  if (time_ns && stream.started) StartNow(*time_ns);
}

ServiceReads::Due ServiceReads::Take(const Op& op, std::optional<uint64_t> time_ns) {
  const uint64_t now_ns = time_ns.value_or(0);
  Due due = Due::kNot;
  VisitRecord(
      op.body,
      [&](const TraceConfigRecord& record) {
        SessionFacts& facts = sessions_[record.session.value_or(0)];
        facts = {.config = ReadTraceConfigFacts(wire::AsBytes(record.config))};
        const bool other_streams = is_open() && !(all_ && sessions_.size() == 1);
        if ((all_ || facts.config.write_into_file) && !other_streams)
          StartStream(record.session, facts.config, time_ns);
      },
      [&](const SessionChanged& changed) {
        if (!IsStreamed(changed.session)) return;
        if (changed.change == SessionChange::kStarted && time_ns) StartNow(now_ns);
        if (changed.change == SessionChange::kStopped) due = EndStream();
      },
      [&](const SessionEnded& ended) {
        if (IsStreamed(ended.session)) due = EndStream();
      },
      [&](const BufferSetUp& buffer) { buffers_[buffer.id] = buffer.session; },
      [&](const BufferFreed& freed) {
        const auto* const session = FindIn(buffers_, freed.id);
        if (session != nullptr && IsStreamed(*session)) due = EndStream();
      },
      [&](const ClockSnapshotRecord& record) {
        clocks_.AddSnapshot(wire::AsBytes(record.snapshot));
        boot_ahead_ns_ = clocks_.Resolve(proto::BuiltinClock::kBuiltinClockMonotonic, 0);
        if (is_open() && !stream_->any_read && !stream_->waits && due_ns_ != UINT64_MAX)
          Arm(stream_->start_ns);
      },
      [&](const TriggerActivated& trigger) {
        for (auto& [number, facts] : sessions_) {
          if (!Contains(facts.config.triggers, trigger.name)) continue;
          facts.triggered = true;
          const bool is_streamed = is_open() && stream_->session.value_or(0) == number;
          if (is_streamed && !stream_->started && !facts.config.deferred_start) StartNow(now_ns);
        }
      },
      [&](const FlushRequested& flush) {
        if (!is_open() || !stream_->waits) return;
        if (!stream_->flush) {
          stream_->flush = flush.flush;
          stream_->asked.clear();
          due_ns_ = Later(now_ns, stream_->flush_timeout_ns);
        }
        if (flush.flush == *stream_->flush && flush.producer)
          stream_->asked.insert(*flush.producer);
      },
      [&](const FlushAcknowledged& flush) {
        due = TakeFlushEnd(flush.flush, flush.producer, now_ns);
      },
      [&](const FlushTimedOut& flush) { due = TakeFlushEnd(flush.flush, {}, now_ns); });
  return due;
}

/// @param producer that has acknowledged the flush; absent: it has timed out
ServiceReads::Due ServiceReads::TakeFlushEnd(uint64_t flush, std::optional<ProducerId> producer,
                                             uint64_t now_ns) {
  // An acknowledgement is also one of all older flushes.
  if (!is_open() || !stream_->waits || !stream_->flush || flush < *stream_->flush) return Due::kNot;
  if (producer) stream_->asked.erase(*producer);
  if (producer && !stream_->asked.empty()) return Due::kNot;
  stream_->waits = false;
  stream_->any_read = true;
  Arm(now_ns);
  return Due::kAfter;
}

const ServiceReads::SessionFacts* ServiceReads::FactsOf(const ReadPass& read) const {
  std::optional<uint64_t> session = read.session;
  if (const auto* const of = read.buffer ? FindIn(buffers_, *read.buffer) : nullptr) session = *of;
  // A read that names no session is of the only one.
  if (!session && sessions_.size() == 1) return &sessions_.begin()->second;
  return FindIn(sessions_, session.value_or(0));
}

bool ServiceReads::AnswersNothing(const ReadPass& read) const {
  if (read.reason != ReadReason::kConsumer) return false;
  const SessionFacts* facts = FactsOf(read);
  if (facts == nullptr) return false;
  return facts->config.write_into_file ||
         facts->config.trigger_mode == TriggerMode::kCloneSnapshot ||
         (!facts->config.triggers.empty() && !facts->triggered);
}

}  // namespace ringscope
