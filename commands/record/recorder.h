#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDER_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDER_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "commands/record/connection_pair.h"
#include "commands/record/event_loop.h"
#include "commands/record/recording.h"
#include "commands/record/socket.h"
#include "commands/record/turns.h"

namespace ringscope::record {

/// A socket to listen at, and the service's that its clients want.
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
  std::vector<std::pair<BufferId, PlannedBuffer>> buffers;  // known beforehand
  std::optional<SessionPlan> config;                        // that sessions are started with
};

/// The sockets that a recorder listens at.
struct RecorderListeners {
  Listener producer;
  std::optional<Listener> consumer;

  static Result<RecorderListeners> Open(const RecorderOptions& options);
};

/// Stands between a tracing service and its clients, and records.
class Recorder {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Clients are taken when the loop runs. Loop and log must live longer.
  Recorder(EventLoop& loop, RecorderOptions options, RecorderListeners listeners, RecordSink& log,
           Warn warn);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Takes no more clients, and ends the connections of those that are there.
  void Stop();
  /// After Stop: everything that was received has been passed on.
  bool stopped() const { return stopping_ && pairs_.empty(); }
  /// Gives up on what is not passed on yet.
  void Abandon();

  const RecordCounts& counts() const { return counts_; }

 private:
  enum class Port : uint8_t { kProducer, kConsumer };
  struct Listening {
    Listener listener;
    std::string connect;
    Port port;
    EventLoop::WatchId watch = 0;
  };

  void Listen(Listener listener, const std::string& connect, Port port);
  void AcceptAll(Listening& listening);
  void Join(UniqueFd client, const Listening& listening);
  void OnTimer();

  EventLoop& loop_;
  const RecorderOptions options_;
  const Warn warn_;
  RecordCounts counts_;
  SessionBuffers buffers_;
  Recording recording_;
  Turns turns_;
  std::vector<std::unique_ptr<Listening>> listening_;
  uint64_t last_pair_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<ConnectionPair>> pairs_;
  bool stopping_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // for calls that come later
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDER_H_
