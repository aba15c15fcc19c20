#ifndef RINGSCOPE_COMMANDS_TAP_SESSION_BUFFERS_H_
#define RINGSCOPE_COMMANDS_TAP_SESSION_BUFFERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/tap/session_plan.h"
#include "core/base/ids.h"
#include "core/log/op.h"

namespace ringscope::record {

/// Finds out which of the service's buffers is which of a trace config's.
///
/// A config numbers its buffers from 0; producers see the service's own, global ids. Both sides
/// name the data source that writes to the buffer: that joins them. A buffer is logged once its
/// global id is known, that is, before anything can be written to it.
class SessionBuffers {
 public:
  using Log = std::function<void(OpBody)>;
  using Warn = std::function<void(const std::string&)>;
  using SessionId = uint64_t;

  SessionBuffers(Log log, Warn warn) : log_(std::move(log)), warn_(std::move(warn)) {}

  /// A buffer whose global id the user knows.
  void SetUp(BufferId id, const PlannedBuffer& buffer);
  /// A config that any session to come may have been started with.
  void SetTemplate(SessionPlan plan) { template_ = std::move(plan); }
  /// A session that was started with this config.
  SessionId Start(SessionPlan plan);
  /// Its buffers are freed.
  void End(SessionId id);

  /// A producer was asked to write to a buffer.
  void OnTarget(const std::string& data_source, BufferId target);
  bool IsFreed(BufferId id) const { return freed_.contains(id); }

  /// The session's buffers whose ids are known, in the config's order.
  std::vector<BufferId> BuffersOf(SessionId id) const;
  /// All buffers that are set up.
  const std::set<BufferId>& AllBuffers() const { return known_; }
  /// Whether there is no other session.
  bool IsAlone(SessionId id) const { return sessions_.size() == 1 && sessions_.contains(id); }

 private:
  struct Session {
    SessionPlan plan;
    std::map<uint32_t, BufferId> ids;  // by index in the plan
  };
  /// A buffer of the session's config, without an id so far, that this data source writes to.
  static std::optional<uint32_t> FindUnnamed(const Session& session,
                                             const std::string& data_source);
  void Name(Session& session, uint32_t index, BufferId id);

  Log log_;
  Warn warn_;
  SessionId last_id_ = 0;
  std::map<SessionId, Session> sessions_;
  std::optional<SessionPlan> template_;
  std::set<BufferId> known_;
  std::set<BufferId> freed_;
  std::set<BufferId> warned_;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_SESSION_BUFFERS_H_
