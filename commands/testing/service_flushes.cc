// Flushes: who is asked, and what follows when all have acknowledged or the time is over.

#include <algorithm>
#include <utility>

#include "commands/testing/tracing_service.h"
#include "core/perfetto/fields.h"

namespace ringscope::testing {
namespace {

constexpr size_t kMaxPendingFlushes = 1000;
constexpr uint64_t kPeriodicFlushFlags = 1 | 1 << 4;  // periodic, by the service
constexpr uint64_t kFileFlushPeriodMs = 5000;
constexpr uint64_t kDefaultWritePeriodMs = 5000;

}  // namespace

void TracingService::Flush(TracingSession& session, uint64_t timeout_ms, uint64_t flags,
                           std::function<void(bool ok)> done) {
  FlushInstances(
      session, timeout_ms, flags, [](const SourceInstance&) { return true; }, std::move(done));
}

void TracingService::FlushInstances(TracingSession& session, uint64_t timeout_ms, uint64_t flags,
                                    const InstanceFilter& wants,
                                    std::function<void(bool ok)> done) {
  AddEvent(session, proto::TracingServiceEvent::kFlushStarted);
  if (session.state != TracingSession::State::kStarted ||
      session.flushes.size() > kMaxPendingFlushes)
    return done(false);
  const uint64_t flush = ++last_flush_;
  ++session.flushes_requested;
  std::map<ProducerId, ipc::FlushCommand> commands;
  for (const SourceInstance& instance : session.instances) {
    if (instance.no_flush || !wants(instance)) continue;
    commands.try_emplace(instance.producer, ipc::FlushCommand{flush, {}, flags})
        .first->second.instances.push_back(instance.id);
  }
  PendingFlush& pending = session.flushes[flush];
  pending.done = std::move(done);
  for (auto& [producer, command] : commands) {
    pending.waits_for.insert(producer);
    if (ProducerPort* const port = FindProducer(producer)) port->SendCommand({.flush = command});
  }
  const uint64_t limit = timeout_ms == 0 ? session.FlushTimeoutMs() : timeout_ms;
  pending.timer = loop_.CallAfter(std::chrono::milliseconds(pending.waits_for.empty() ? 0 : limit),
                                  [this, id = session.id, flush] {
                                    auto late = sessions_.at(id)->flushes.extract(flush);
                                    CompleteFlush(id, std::move(late.mapped().done),
                                                  late.mapped().waits_for.empty());
                                  });
}

void TracingService::OnFlushDone(ProducerId producer, uint64_t flush) {
  for (const auto& [id, session] : sessions_) {
    for (auto next = session->flushes.begin(); next != session->flushes.end();) {
      const auto pending = next++;
      if (pending->first > flush) break;
      if (pending->second.waits_for.erase(producer) == 0 || !pending->second.waits_for.empty())
        continue;
      Post([this, id = id, done = std::move(pending->second.done)] {
        sessions_.contains(id) ? CompleteFlush(id, done, true) : done(false);
      });
      session->flushes.erase(pending);
    }
  }
}

void TracingService::CompleteFlush(uint64_t session_id, std::function<void(bool)> done, bool ok) {
  TracingSession& session = *sessions_.at(session_id);
  for (const auto& [id, producer] : producers_) Scrape(*producer, session);
  AddEvent(session, proto::TracingServiceEvent::kAllDataSourcesFlushed, true);
  ++(ok ? session.flushes_succeeded : session.flushes_failed);
  done(ok);
}

uint64_t TracingService::WritePeriodMs(const TracingSession& session) {
  constexpr uint64_t kLeast = 100;
  const uint64_t period = session.config.file_write_period_ms;
  return period == 0 ? kDefaultWritePeriodMs : std::max(period, kLeast);
}

bool TracingService::FlushesBeforeWrite(const TracingSession& session) {
  if (!session.config.write_into_file) return false;
  const uint64_t mode = session.config.write_flush_mode;
  if (mode == kWriteFlushModeDisabled) return false;
  return mode == kWriteFlushModeEnabled || WritePeriodMs(session) > kFileFlushPeriodMs;
}

uint64_t TracingService::FlushPeriodMs(const TracingSession& session) {
  const bool is_own =
      session.config.write_into_file && session.config.write_flush_mode != kWriteFlushModeDisabled;
  if (!is_own) return session.config.flush_period_ms;
  return FlushesBeforeWrite(session) ? 0 : kFileFlushPeriodMs;
}

void TracingService::ArmPeriodicFlush(TracingSession& session, uint64_t period_ms) {
  session.flush_timer = CallAtMultiple(period_ms, [this, id = session.id, period_ms] {
    TracingSession& due = *sessions_.at(id);
    if (due.state != TracingSession::State::kStarted) return;
    ArmPeriodicFlush(due, period_ms);
    Flush(due, 0, kPeriodicFlushFlags, [](bool) {});
  });
}

}  // namespace ringscope::testing
