#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDER_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDER_H_

#include <sys/types.h>

#include "commands/record/connection_pair.h"

namespace ringscope {

/// A socket to listen at, and the service's socket to which its clients are joined.
struct PortSockets {
  std::string listen;
  std::string connect;  // names, separated by commas
};

struct RecorderOptions {
  PortSockets producer;
  std::optional<PortSockets> consumer;
  mode_t mode = 0600;                         // of the sockets that are made
  bool looks = false;                         // at producers' shared memory
  std::chrono::milliseconds longest_wait{4};  // of a producer while its session is read
  std::vector<BufferSetUp> buffers;           // known from the options
};

/// Connects clients with a tracing service, and records what passes.
///
/// It listens only while the service does: without the service its clients are refused as they
/// would be without a recorder, and try again in their own time.
class Recorder {
 public:
  static Result<std::vector<Listener>> Listen(const RecorderOptions& options);
  /// Clients are accepted when the loop runs. Loop and log must live longer.
  /// @param listeners of Listen, with the same options
  static Result<std::unique_ptr<Recorder>> Create(EventLoop& loop, RecorderOptions options,
                                                  std::vector<Listener> listeners, RecordSink& log,
                                                  Warn warn);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void CheckService();
  void StopListening() { listening_.clear(); }
  /// Consumers that would lose a session, or a clone, if the recorder stopped.
  uint64_t consumers_served() const;
  /// Accepts no more clients, and ends the connections that are there.
  void Stop();
  /// Returns true, after Stop, once everything that was received has been passed on.
  bool stopped() const { return stopping_ && recording_.turns.pairs().empty(); }
  void Abandon();

  const RecordCounts& counts() const { return recording_.counts; }

 private:
  Recorder(EventLoop& loop, RecorderOptions options, RecordSink& log, Warn warn);

  struct Listening {
    PortSockets sockets;
    bool for_producers = false;
    std::optional<Listener> listener;  // absent: the service is away
    EventLoop::WatchHandle watch;
    EventLoop::Timer resume;  // while no client is accepted
  };

  Status Watch(Listening& listening);
  void AcceptAll(Listening& listening);
  void PauseAccepting(Listening& listening);
  void Join(UniqueFd client, const Listening& listening);
  void OnTimer();
  void OnServiceClosed(const Tap& tap);
  /// Notices, by a connection to the service, that another process serves than before.
  void OnConnected(const UniqueFd& service);
  void EndOfService();
  void BeginOfService();

  const RecorderOptions options_;
  RecordingState recording_;
  std::vector<std::unique_ptr<Listening>> listening_;
  EventLoop::Timer timer_;
  EventLoop::Timer check_;
  std::vector<Inexact> unhandled_;  // if the service lives on
  std::optional<int32_t> service_;  // its process
  bool away_ = false;
  bool ended_ = false;  // the service, and no other has begun
  bool stopping_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDER_H_
