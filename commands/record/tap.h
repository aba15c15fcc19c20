#ifndef RINGSCOPE_COMMANDS_RECORD_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_TAP_H_

#include "commands/record/event_loop.h"
#include "commands/record/service_watch.h"
#include "commands/record/socket.h"
#include "core/log/op.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope {

/// Counters for the summary.
struct RecordCounts {
  uint64_t sequences = 0;
  uint64_t chunks = 0;  // committed or scraped
  uint64_t chunk_bytes = 0;
  uint64_t checks = 0;  // times that the service has listed the producers which take part
};

/// Buffers whose requests and reads are to be in the service's order.
struct OrderedBuffers {
  bool all = false;
  /// Only commits that are collected to one request, whose place the service's reply shows.
  bool collected = false;
  /// Others' of these may be under way.
  bool shared = false;
  std::set<BufferId> ids = {};

  bool any() const { return all || !ids.empty(); }
  /// Returns true if requests about these and those must not be under way together.
  bool Meets(const OrderedBuffers& other) const {
    if (shared && other.shared) return false;
    if (all || other.all) return any() && other.any();
    return std::ranges::any_of(ids, [&](BufferId id) { return other.ids.contains(id); });
  }
  bool Covers(const OrderedBuffers& other) const {
    if (collected != other.collected || shared != other.shared) return false;
    return all || (!other.all && std::ranges::includes(ids, other.ids));
  }
};

class ConnectionPair;

/// Has all connections, and gives turns to them, at a time only to those whose requests are about
/// different buffers, or may be under way together. A holder keeps its turn until another pair asks
/// that may not have one beside it.
class Turns {
 public:
  explicit Turns(EventLoop& loop);
  ~Turns();

  void Add(std::unique_ptr<ConnectionPair> pair);
  /// Destroys those that are done, when what is being handled now is done.
  void RemoveSoon();
  const std::vector<std::unique_ptr<ConnectionPair>>& pairs() const { return pairs_; }
  /// Scrapes the producers that are not asked to flush, as the service does now or soon.
  /// @return whether that waits for their turns
  bool ScrapeUnasked();
  /// The taps no longer hold the service's frames.
  void Resume();

  /// @param next before all others that wait
  /// @return whether it is the pair's turn; if not, PassSoon will be called.
  bool Take(ConnectionPair& pair, bool next = false);
  /// Ends the pair's turn, or its waiting for one.
  void Leave(ConnectionPair& pair);
  /// Marks other pairs with the same buffers: whether the service has sent its last frames to them
  /// before or after those to this pair is not known.
  void NoteUnordered(const ConnectionPair& pair) const;
  /// Returns true if a pair waits that could have a turn without this one.
  bool IsWanted(const ConnectionPair& holder) const;

 private:
  /// Gives turns to the pairs that may have one now. @param asking is not called
  void Reconsider(const ConnectionPair* asking = nullptr);
  /// Returns true if no holder and none that waits longer meets the pair. Asks the holders that it
  /// meets for their turns.
  bool MayBegin(const ConnectionPair& pair) const;

  EventLoop& loop_;
  std::vector<std::unique_ptr<ConnectionPair>> pairs_;
  std::deque<ConnectionPair*> waiting_;
  EventLoop::Timer remove_;
};

/// Texts whose memory is mapped already, and used again: clients wait while the system maps more.
class SpareTexts {
 public:
  /// Returns one with any content.
  std::string Take() {
    if (texts_.empty()) return {};
    std::string text = std::move(texts_.back());
    texts_.pop_back();
    return text;
  }
  void Return(std::string text) { texts_.push_back(std::move(text)); }

 private:
  static constexpr size_t kBytes = size_t{256} << 10;  // commits of some milliseconds
  std::vector<std::string> texts_ = std::vector(4, std::string(kBytes, '\0'));
};

class Tap;

/// State that the taps of one recording share. All of it belongs to the loop's thread.
struct RecordingState {
  RecordingState(EventLoop& its_loop, RecordSink& sink, Warn its_warn)
      : loop(its_loop), log(sink), warn(std::move(its_warn)) {}

