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

void ServiceReads::Begin(uint64_t time_ns) {
  if (all_ && !stream_) return StartStream({}, {}, time_ns);
  if (stream_ && stream_->started) StartNow(time_ns);
}

void ServiceReads::StartNow(uint64_t now_ns) {
  stream_->started = true;
  stream_->start_ns = now_ns;
  Arm(now_ns);
}

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
  if (due_ns_ <= time_ns) {
    const uint64_t periods = (time_ns - due_ns_) / stream.period_ns + 1;
    due_ns_ = periods > (UINT64_MAX - due_ns_) / stream.period_ns
                  ? UINT64_MAX
                  : due_ns_ + periods * stream.period_ns;
  }
  return true;
}

/// The next multiple of a period on CLOCK_MONOTONIC; the service counts in whole milliseconds.
uint64_t ServiceReads::NextMultiple(uint64_t period_ms, uint64_t now_ns) const {
  const uint64_t now_ms = (now_ns - boot_ahead_ns_.value_or(0)) / kServiceMs;
  return Later(now_ns, (period_ms - now_ms % period_ms) * kServiceMs);
}

void ServiceReads::Arm(uint64_t now_ns) {
  due_ns_ = NextMultiple(stream_->period_ns / kServiceMs, now_ns);
}

bool ServiceReads::TakeStatistics(std::optional<uint64_t> session, uint64_t now_ns) {
  const auto found = sessions_.find(session.value_or(0));
  if (found == sessions_.end()) return true;
  SessionFacts& facts = found->second;
  if (now_ns < facts.statistics_due_ns) return false;
  facts.statistics_due_ns = NextMultiple(facts.config.snapshot_interval_ms, now_ns);
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

ServiceReads::Due ServiceReads::EndStream() {
  stream_->open = false;
  due_ns_ = UINT64_MAX;
  return Due::kBefore;
}

ServiceReads::Due ServiceReads::Take(const Op& op, std::optional<uint64_t> time_ns) {
  const uint64_t now_ns = time_ns.value_or(0);
  return std::visit(
      Overloaded{
          [&](const TraceConfigRecord& record) {
            SessionFacts& facts = sessions_[record.session.value_or(0)];
            facts = {.config = ReadTraceConfigFacts(wire::AsBytes(record.config))};
            const bool other_streams = is_open() && !(all_ && sessions_.size() == 1);
            if ((all_ || facts.config.write_into_file) && !other_streams)
              StartStream(record.session, facts.config, time_ns);
            return Due::kNot;
          },
          [&](const SessionChanged& changed) {
            if (!IsStreamed(changed.session)) return Due::kNot;
            if (changed.change == SessionChange::kStarted && time_ns) StartNow(now_ns);
            return changed.change == SessionChange::kStopped ? EndStream() : Due::kNot;
          },
          [&](const SessionEnded& ended) {
            return IsStreamed(ended.session) ? EndStream() : Due::kNot;
          },
          [&](const BufferSetUp& buffer) {
            buffers_[buffer.id] = buffer.session;
            return Due::kNot;
          },
          [&](const BufferFreed& freed) {
            const auto buffer = buffers_.find(freed.id);
            return buffer != buffers_.end() && IsStreamed(buffer->second) ? EndStream() : Due::kNot;
          },
          [&](const ClockSnapshotRecord& record) {
            clocks_.AddSnapshot(wire::AsBytes(record.snapshot));
            boot_ahead_ns_ = clocks_.Resolve(proto::BuiltinClock::kBuiltinClockMonotonic, 0);
            if (is_open() && !stream_->any_read && !stream_->waits && due_ns_ != UINT64_MAX)
              Arm(stream_->start_ns);
            return Due::kNot;
          },
          [&](const TriggerActivated& trigger) {
            for (auto& [number, facts] : sessions_) {
              const std::vector<std::string>& names = facts.config.triggers;
              if (std::find(names.begin(), names.end(), trigger.name) == names.end()) continue;
              facts.triggered = true;
              const bool is_streamed = is_open() && stream_->session.value_or(0) == number;
              if (is_streamed && !stream_->started && !facts.config.deferred_start)
                StartNow(now_ns);
            }
            return Due::kNot;
          },
          [&](const FlushRequested& flush) { return TakeFlush(flush, now_ns); },
          [&](const FlushAcknowledged& flush) {
            return TakeFlushEnd(flush.flush, flush.producer, now_ns);
          },
          [&](const FlushTimedOut& flush) { return TakeFlushEnd(flush.flush, {}, now_ns); },
          [](const auto&) { return Due::kNot; },
      },
      op.body);
}

ServiceReads::Due ServiceReads::TakeFlush(const FlushRequested& flush, uint64_t now_ns) {
  if (!is_open() || !stream_->waits) return Due::kNot;
  if (!stream_->flush) {
    stream_->flush = flush.flush;
    stream_->asked.clear();
    due_ns_ = Later(now_ns, stream_->flush_timeout_ns);
  }
  if (flush.flush == *stream_->flush && flush.producer) stream_->asked.insert(*flush.producer);
  return Due::kNot;
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
  if (const auto buffer = read.buffer ? buffers_.find(*read.buffer) : buffers_.end();
      buffer != buffers_.end())
    session = buffer->second;
  auto found = sessions_.find(session.value_or(0));
  // A read that names no session is of the only one.
  if (found == sessions_.end() && !session && sessions_.size() == 1) found = sessions_.begin();
  return found == sessions_.end() ? nullptr : &found->second;
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
