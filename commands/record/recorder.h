#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDER_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDER_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "commands/system/event_loop.h"
#include "commands/system/socket.h"
#include "commands/tap/connection_pair.h"
#include "commands/tap/recording.h"
#include "commands/tap/turns.h"

namespace ringscope::record {

/// A socket to listen at, and the service's socket to which its clients are joined.
struct PortSockets {
  std::string listen;
  std::string connect;  // names, separated by commas
};

struct RecorderOptions {
  PortSockets producer;
  std::optional<PortSockets> consumer;
  mode_t mode = 0600;  // of the sockets that are made
  Scraping scraping = Scraping::kExact;
  bool strict_order = false;  // one request at a time, each confirmed by the service
  std::vector<std::pair<BufferId, PlannedBuffer>> buffers;  // known from the options
  std::optional<SessionPlan> config;                        // that sessions are started with
};

/// The sockets that a recorder listens at.
struct RecorderListeners {
  Listener producer;
  std::optional<Listener> consumer;

  static Result<RecorderListeners> Open(const RecorderOptions& options);
};

/// Connects clients with a tracing service, and records what passes.
class Recorder {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Clients are accepted when the loop runs. Loop and log must live longer.
  static Result<std::unique_ptr<Recorder>> Create(EventLoop& loop, RecorderOptions options,
                                                  RecorderListeners listeners, RecordSink& log,
                                                  Warn warn);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Accepts no more clients, and ends the connections that are there.
  void Stop();
  /// After Stop: everything that was received has been passed on.
  bool stopped() const { return stopping_ && pairs_.empty(); }
  /// Drops what is not passed on yet.
  void Abandon();

  const RecordCounts& counts() const { return counts_; }

 private:
  Recorder(EventLoop& loop, RecorderOptions options, RecordSink& log, Warn warn);

  enum class Port : uint8_t { kProducer, kConsumer };
  struct Listening {
    Listener listener;
    std::string connect;
    Port port;
    EventLoop::WatchHandle watch;
    EventLoop::Timer resume;  // while no client is accepted
  };
  /// A client to be joined to the service.
  struct Client {
    UniqueFd fd;
    std::string connect;
    Port port = Port::kProducer;
    EventLoop::Clock::time_point until;  // when it is refused
    EventLoop::Timer retry;              // while the service accepts nobody
  };

  Status Listen(Listener listener, const std::string& connect, Port port);
  void AcceptAll(Listening& listening);
  void PauseAccepting(Listening& listening);
  void Join(Client client);
  void Retry(Client client);
  void OnDone(uint64_t id);
  void OnTimer();

  EventLoop& loop_;
  const RecorderOptions options_;
  const Warn warn_;
  RecordCounts counts_;
  SessionBuffers buffers_;
  Instances instances_;
  FlushWatch flushes_;
  CloneWatch clones_;
  Recording recording_;
  Turns turns_;
  std::vector<std::unique_ptr<Listening>> listening_;
  std::unordered_map<uint64_t, Client> waiting_;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<ConnectionPair>> pairs_;
  std::vector<uint64_t> done_;  // pairs to be destroyed
  EventLoop::Timer destroy_done_;
  EventLoop::Timer timer_;
  bool stopping_ = false;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDER_H_