  /// Returns true if others commit to one of these buffers, or the service reads it, without a
  /// turn: then only the service's replies show the order of commits.
  bool IsShared(const std::set<BufferId>& ids) const {
    return std::ranges::any_of(ids, [this](BufferId id) {
      return writers.count(id) > 1 || read_freely.contains(id) ||
             files.Watches(buffers.OwnerOf(id));
    });
  }

  EventLoop& loop;
  RecordSink& log;
  const Warn warn;
  SessionBuffers buffers{log, warn};
  Instances instances = {};
  FlushWatch flushes{log, buffers, instances};
  FileWatch files{loop, log, buffers, flushes};
  RecordCounts counts = {};
  /// Time that a client keeps its turn while it is being served and another wants it.
  EventLoop::Clock::duration longest_wait{};
  bool looks = false;                       // at producers' shared memory
  EventLoop::Clock::time_point looks_from;  // the next look at any memory, at the earliest
  /// Called when the service has closed a connection before its client did.
  std::function<void(const Tap&)> on_service_closed = [](const Tap&) {};
  /// Buffers that are read while producers commit to them.
  std::multiset<BufferId> read_freely = {};
  std::multiset<BufferId> writers = {};       // buffers that producers write to, once for each
  uint64_t last_flush = 0;                    // that a producer was asked for
  uint16_t last_producer = 0;                 // counted in the order of their connecting
  std::multiset<std::string> connected = {};  // names of the producers that are
  SpareTexts spare_texts = {};                // for commits that wait for a confirmation
  uint32_t identifying = 0;  // requests under way for the service's number of a session
  Turns turns{loop};         // of the connections, whose taps use all of the above
};

/// Where a client's requests are on their way to the service, see Tap.
enum class Phase : uint8_t {
  kSettled,  // the service has handled all that was passed on
  kPassed,   // requests were passed on, and more may follow
  kFull,     // requests were passed on, and nothing may follow before they are confirmed
  kAsked,    // the recorder's own request is under way, whose reply confirms them
  kServed,   // they are confirmed; the reply to a read of the buffers is missing
};
enum class Step : uint8_t {
  kPass,   // a request is passed on
  kFill,   // a request is passed on that must be confirmed before anything follows
  kAsk,    // a confirmation is asked for
  kAgain,  // it has arrived, and one more is needed
  kServe,  // it has arrived, and the client is still being served
  kDone,   // it has arrived
  kReply,  // the client is served
};
/// The transitions: a row for each step, a column for each phase.
inline constexpr Phase kTransitions[][5] = {
    // kSettled      kPassed          kFull            kAsked           kServed
    {Phase::kPassed, Phase::kPassed, Phase::kFull, Phase::kAsked, Phase::kServed},     // kPass
    {Phase::kFull, Phase::kFull, Phase::kFull, Phase::kAsked, Phase::kServed},         // kFill
    {Phase::kAsked, Phase::kAsked, Phase::kAsked, Phase::kAsked, Phase::kAsked},       // kAsk
    {Phase::kSettled, Phase::kPassed, Phase::kFull, Phase::kFull, Phase::kServed},     // kAgain
    {Phase::kSettled, Phase::kPassed, Phase::kFull, Phase::kServed, Phase::kServed},   // kServe
    {Phase::kSettled, Phase::kPassed, Phase::kFull, Phase::kSettled, Phase::kServed},  // kDone
    {Phase::kSettled, Phase::kPassed, Phase::kFull, Phase::kAsked, Phase::kSettled},   // kReply
};

