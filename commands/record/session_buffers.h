#ifndef RINGSCOPE_COMMANDS_RECORD_SESSION_BUFFERS_H_
#define RINGSCOPE_COMMANDS_RECORD_SESSION_BUFFERS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/session_plan.h"
#include "core/base/ids.h"
#include "core/log/op.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope {

/// What a message to the user is about.
enum class WarningKind : uint8_t {
  kClient,   // what a client does, and why its connection is ended
  kRefused,  // a client that cannot be joined to the service
  kBuffer,   // a buffer that is not known
  kService,  // the service ends, or accepts clients again
  kLog,      // the log cannot be written fast enough
};
struct Warning {
  WarningKind kind{};
  int32_t pid = -1;  // of the client that it is about; -1: of none, or it is not known
  std::string text;
};
using Warn = std::function<void(const Warning&)>;

/// The tracing sessions that are there, and which of the service's buffers is which of a trace
/// config's.
///
/// A config numbers its buffers from 0; producers see the service's own, global ids. Both sides
/// name the data source that writes to the buffer, and since the service tells producers its number
/// of the session, that too: this joins them. A buffer is logged once its global id is known, that
/// is, before anything can be written to it.
class SessionBuffers {
 public:
  /// As in the log: counted from 1. The service counts for itself.
  using SessionId = uint64_t;

  SessionBuffers(RecordSink& log, Warn warn) : log_(log), warn_(std::move(warn)) {}

  /// A buffer whose global id the user knows.
  void SetUp(BufferId id, const PlannedBuffer& buffer);
  /// A config that any session to come may have been started with.
  void SetTemplate(SessionPlan plan) { template_ = std::move(plan); }
  /// A session that was started with this config.
  SessionId Start(SessionPlan plan);
  /// What the service lists just after the session's start shows its number there.
  void Identify(SessionId id, const std::vector<ipc::ListedSession>& listed);
  /// Its buffers are freed.
  void End(SessionId id);
  /// Whether the log has any buffer.
  bool any() const { return any_; }
  /// The service has ended: all buffers are freed, and it will number from 1 again.
  void EndAll();
  /// The session's data sources are asked to start. Logs it, once.
  void MarkStarted(SessionId id);

  /// What a producer's copy of a data source's config shows.
  struct Target {
    std::string data_source;
    BufferId buffer{};
    uint64_t service_session = 0;  // the service's number of the session; 0: it did not send one
    std::optional<std::string> own = {};  // ipc::OwnFieldsOf the config
  };
  /// A producer was asked to write to a buffer.
  /// @return the session whose buffer it is; nullopt: not known
  std::optional<SessionId> OnTarget(const Target& target);
  bool IsFreed(BufferId id) const { return freed_.contains(id); }

  /// The session's config; nullptr: there is no such session.
  const SessionPlan* PlanOf(SessionId id) const;
  /// The session's buffers whose ids are known, in the config's order.
  std::vector<BufferId> BuffersOf(SessionId id) const;
  /// What the session's config has of a buffer of it; nullptr: it is none of this session.
  const PlannedBuffer* FindBuffer(SessionId id, BufferId buffer) const;

  /// The service's number of the session; 0: not known.
  uint64_t ServiceIdOf(SessionId id) const;
  std::optional<SessionId> FindByServiceId(uint64_t service_session) const;
  /// By its unique_session_name.
  std::optional<SessionId> FindByName(const std::string& name) const;
  /// nullopt: there is none, or there are several.
  std::optional<SessionId> OnlySession() const;

  /// The session's consumer leaves it under a key, and another takes it over.
  void Detach(SessionId id, const std::string& key) { detached_[key] = id; }
  std::optional<SessionId> Attach(const std::string& key);

 private:
  bool any_ = false;
  struct Session {
    SessionPlan plan;
    std::map<uint32_t, BufferId> ids;  // by index in the plan
    uint64_t service_id = 0;           // 0: not known yet
    bool started = false;
  };
  using Sessions = std::map<SessionId, Session>;
  /// The data sources of a config that the target may be.
  static std::vector<const SessionPlan::Source*> Matches(const SessionPlan& plan,
                                                         const Target& target);
  /// The index of the target's buffer, of those of the session that have no id so far.
  std::optional<uint32_t> IndexOf(const Sessions::value_type& session, const Target& target);
  void Name(Sessions::value_type& session, uint32_t index, BufferId id);
  /// The session that the service has given this number; or the one that it must be.
  Sessions::value_type* SessionOf(const Target& target);
  bool MayHaveNumber(SessionId id, uint64_t number) const;
  std::optional<SessionId> OwnerOf(BufferId id) const;
  void WarnOfUnknown(const Target& target);

  RecordSink& log_;
  Warn warn_;
  SessionId last_id_ = 0;
  Sessions sessions_;
  std::map<std::string, SessionId> detached_;  // by key
  std::optional<SessionPlan> template_;
  std::set<BufferId> known_;
  std::set<BufferId> freed_;
  std::set<BufferId> warned_;
  std::set<uint64_t> listed_;  // numbers of sessions that the service has listed
};

/// A data source of a producer that takes part in a session.
struct Instance {
  std::optional<SessionBuffers::SessionId> session;
  BufferId target{};
  bool flushes = true;  // is asked to flush: its descriptor has no no_flush
};

/// The instances that are set up and not stopped, of all producers.
class Instances {
 public:
  /// @return whether it is new
  bool Add(ProducerId producer, uint64_t id, const Instance& instance) {
    return all_.emplace(Key{producer, id}, instance).second;
  }
  void Remove(ProducerId producer, uint64_t id) { all_.erase({producer, id}); }
  void RemoveAll(ProducerId producer) {
    std::erase_if(all_, [&](const auto& entry) { return entry.first.first == producer; });
  }
  const Instance* Find(ProducerId producer, uint64_t id) const {
    const auto found = all_.find({producer, id});
    return found == all_.end() ? nullptr : &found->second;
  }
  /// Whether the producer takes part in a session and no flush of that session asks it.
  bool IsLeftOut(ProducerId producer) const {
    std::map<std::optional<SessionBuffers::SessionId>, bool> is_asked;
    for (auto next = all_.lower_bound({producer, 0});
         next != all_.end() && next->first.first == producer; ++next)
      is_asked[next->second.session] |= next->second.flushes;
    return std::ranges::any_of(is_asked, [](const auto& session) { return !session.second; });
  }
  /// The producers that a flush of the data sources of these buffers asks.
  std::set<ProducerId> WhoFlushes(const std::set<BufferId>& targets) const {
    std::set<ProducerId> producers;
    for (const auto& [key, instance] : all_)
      if (instance.flushes && targets.contains(instance.target)) producers.insert(key.first);
    return producers;
  }

 private:
  using Key = std::pair<ProducerId, uint64_t>;
  std::map<Key, Instance> all_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SESSION_BUFFERS_H_
