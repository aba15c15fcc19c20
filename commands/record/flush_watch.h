#ifndef RINGSCOPE_COMMANDS_RECORD_FLUSH_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_FLUSH_WATCH_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "commands/record/session_buffers.h"
#include "core/log/op.h"

namespace ringscope {

/// Follows the flushes that the service asks producers for, and logs when one times out: the
/// service does not report that to producers.
class FlushWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using SessionId = SessionBuffers::SessionId;

  /// @param log gets FlushTimedOut records
  FlushWatch(RecordSink& log, const SessionBuffers& buffers) : log_(log), buffers_(buffers) {}

  /// A producer is asked.
  /// @param session whose data sources are to flush; nullopt: not known
  void OnRequested(const FlushRequested& request, std::optional<SessionId> session,
                   Clock::time_point now);
  /// It completes all older flushes of that producer, too.
  void OnAcknowledged(ProducerId producer, uint64_t flush);
  /// The service has ended.
  void Clear() { open_.clear(); }
  /// Called now and then: logs what has timed out. @return these flushes
  std::set<uint64_t> TakeTimedOut(Clock::time_point now);

  /// The consumer asked for a flush of its session, with a timeout; 0: the config's.
  void OnConsumerCall(SessionId session, uint64_t timeout_ms) { calls_[session] = timeout_ms; }
  /// What the service replied. A failure is a timeout of what was not acknowledged.
  /// @return the flushes that have timed out
  std::set<uint64_t> OnConsumerReply(SessionId session, bool success);

 private:
  struct Flush {
    std::optional<SessionId> session;
    bool by_service = false;  // and not by the consumer
    Clock::time_point until;
    std::set<ProducerId> waits_for;
  };

  RecordSink& log_;
  const SessionBuffers& buffers_;
  std::map<uint64_t, Flush> open_;       // by id
  std::map<SessionId, uint64_t> calls_;  // timeouts, ms, of the consumers' calls under way
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_FLUSH_WATCH_H_
