#ifndef RINGSCOPE_COMMANDS_RECORD_SESSION_BUFFERS_H_
#define RINGSCOPE_COMMANDS_RECORD_SESSION_BUFFERS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/log/op.h"
#include "core/perfetto/trace_config_facts.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope {

/// A message to the user. @param pid of the client that it is about; -1: of none
using Warn = std::function<void(const std::string& text, int32_t pid)>;

/// The tracing sessions that are there, and which buffer of the service is which of a trace config.
///
/// A config numbers its buffers from 0; producers see the service's own, global ids. Both sides
/// name the data source that writes to the buffer, and the service's number of the session: this
/// joins them. A buffer is logged once its global id is known, before anything is written to it.
class SessionBuffers {
 public:
  /// Counted from 1, as in the log.
  using SessionId = uint64_t;

  SessionBuffers(RecordSink& log, Warn warn) : log_(log), warn_(std::move(warn)) {}

  /// A buffer whose global id is known.
  void SetUp(const BufferSetUp& buffer);
  /// A session that was started with this config.
  SessionId Start(TraceConfigFacts config);
  /// Finds the service's number of a session in what the service lists just after its start.
  void Identify(SessionId id, const std::vector<ipc::ListedSession>& listed);
  /// Its buffers are freed.
  void End(SessionId id);
  /// The service has ended: all buffers are freed, and it will number from 1 again.
  void EndAll();
  /// The session's data sources are asked to start. Logs it, once.
  void MarkStarted(SessionId id);
  /// The session is over: only what is late is still committed.
  void MarkStopped(SessionId id) {
    if (const auto session = sessions_.find(id); session != sessions_.end())
      session->second.stopped = true;
  }

  /// Facts that a producer's copy of a data source's config shows.
  struct Target {
    std::string data_source;
    BufferId buffer{};
    uint64_t service_session = 0;  // the service's number of the session; 0: it did not send one
    std::string own = {};          // OwnFieldsOf the config
  };
  /// A producer was asked to write to a buffer.
  /// @return the session whose buffer it is; nullopt if it is not known
  std::optional<SessionId> OnTarget(const Target& target);
  /// Marks that the order of some requests about a buffer is not known; once for each buffer.
  void MarkUnordered(BufferId id, std::string detail);
  /// Returns the session of a buffer; nullopt if it is not known.
  std::optional<SessionId> OwnerOf(BufferId id) const {
    const auto buffer = buffers_.find(id);
    return buffer == buffers_.end() ? std::nullopt : buffer->second.session;
  }
  bool IsFreed(BufferId id) const {
    const auto buffer = buffers_.find(id);
    return buffer != buffers_.end() && buffer->second.freed;
  }
  /// Returns true around the times at which the service sends commands to producers by itself.
  bool ExpectsCommands(std::chrono::steady_clock::time_point now) const;
  /// A chunk was committed to a buffer.
  void CountChunk(BufferId id) {
    if (const auto buffer = buffers_.find(id); buffer != buffers_.end()) ++buffer->second.chunks;
  }
  /// Returns the chunks that were committed to the session's buffers, by index in the config.
  std::map<uint64_t, uint64_t> ChunksOf(SessionId id) const;

  struct Session {
    TraceConfigFacts config;
    std::map<uint64_t, BufferId> ids;  // that are known, by index in the config
    uint64_t service_id = 0;           // 0: not known yet
    std::optional<std::chrono::steady_clock::time_point> started = {};
    bool stopped = false;
  };
  /// Returns a session until its end, else nullptr.
  const Session* Find(std::optional<SessionId> id) const;
  /// The session's buffers whose ids are known.
  std::set<BufferId> BuffersOf(std::optional<SessionId> id) const;

  /// The session that a CloneSessionRequest asks for; nullopt if it is not known, or none of these.
  std::optional<SessionId> ClonedBy(Bytes request) const;

  /// The session's consumer leaves it under a key, and another takes it over.
  void Detach(SessionId id, const std::string& key) { detached_[key] = id; }
  std::optional<SessionId> Attach(const std::string& key);

 private:
  struct Buffer {
    std::optional<SessionId> session = {};
    uint64_t chunks = 0;  // that were committed
    bool freed = false;
    bool unordered = false;  // marked
  };
  using Sessions = std::map<SessionId, Session>;
  /// The data sources of a config that the target may be.
  static std::vector<const ConfiguredSource*> Matches(const TraceConfigFacts& config,
                                                      const Target& target);
  /// The index of the target's buffer, of those of the session that have no id so far.
  std::optional<uint64_t> IndexOf(const Sessions::value_type& session, const Target& target);
  Sessions::value_type* SessionOf(const Target& target);

  RecordSink& log_;
  Warn warn_;
  SessionId last_id_ = 0;
  Sessions sessions_;
  std::map<std::string, SessionId> detached_;  // by key
  std::map<BufferId, Buffer> buffers_;         // that were set up
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
using Instances = std::map<std::pair<ProducerId, uint64_t>, Instance>;
/// Returns true if the producer takes part in a session none of whose flushes asks it.
bool IsLeftOut(const Instances& instances, ProducerId producer);
/// The producers that a flush of the data sources of these buffers asks.
std::set<ProducerId> WhoFlushes(const Instances& instances, const std::set<BufferId>& targets);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SESSION_BUFFERS_H_
