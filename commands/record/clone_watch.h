#ifndef RINGSCOPE_COMMANDS_RECORD_CLONE_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_CLONE_WATCH_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "commands/record/session_buffers.h"
#include "core/log/op.h"

namespace ringscope {

/// Logs the clones of sessions: which buffers are emptied before, and the instant whose content the
/// clone has of each.
///
/// The service empties the buffers with clear_before_clone at the request. Then it flushes twice:
/// the data sources of the buffers with transfer_on_clone, and the others. When the last producer
/// of such a group has acknowledged (or the flush timed out), it clones the group's buffers there
/// and then; a group without a data source to flush is cloned at once. None of this is announced to
/// the consumer, so it is concluded from the acknowledgements. Source: the service's behaviour, as
/// observed.
class CloneWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using SessionId = SessionBuffers::SessionId;

  CloneWatch(RecordSink& log, const SessionBuffers& buffers, const Instances& instances)
      : log_(log), buffers_(buffers), instances_(instances) {}

  /// A consumer asks for a clone. @param request a CloneSessionRequest @return the clone's number
  uint64_t OnRequested(Bytes request, Clock::time_point now = Clock::now());
  /// A producer is asked to flush.
  void OnFlush(const FlushRequested& request);
  /// After the acknowledgement was logged. It completes all older flushes of that producer, too.
  void OnAcknowledged(ProducerId producer, uint64_t flush);
  void OnTimedOut(const std::set<uint64_t>& flushes);
  /// The service's reply, all but its number.
  void OnReply(uint64_t clone, CloneEnded reply);

  // What is committed while a clone is made is in it or not, and nothing shows which. So nobody may
  // commit meanwhile but those whom the service asked to flush, until they have acknowledged.

  /// Whether a clone is being made.
  bool AnyOpen() const;
  /// Whether the producer was asked to flush for a clone, and has not acknowledged it.
  bool WaitsFor(ProducerId producer) const { return asked_.contains(producer); }
  /// Called now and then: a clone that takes longer than the service's timeouts no longer holds
  /// others back. @return whether there is such a one
  bool Expire(Clock::time_point now);

 private:
  /// Buffers that are cloned together.
  struct Group {
    std::set<BufferId> buffers;
    std::set<ProducerId> waits_for;
    std::optional<uint64_t> flush;
    bool cloned = false;
  };
  struct Clone {
    std::optional<SessionId> session;
    std::array<Group, 2> groups;  // with transfer_on_clone, and the others
    Clock::time_point until;      // others wait for it at most so long
    bool expired = false;
  };
  using Clones = std::map<uint64_t, Clone>;

  std::optional<SessionId> Resolve(Bytes request) const;
  void Begin(Clones::value_type& clone, SessionId session);
  void CloneGroup(uint64_t clone, Group& group, bool transfer);

  RecordSink& log_;
  const SessionBuffers& buffers_;
  const Instances& instances_;
  uint64_t last_clone_ = 0;
  Clones open_;                           // by number
  std::map<ProducerId, uint64_t> asked_;  // to the last flush for a clone
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_CLONE_WATCH_H_
