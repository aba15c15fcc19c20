#include "core/session/service_counts.h"

#include <algorithm>

#include "core/session/session.h"

namespace ringscope {

void ServiceCounts::Apply(const Op& op) {
  if (const auto event = LifeEventOf(op, 0)) flushes_.Apply(*event);
  std::visit(Overloaded{[&](const DataSourceRegistered& source) {
                          data_sources_.emplace(source.producer, source.name);
                        },
                        [&](const DataSourceUnregistered& source) {
                          data_sources_.erase({source.producer, source.name});
                        },
                        [&](const ProducerDisconnected& gone) {
                          std::erase_if(data_sources_, [&](const auto& source) {
                            return source.first == gone.producer;
                          });
                        },
                        [&](const DataSourceSetUp& source) {
                          last_instance_ = std::max(last_instance_, source.instance);
                        },
                        [&](const SessionStarted&) { ++sessions_; },
                        [&](const SessionEnded&) { sessions_ -= sessions_ > 0 ? 1 : 0; },
                        [](const auto&) {}},
             op.body);
}

void ServiceCounts::Fill(ServiceStats& stats) const {
  stats.flushes_requested = flushes_.requested();
  stats.flushes_succeeded = flushes_.Count(FlushOutcome::kSucceeded);
  stats.flushes_failed = flushes_.Count(FlushOutcome::kFailed);
  // TraceStats.FinalFlushOutcome: 0 is unspecified.
  const FlushOutcome final_flush = flushes_.final_outcome();
  stats.final_flush_outcome = final_flush == FlushOutcome::kSucceeded ? 1
                              : final_flush == FlushOutcome::kFailed  ? 2
                                                                      : 0;
  stats.data_sources_registered = data_sources_.size();
  stats.data_sources_seen = last_instance_;
  // A trace is read while its session is there.
  stats.tracing_sessions = std::max<uint64_t>(sessions_, 1);
}

}  // namespace ringscope