/// Sees each frame between a client and the service, logs it, and queues it, or what is forwarded
/// instead, for the other side.
///
/// The log must have the requests of all clients in the order in which the service handles them.
/// Forwarding shows only the order of one client's requests. So a client has a turn (see Turns)
/// while it passes requests about buffers that others use, and at the turn's end the recorder sends
/// a request of its own: its reply shows that the service has handled everything before it.
///
///                 passes requests               turn ends
///     kSettled ─────────────────► kPassed, kFull ─────────► kAsked
///        ▲                                                  │    │ a read is under way
///        │◄─────────────────────────────────────────────────┘    ▼
///        │              confirmed                             kServed
///        └───────────────────────────────────────────────────────┘ replied, or waited long enough
///
/// A tap holds the phase of the turn; the methods and the requests whose replies are missing, of
/// the client and, with ids from kFirstOwnRequest, of the recorder; and what the client's kind is
/// about: a producer's memory and buffers, or a consumer's session.
///
/// Order of calls: Prepare, once for each frame of the client and for its end (nullptr), sends and
/// logs what the service must handle before; if that has to be confirmed first, it waits. Then
/// FromClient, or Collect for a commit that is sent with others as one request. AskConfirmation
/// ends the turn. FromService comes at any time. Disconnect is called once, before the service
/// learns of the end; from then on only replies to the recorder's own requests count.
///
/// Between calls it is true that
/// - kPassed is kFull where the service may act by itself after the request: it reads for a file,
///   clones, or scrapes. What follows must not overtake that.
/// - Commits of several clients may be under way together (OrderedBuffers::shared). Each client
///   sends what it has collected as one request whose reply is the confirmation, and the commits
///   are logged when it arrives: in the order of the replies. So are those that must be handled
///   before what follows, each in a round of its own: between a commit and a request that confirms
///   it the service may read for a file.
/// - While the service clones, a confirmation takes two rounds: what the service does in a task of
///   its own after a request is done when it handles the second request after it.
/// - A read of a session that has not stopped keeps its producers waiting for the reply, but no
///   longer than RecordingState::longest_wait. Then, as for reads of stopped sessions and of
///   clones, commits pass meanwhile, and only replies show their place.
/// - A producer whose buffers nobody else uses is logged at once, and confirmed only when somebody
///   else wants the turn.
/// An error ends the connection; it names what the peer did ("sent ...").
class Tap {
 public:
  Tap(RecordingState& recording, PeerIdentity peer) : recording_(recording), peer_(peer) {}
  virtual ~Tap() = default;

  const PeerIdentity& peer() const { return peer_; }  // who connected

  Phase phase() const { return phase_; }
  /// Returns true if something was passed on that the service may not have handled.
  bool has_passed() const { return phase_ == Phase::kPassed || phase_ == Phase::kFull; }
  /// Returns true if the turn lasts until the service has replied.
  bool is_awaited() const { return phase_ == Phase::kAsked || phase_ == Phase::kServed; }

  /// Returns true if the frame is of a kind that descriptors come with.
  bool CarriesDescriptor(const ipc::Frame& frame) const;
  /// @return whether `next` has to wait
  virtual Result<bool> Prepare(const ipc::Frame* next, FrameSocket& service) = 0;
  virtual Status FromClient(PassingFrame&& frame, FrameSocket& service);
  virtual Status FromService(PassingFrame&& frame, FrameSocket& client);
  virtual Status Collect(const ipc::InvokeMethod&) { return {}; }
  /// @param alone no request of another client has passed since the last one
  void AskConfirmation(FrameSocket& service, bool alone);
  /// @param service nullptr if it is the service that has gone
  void Disconnect(FrameSocket* service) {
    disconnected_ = true;
    std::erase_if(requests_, [](const auto& request) { return !IsOwn(request.first); });
    OnDisconnect(service);
  }
  /// Returns true if the service has not replied to a request of the recorder's own.
  bool AwaitsOwn() const { return !requests_.empty() && IsOwn(requests_.rbegin()->first); }
  /// Reports how long the client's next frame has waited in the recorder.
  virtual void OnHeld(std::chrono::nanoseconds) {}
  /// Returns true if the service scrapes this client's memory without a frame that shows it.
  virtual bool WantsScrape() const { return false; }
  /// Sends what is in the memory: about once a second, and before a frame that causes scrapes.
  virtual void Scrape(FrameSocket&) {}

  /// The buffers that the client's next request is about. @param next nullptr for what it sends
  /// last, or what the recorder sends for it
  virtual OrderedBuffers BuffersOf(const ipc::Frame* next) const = 0;
  /// Returns true if the service's frames must wait for the service's number of a session.
  virtual bool HoldsServiceFrames() const { return false; }
  /// Returns true for a frame of the service whose place among those for other clients shows what
  /// it has handled first: a reply to AskConfirmation, or what a consumer reads.
  bool ShowsOrder(const ipc::Frame& frame) const {
    const auto request = requests_.find(frame.request_id);
    return confirmation_ == frame.request_id ||
           (request != requests_.end() && request->second == ipc::MethodName::kReadBuffers);
  }
  /// The buffers that such a frame is about; none if nothing else can be under way.
  virtual std::set<BufferId> InOrder() const { return {}; }
  /// Marks that the place of such a frame among others about these buffers is not known.
  void MarkUnordered(const std::set<BufferId>& buffers) const;

