#ifndef RINGSCOPE_COMMANDS_TAP_CONNECTION_PAIR_H_
#define RINGSCOPE_COMMANDS_TAP_CONNECTION_PAIR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "commands/system/event_loop.h"
#include "commands/system/frame_socket.h"
#include "commands/tap/tap.h"
#include "commands/tap/turns.h"

namespace ringscope::record {

/// One client's connection joined to one of the service's. Frames go both ways through the tap.
///
/// Whatever the service sends is taken at once (it drops a peer whose socket stays full) and kept
/// for the client; a client is read only as fast as the service takes what it sends. When either
/// side ends, what was received from it is still forwarded, and then the other side ends.
class ConnectionPair : private Turns::Taker {
 public:
  struct Options {
    size_t max_for_client = size_t{64} << 20;  // bytes kept before the connection is closed
    Turns* turns = nullptr;                    // of all pairs, if their requests must not overlap
    /// The pair is done and may be destroyed, but not from within the call.
    std::function<void()> on_done;
    /// Something for the user: why a connection was ended.
    std::function<void(const std::string&)> on_warning;
  };

  /// An error: a connection cannot be watched.
  static Result<std::unique_ptr<ConnectionPair>> Create(EventLoop& loop, UniqueFd client,
                                                        UniqueFd service, std::unique_ptr<Tap> tap,
                                                        Options options);
  ~ConnectionPair() override;

  /// Ends the connection as if the client had.
  void End();
  /// Drops what the service has not received.
  void Abandon();
  void OnTimer();  // the tap's, if it wants that
  const Tap& tap() const { return *tap_; }

 private:
  ConnectionPair(EventLoop& loop, UniqueFd client, UniqueFd service, std::unique_ptr<Tap> tap,
                 Options options);

  enum class State : uint8_t {
    kOpen,
    kClientGone,   // what it sent is forwarded to the service, which then closes its end
    kServiceGone,  // what it sent is forwarded to the client
    kDone,
  };

  void OnClientEvent(uint32_t events);
  void OnServiceEvent(uint32_t events);
  Status ReadClient();
  Status ReadService();
  Status PassClientFrames();
  Status PassServiceFrames();
  void OnTurn() override;
  bool TakeTurn();
  /// Sends both queues and brings everything up to date after something has happened.
  void Settle(Status status, const char* sender);
  void EndClient();
  void EndService();
  void Finish();
  Status UpdateEvents();
  bool WantsClient() const;

  EventLoop& loop_;
  std::optional<FrameSocket> client_;
  std::optional<FrameSocket> service_;
  std::unique_ptr<Tap> tap_;
  Options options_;
  State state_ = State::kOpen;
  bool client_closed_ = false;  // nothing more arrives; what has arrived may wait for its turn
  bool awaiting_confirmation_ = false;
  bool shut_down_ = false;  // the service knows that nothing follows
  EventLoop::WatchHandle client_watch_;
  EventLoop::WatchHandle service_watch_;
  EventLoop::Timer turn_;
  EventLoop::Timer close_timeout_;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_CONNECTION_PAIR_H_
