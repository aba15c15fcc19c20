#ifndef RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_
#define RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "commands/record/tap.h"

namespace ringscope {

class ConnectionPair;

/// Gives turns to pairs, at a time only to those whose requests are about different buffers, or may
/// be under way together. A holder keeps its turn until another pair asks that may not have one
/// beside it.
class Turns {
 public:
  /// @param next before all others that wait
  /// @return whether it is the pair's turn; if not, PassSoon will be called.
  bool Take(ConnectionPair& pair, bool next = false);
  /// Ends the pair's turn, or its waiting for one.
  void Leave(ConnectionPair& pair);
  /// Of others to which the service has sent something about the same buffers it is not known
  /// whether that was before what it has sent to the pair.
  void NoteUnordered(const ConnectionPair& pair) const;
  /// Returns true if a pair waits that could have a turn without this one.
  bool IsWanted(const ConnectionPair& holder) const;

  /// All pairs that there are.
  void Add(ConnectionPair& pair) { pairs_.push_back(&pair); }
  void Remove(ConnectionPair& pair);

 private:
  /// Gives turns to the pairs that may have one now. @param asking is not called
  void Reconsider(const ConnectionPair* asking = nullptr);
  /// Returns true if no holder and none that waits longer meets the pair. Asks the holders that it
  /// meets for their turns.
  bool MayBegin(const ConnectionPair& pair) const;

  std::vector<ConnectionPair*> pairs_;
  std::deque<ConnectionPair*> waiting_;
};

/// One client's connection joined to one of the service's. Frames go both ways through the tap.
///
/// Frames of the service are taken at once (it drops a peer whose socket stays full) and kept for
/// the client; a client is read as fast as the service takes what it sends. When a side ends, what
/// was received from it is still forwarded, and then the other side ends.
class ConnectionPair {
 public:
  struct Options {
    /// The service has closed its end. Not from within another pair's call.
    std::function<void()> on_service_closed = [] {};
    /// The pair is done and may be destroyed, but not from within the call.
    std::function<void()> on_done;
    /// Something for the user: why a connection was ended.
    std::function<void(const std::string&)> on_warning;
  };

  /// An error: a connection cannot be watched.
  /// @param recording, turns of all pairs
  static Result<std::unique_ptr<ConnectionPair>> Create(RecordingState& recording, Turns& turns,
                                                        UniqueFd client, UniqueFd service,
                                                        std::unique_ptr<Tap> tap, Options options);
  ~ConnectionPair() { turns_.Remove(*this); }

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
  /// Returns true while both sides are there.
  bool IsOpen() const { return state_ == State::kOpen; }
  Tap& tap() const { return *tap_; }

 private:
  ConnectionPair(RecordingState& recording, Turns& turns, UniqueFd client, UniqueFd service,
                 std::unique_ptr<Tap> tap, Options options)
      : recording_(recording),
        turns_(turns),
        client_(std::move(client)),
        service_(std::move(service)),
        tap_(std::move(tap)),
        options_(std::move(options)) {
    turns_.Add(*this);
  }

  friend class Turns;
  enum class State : uint8_t {
    kOpen,
    kClientGone,   // what it sent is forwarded to the service, which then closes its end
    kServiceGone,  // what it sent is forwarded to the client
    kDone,
  };

  void OnClientEvent(uint32_t events);
  void OnServiceEvent(uint32_t events);
  Status ReadClient();
  /// @param in_order nothing but what arrived has caused the call: see PassServiceFrames
  Status ReadService(bool in_order);
  Status PassClientFrames();
  Status PassBatch();
  Status ReadAhead();
  bool TakeTurn(bool next = false);
  /// Passes on what the service sent. Requests that are under way together are logged in the order
  /// of its replies: sockets, and watches of files, become readable in that order, and epoll
  /// reports them so, if nothing else has arrived there before the reply.
  /// @param in_order the first frame is what the socket was reported for
  Status PassServiceFrames(bool in_order = false);
  /// Passes on what may be; the pair may have got a turn. Called from within other pairs' calls.
  void PassSoon();
  /// Notes that what the service has sent to another pair, about these buffers, may be older than
  /// what is there for this one.
  void NoteUnordered(const std::set<BufferId>& buffers);
  /// Ends the turn as soon as the service has confirmed what was passed on.
  void Yield();
  void AfterEvent(Status status, std::string_view sender);
  void WarnOf(const std::string& problem);
  /// The client's connection ends in its next turn; what it sent and was not passed on is dropped.
  void EndSoon();
  void EndClient();
  void EndService();
  void Finish();
  Status UpdateEvents();
  bool WantsClient() const;

  RecordingState& recording_;
  Turns& turns_;
  FrameSocket client_;
  FrameSocket service_;
  std::unique_ptr<Tap> tap_;
  Options options_;
  State state_ = State::kOpen;
  bool client_closed_ = false;   // nothing more arrives; what has arrived may wait for its turn
  bool service_closed_ = false;  // likewise
  std::optional<PassingFrame> next_;  // of the client's
  OrderedBuffers buffers_;            // of the turn that it has or waits for
  bool has_turn_ = false;
  bool wants_scrape_ = false;
  bool is_prepared_ = false;     // Tap::Prepare was called for `next_`, or for the end
  bool only_confirmed_ = false;  // the last call of PassServiceFrames has passed nothing else
  /// Buffers of replies to others that were sent before or after one that is there.
  std::set<BufferId> unordered_;
  EventLoop::WatchHandle client_watch_;
  EventLoop::WatchHandle service_watch_;
  EventLoop::Timer turn_;
  EventLoop::Timer longest_wait_;
  std::optional<EventLoop::Clock::time_point> waits_since_;  // the client's next frame
  EventLoop::Timer resume_;
  EventLoop::Timer close_timeout_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_
