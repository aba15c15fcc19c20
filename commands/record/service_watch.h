#ifndef RINGSCOPE_COMMANDS_RECORD_SERVICE_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_SERVICE_WATCH_H_

#include <set>

#include "commands/record/event_loop.h"
#include "core/base/ids.h"
#include "core/base/lookup.h"
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
  using SessionId = uint64_t;  // counted from 1, as in the log

  SessionBuffers(RecordSink& log, Warn warn) : log_(log), warn_(std::move(warn)) {}

  void SetUp(const BufferSetUp& buffer);
  SessionId Start(TraceConfigFacts config);
  /// Finds the service's number of a session in what the service lists just after its start.
  void Identify(SessionId id, const std::vector<ipc::ListedSession>& listed);
  void End(SessionId id);
  /// The service has closed the connection of the session's consumer. If it has ended, the session
  /// ends with all others, after the last commits; else by EndLeft.
  void Leave(SessionId id) { left_.push_back(id); }
  void EndLeft() {
    for (const SessionId id : std::exchange(left_, {})) End(id);
  }
  /// The service has ended: all buffers are freed, and it will number from 1 again.
  void EndAll();
  /// The session's data sources are asked to start. Logs it, once.
  void MarkStarted(SessionId id);
  /// The session is over: only what is late is still committed.
  void MarkStopped(SessionId id) {
    if (Session* const session = FindIn(sessions_, id)) session->stopped = true;
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
  /// Marks, once for each buffer, that the order of some requests about it is not known.
  void MarkUnordered(BufferId id, std::string detail);
  std::optional<SessionId> OwnerOf(BufferId id) const {
    const Buffer* const buffer = FindIn(buffers_, id);
    return buffer == nullptr ? std::nullopt : buffer->session;
  }
  bool IsFreed(BufferId id) const {
    const Buffer* const buffer = FindIn(buffers_, id);
    return buffer != nullptr && buffer->freed;
  }
  /// Returns true around the times at which the service sends commands to producers by itself.
  bool ExpectsCommands(std::chrono::steady_clock::time_point now) const;
  void CountChunk(BufferId id) {
    if (Buffer* const buffer = FindIn(buffers_, id)) ++buffer->chunks;
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
  /// The index of the target's buffer, of those of the session that have no id so far.
  std::optional<uint64_t> IndexOf(const Sessions::value_type& session, const Target& target);
  Sessions::value_type* SessionOf(const Target& target);

  RecordSink& log_;
  Warn warn_;
  SessionId last_id_ = 0;
  Sessions sessions_;
  std::vector<SessionId> left_;
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

/// Follows the flushes that the service asks producers for, and the clones of sessions that they
/// are for. Logs when a flush times out, which buffers are emptied before a clone, and the instant
/// whose content the clone has of each.
///
/// The service empties the buffers with clear_before_clone at the request. Then it flushes twice:
/// the data sources of the buffers with transfer_on_clone, and the others. When the last producer
/// of such a group has acknowledged, it clones the group's buffers in a task of its own; likewise
/// at once if the group has no data source to flush. None of this is announced to the consumer: it
/// is concluded from the acknowledgements. Reads for a file can come between:
///
///     request ──► handled: logged ──► last acknowledgement ──► read? ──► cloned, reply: logged
///
/// So the request is logged when it was handled, and a clone when the service has replied to the
/// consumer, or has handled what was sent after the acknowledgement. If the flush times out, the
/// reply that follows is the instant. Source: the service's behaviour, as observed.
class FlushWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using SessionId = SessionBuffers::SessionId;

  FlushWatch(RecordSink& log, const SessionBuffers& buffers, const Instances& instances)
      : log_(log), buffers_(buffers), instances_(instances) {}

  void OnRequested(const FlushRequested& request, Clock::time_point now = Clock::now());
  /// After the acknowledgement was logged. It completes all older flushes of that producer, too.
  void OnAcknowledged(ProducerId producer, uint64_t flush);
  /// The service's reply to a consumer that asked for a flush of its session: it has timed out.
  void OnConsumersFailure(SessionId session);
  /// Stops waiting for the service's own flushes that take longer than the config's timeout. Called
  /// now and then.
  void OnTime(Clock::time_point now);
  void Clear() { flushes_.clear(); }

  /// A consumer asks for a clone. @param request a CloneSessionRequest @return the clone's number
  uint64_t OnCloneRequested(Bytes request);
  void OnCloneReply(uint64_t clone, CloneEnded reply);

  /// Returns true while the instant of some clone of these buffers, or of any, is to come: requests
  /// must pass one by one. What the service has handled before the last acknowledgement is in it.
  bool IsCloning(const std::optional<std::set<BufferId>>& of = {}) const;
  void OnPassed(BufferId buffer);

  /// The service has handled the requests for clones.
  void OnRequestHandled();
  /// The service has handled all that has passed: it has cloned what it clones after that.
  void OnHandled();
  void OnRead(SessionId session);

 private:
  struct Flush {
    std::optional<SessionId> session;
    bool by_consumer = false;  // and not by the service
    Clock::time_point until;
    std::set<ProducerId> waits_for;
  };
  /// Buffers that are cloned together.
  struct Group {
    bool transfer = false;  // their configs have transfer_on_clone
    std::set<BufferId> buffers;
    std::set<ProducerId> waits_for;
    std::optional<uint64_t> flush;
    bool due = false;     // nobody is waited for
    bool cloned = false;  // for certain
    bool passed = false;  // a commit to one of them, since the clone was asked for
    bool read = false;    // for a file, since it was due
  };
  struct Clone {
    std::optional<SessionId> session;
    std::optional<std::string> request = {};  // until it is logged
    bool cleared = false;                     // that buffers are emptied is logged
    std::array<Group, 2> groups = {Group{.transfer = true}, Group{}};
  };
  using Clones = std::map<uint64_t, Clone>;

  void TimeOut(const std::function<bool(const Flush&)>& is_late);
  void Begin(Clones::value_type& clone, SessionId session);
  void LogRequest(Clones::value_type& clone);
  void LogClone(uint64_t clone, Group& group);
  void MarkClone(const Clones::value_type& clone, std::string detail);

  RecordSink& log_;
  const SessionBuffers& buffers_;
  const Instances& instances_;
  std::map<uint64_t, Flush> flushes_;  // under way, by id
  Clones clones_;                      // under way, by number
  uint64_t last_clone_ = 0;
};

/// Counts the service's own packets at the beginning of a pass, which count towards the bytes that
/// end it.
class OwnPackets {
 public:
  /// @return false: the packet is a producer's, and none that follows counts
  bool Add(Bytes packet);
  /// Returns their bytes, without those that a replay counts by itself.
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
  uint64_t provenance_ = 0;  // of these
};

/// Finds the passes of the service in its replies to ReadBuffers: one with a large packet comes in
/// several.
class PassReader {
 public:
  /// @param reply to ReadBuffers
  /// @return bytes of the service's own packets at the pass's beginning; nullopt if it has not
  /// ended
  std::optional<uint64_t> Add(Bytes reply);

 private:
  std::string packet_;          // as much as has arrived, until a producer's packet was found
  bool within_packet_ = false;  // its rest is in the next reply
  bool found_other_ = false;    // a packet that is not the service's
  OwnPackets own_;
};

/// Logs when the service reads the buffers of sessions that it writes into files. No socket shows
/// these reads, but the files grow.
///
/// A read is one task of the service. The system reports that a file has grown (inotify) in order
/// with the replies that the service sends: a request whose reply was reported before was handled
/// before the read, and one whose reply is reported later was handled after it.
///
/// A read grows the file several times. Its last packets are an event that shows its end, and
/// perhaps statistics after that; what follows is the next read. Where the config leaves no such
/// event in the file, growths are of one read that are less than kOneRead apart.
class FileWatch {
 public:
  using SessionId = SessionBuffers::SessionId;

  /// Half of the shortest period of reads.
  static constexpr std::chrono::milliseconds kOneRead{50};

  FileWatch(EventLoop& loop, RecordSink& log, const SessionBuffers& buffers, FlushWatch& flushes)
      : loop_(loop), log_(log), buffers_(buffers), flushes_(flushes) {}

  /// A session begins that is written into a file. Marks the log if the file cannot be watched.
  /// @param path of the file, or where the service will create it
  /// @param shows_ends see TraceConfigFacts::shows_ends_of_reads
  void Start(SessionId session, const std::string& path, bool is_there, bool shows_ends);
  /// Looks whether files have grown, and begins to watch those that the service has created.
  void Look();
  /// A reply about these buffers was seen whose place before or after a growth that is reported
  /// next is not known.
  void NoteUnordered(const std::set<BufferId>& buffers);
  /// The service has stopped the session, and closed its file: a growth is of one more read.
  /// @param is_freed its buffers are freed while it is written: the service reads once more before
  void End(SessionId session, bool is_freed = false);
  void Drop(SessionId session) { files_.erase(session); }
  bool any() const { return !files_.empty(); }
  bool Watches(std::optional<SessionId> session) const {
    return session && files_.contains(*session);
  }

 private:
  struct File {
    std::string path;
    UniqueFd fd;      // invalid until it is there
    UniqueFd growth;  // an inotify instance
    EventLoop::WatchHandle on_growth;
    uint64_t size = 0;  // as far as it was looked at
    bool shows_ends = true;
    bool is_within = false;  // a read was logged whose end was not seen
    EventLoop::Clock::time_point grown = {};
    bool is_unordered = false;  // a reply was seen that was sent before or after the next growth
  };
  /// Opens and watches the file, if it is there and can be watched.
  void Open(SessionId session, File& file);
  void OnGrowth(SessionId session, File& file);
  void LookAt(SessionId session, File& file);
  void Log(SessionId session, std::optional<uint64_t> size, std::optional<uint64_t> own_bytes = {});
  void MarkUnknown(SessionId session);

  EventLoop& loop_;
  RecordSink& log_;
  const SessionBuffers& buffers_;
  FlushWatch& flushes_;
  std::map<SessionId, File> files_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SERVICE_WATCH_H_
