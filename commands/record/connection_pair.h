#ifndef RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_
#define RINGSCOPE_COMMANDS_RECORD_CONNECTION_PAIR_H_

#include "commands/record/tap.h"

namespace ringscope {

/// One client's connection joined to one of the service's. Frames go both ways through the tap,
/// which logs them; the pair decides when a frame passes.
///
///   client ══► received ─► next_ ──[turn]──► Prepare ─► FromClient ─► queued ══► service
///                            │      Turns      (or Collect)                         ║
///   client ◄══ queued ◄──────┼────────── FromService ◄──[held]──── received ◄═══════╝
///                            │                │
///                            └── OnHeld       └── confirmed: the turn ends
///
///   kOpen ──► kClientGone ──► kDone      the service gets the rest, and closes its end
///     └─────► kServiceGone ──► kDone     the client gets the rest
///
/// A pair holds two sockets with what was received and what is to be sent, the tap, and the place
/// of this client among all others: `buffers_`, which its turn is about, and whether it has one.
///
/// A turn: the next frame of the client is read ahead, and the tap names its buffers. Turns gives
/// the turn once no pair whose requests may not be under way with these has one. Then frames pass
/// as long as the turn covers their buffers and the tap's phase lets them. The turn ends when
/// another pair wants one, or the next frame is about other buffers: with a confirmation if
/// anything has passed (Yield). Until that has arrived, and a read of a running session is served,
/// nothing of this client passes.
///
/// Frames of the service never wait for a turn: they are taken at once (it drops a peer whose
/// socket stays full), and kept for a client that does not read. Their order among connections is
/// the log's order of commits that were under way together. So each socket is reported once for
/// what arrives (edge-triggered); a reply that may have been there before the report is marked as
/// unordered.
///
/// Between calls it is true that
/// - `next_` is the oldest frame that has not passed; with a turn, it is about other buffers, or
///   waits for a confirmation that is under way;
/// - nothing is sent to a client that is gone, and none is read beyond kMaxFromClient;
/// - a pair waits in Turns or has its turn, never both; with its turn it gets a call of PassSoon.
/// No call of a pair passes frames of another: PassSoon and Resume do that from the loop.
class ConnectionPair {
 public:
  static Result<std::unique_ptr<ConnectionPair>> Create(RecordingState& recording, UniqueFd client,
                                                        UniqueFd service, std::unique_ptr<Tap> tap);

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
  bool IsOpen() const { return state_ == State::kOpen; }
  /// It may be destroyed, but not from within one of its calls.
  bool IsDone() const { return state_ == State::kDone; }
  Tap& tap() const { return *tap_; }

 private:
  ConnectionPair(RecordingState& recording, UniqueFd client, UniqueFd service,
                 std::unique_ptr<Tap> tap)
      : recording_(recording),
        client_(std::move(client)),
        service_(std::move(service)),
        tap_(std::move(tap)) {}

  friend class Turns;
  enum class State : uint8_t { kOpen, kClientGone, kServiceGone, kDone };

  void OnClientEvent(uint32_t events);
  void OnServiceEvent(uint32_t events);
  Status ReadClient();
  /// @param in_order nothing but what arrived has caused the call
  /// @param may_have_ended the service may have closed its end, which is not reported once more
  Status ReadService(bool in_order, bool may_have_ended);
  Status PassClientFrames();
  Status PassBatch();
  Status ReadAhead();
  bool TakeTurn(bool next = false);
  /// @param in_order the first frame is what the socket was reported for
  Status PassServiceFrames(bool in_order = false);
  void PassSoon();
  /// Notes that what the service has sent to another pair, about these buffers, may be older than
  /// what is there for this one.
  void NoteUnordered(const std::set<BufferId>& buffers);
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
  FrameSocket client_;
  FrameSocket service_;
  std::unique_ptr<Tap> tap_;
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
