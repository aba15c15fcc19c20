#ifndef RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_
#define RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "commands/record/event_loop.h"
#include "commands/record/frame_socket.h"
#include "commands/record/tap.h"
#include "commands/record/turns.h"

namespace ringscope {

/// One client's connection joined to one of the service's. Frames go both ways through the tap.
///
/// Whatever the service sends is taken at once (it drops a peer whose socket stays full) and kept
/// for the client; a client is read only as fast as the service takes what it sends. When either
/// side ends, what was received from it is still forwarded, and then the other side ends.
class ConnectionPair : private Turns::Taker {
 public:
  struct Options {
    size_t max_for_client = size_t{64} << 20;  // bytes kept before the connection is closed
    /// Has the memory of all clients scraped that the service does not ask.
    /// @return false: it is done; true: they wait for their turns
    std::function<bool()> scrape_unasked = [] { return false; };
    /// The service has closed its end. Not from within another pair's call.
    std::function<void()> on_service_closed = [] {};
    /// The pair is done and may be destroyed, but not from within the call.
    std::function<void()> on_done;
    /// Something for the user: why a connection was ended.
    std::function<void(const std::string&)> on_warning;
  };

  /// An error: a connection cannot be watched.
  /// @param turns of all pairs
  static Result<std::unique_ptr<ConnectionPair>> Create(EventLoop& loop, Turns& turns,
                                                        UniqueFd client, UniqueFd service,
                                                        std::unique_ptr<Tap> tap, Options options);
  ~ConnectionPair() override;

  /// Ends the connection as if the client had.
  void End();
  /// Drops what the service has not received.
  void Abandon();
  /// Scrapes the client's memory if the service does that without asking. @return whether that
  /// waits for a turn
  bool Scrape();
  /// The tap no longer holds the service's frames.
  void Resume();
  /// Takes what the service has sent so far, and notices if it has closed its end.
  void ReadServiceNow();
  /// Whether both sides are there.
  bool IsOpen() const { return state_ == State::kOpen; }
  const Tap& tap() const { return *tap_; }
  /// See Tap::LookAgain.
  std::optional<EventLoop::Clock::time_point> LookAgain() {
    return state_ == State::kOpen ? tap_->LookAgain() : std::nullopt;
  }

 private:
  ConnectionPair(EventLoop& loop, Turns& turns, UniqueFd client, UniqueFd service,
                 std::unique_ptr<Tap> tap, Options options);

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
  Status PassBatch();
  Status PassServiceFrames();
  void OnTurn() override;
  void OnWanted() override;
  bool MayHaveTurn() const override { return tap_->MayPass(); }
  /// Something is to be passed on when it is this client's turn.
  bool HasWork() const;
  /// Its turn is to end, as soon as the service has confirmed what was passed on.
  bool MustYield() const;
  void Yield();
  void EndTurn();
  void PassSoon();
  /// Sends both queues and brings everything up to date after something has happened.
  void AfterEvent(Status status, std::string_view sender);
  /// The client's connection ends in its next turn; what it sent and was not passed on is dropped.
  void EndSoon();
  void EndClient();
  void EndService();
  void Finish();
  Status UpdateEvents();
  bool WantsClient() const;

  EventLoop& loop_;
  Turns& turns_;
  std::optional<FrameSocket> client_;
  std::optional<FrameSocket> service_;
  std::unique_ptr<Tap> tap_;
  Options options_;
  State state_ = State::kOpen;
  bool client_closed_ = false;   // nothing more arrives; what has arrived may wait for its turn
  bool service_closed_ = false;  // likewise
  std::optional<PassingFrame> next_;  // of the client's, if it waits until others are scraped
  bool wants_scrape_ = false;
  bool turn_is_new_ = false;         // what has arrived may pass before it ends
  bool others_are_scraped_ = false;  // for `next_`
  bool awaiting_confirmation_ = false;
  bool shut_down_ = false;  // the service knows that nothing follows
  EventLoop::WatchHandle client_watch_;
  EventLoop::WatchHandle service_watch_;
  EventLoop::Timer turn_;
  EventLoop::Timer resume_;
  EventLoop::Timer close_timeout_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_