  /// Returns true while the reply to a read is missing that producers wait for.
  virtual bool IsBeingServed() const { return false; }
  /// Producers no longer wait for it.
  virtual void StopWaiting() {}

  /// Returns true if a tracing session, or a clone, would be lost with this connection.
  virtual bool HasSession() const { return false; }
  /// Names the client for messages: "producer 3 (app, pid 17)".
  virtual std::string Describe() const = 0;

 protected:
  /// A request of the client; passes it on, or what goes in its place.
  virtual Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke,
                           PassingFrame&& frame, FrameSocket& service) = 0;
  /// A reply of the service to a request for `method`, which is forwarded after this.
  virtual Status OnReply(ipc::MethodName method, uint64_t request_id,
                         const ipc::InvokeMethodReply& reply, PassingFrame& frame) = 0;
  virtual void OnDisconnect(FrameSocket* service) = 0;
  /// A method that the service replies to at once, and that changes nothing, and its arguments.
  virtual std::pair<ipc::MethodName, std::string> NextConfirmation() = 0;
  virtual void OnConfirmed(const ipc::InvokeMethodReply&) {}
  /// The service has handled all that has passed.
  virtual void OnAllHandled() {}
  /// Returns true if something is left that a confirmation of its own has to show.
  virtual bool HasUnconfirmed() const { return false; }

  const ipc::MethodTable& methods() const { return methods_; }
  /// The method that a frame invokes; kUnknown also if it is no request.
  ipc::MethodName MethodOf(const ipc::Frame& frame) const {
    const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
    return invoke == nullptr ? ipc::MethodName::kUnknown : methods_.Find(*invoke);
  }
  /// Returns true if a reply to a request for the method is missing.
  bool Awaits(ipc::MethodName method) const {
    return std::ranges::any_of(requests_, [&](const auto& one) { return one.second == method; });
  }
  /// Returns true if the recorder made the request, and the client does not know of it.
  static bool IsOwn(uint64_t request_id) { return request_id >= kFirstOwnRequest; }
  /// Queues a request that the client does not know of. @return its id
  uint64_t Invoke(ipc::MethodName method, Bytes args, bool drop_reply, FrameSocket& service);
  void Take(Step step) {
    phase_ = kTransitions[static_cast<size_t>(step)][static_cast<size_t>(phase_)];
  }

  /// Gives a client other buffers in the list that has those of all clients.
  static void Replace(std::multiset<BufferId>& all, std::set<BufferId>& own,
                      std::set<BufferId> next) {
    for (const BufferId id : std::exchange(own, std::move(next))) all.erase(all.find(id));
    all.insert(own.begin(), own.end());
  }

  RecordingState& recording_;

 private:
  /// Ids of the recorder's own requests. A client counts up from 1 and does not reach them.
  static constexpr uint64_t kFirstOwnRequest = 0xF0000000;
  static constexpr uint32_t kOwnRequests = 0x0FFFFFFF;

  const PeerIdentity peer_;
  ipc::MethodTable methods_;
  std::map<uint64_t, ipc::MethodName> requests_;  // whose replies, or further ones, are missing
  std::optional<uint64_t> confirmation_;          // request under way
  uint32_t own_requests_ = 0;
  uint32_t rounds_ = 0;  // confirmations that are still needed
  Phase phase_ = Phase::kSettled;
  bool disconnected_ = false;
  bool alone_ = false;
};

/// Logs what a producer commits and what the service sends to it, and scrapes its shared memory in
/// the service's place.
std::unique_ptr<Tap> NewProducerTap(RecordingState& recording, PeerIdentity peer);
/// Logs what a consumer does with its session, and what the service reports to it.
std::unique_ptr<Tap> NewConsumerTap(RecordingState& recording, PeerIdentity peer);

/// A ClockSnapshot message of now.
std::string TakeClockSnapshot();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_TAP_H_
