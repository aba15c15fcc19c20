#ifndef RINGSCOPE_COMMANDS_RECORD_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_TAP_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "commands/record/event_loop.h"
#include "commands/record/file_watch.h"
#include "commands/record/flush_watch.h"
#include "commands/record/session_buffers.h"
#include "commands/record/socket.h"
#include "core/log/op.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope {

/// Counters for the summary.
struct RecordCounts {
  uint64_t producers = 0;
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

/// State that the taps of one recording share. All of it belongs to the loop's thread.
struct RecordingState {
  RecordingState(EventLoop& its_loop, RecordSink& sink, Warn warn)
      : loop(its_loop), log(sink), buffers(sink, std::move(warn)) {}

  EventLoop& loop;
  RecordSink& log;
  SessionBuffers buffers;
  Instances instances = {};
  FlushWatch flushes{log, buffers, instances};
  FileWatch files{loop, log};
  RecordCounts counts = {};
  /// Time that a client keeps its turn while it is being served and another wants it.
  EventLoop::Clock::duration longest_wait{};
  bool looks = false;                       // at producers' shared memory
  EventLoop::Clock::time_point looks_from;  // the next look at any memory, at the earliest
  /// Scrapes the producers that are not asked to flush, as the service does now or soon.
  /// @return whether that waits for their turns
  std::function<bool()> scrape_unasked = [] { return false; };
  /// Called when HoldsServiceFrames may have become false.
  std::function<void()> on_released = [] {};
  /// Buffers that are read while producers commit to them.
  std::multiset<BufferId> read_freely = {};
  uint64_t last_flush = 0;                    // that a producer was asked for
  uint16_t last_producer = 0;                 // counted in the order of their connecting
  std::multiset<std::string> connected = {};  // names of the producers that are
  uint32_t identifying = 0;  // requests under way for the service's number of a session
};

/// Sees each frame between a client and the service, and queues it, or what is forwarded instead,
/// for the other side. An error ends the connection; it names what the peer did ("sent ..."). A
/// request of the recorder's own confirms that the service has handled what the client sent: only
/// then does the order of forwarding hold across clients. Commits of several clients may be under
/// way together: they are collected to one such request each, and logged when it is replied to.
class Tap {
 public:
  explicit Tap(RecordingState& recording) : recording_(recording) {}
  virtual ~Tap() = default;

  /// Returns true if the frame is of a kind that descriptors come with.
  bool CarriesDescriptor(const ipc::Frame& frame) const;
  virtual Status FromClient(PassingFrame&& frame, FrameSocket& service);
  virtual Status FromService(PassingFrame&& frame, FrameSocket& client);
  /// A commit of a turn that has only these (OrderedBuffers::collected): AskConfirmation sends it.
  virtual Status Collect(const ipc::InvokeMethod&) { return {}; }
  /// The connection ends: called once, before the service is notified. Of what the service sends
  /// from here on, only replies to the recorder's own requests count.
  /// @param service nullptr if it is the service that has gone
  void Disconnect(FrameSocket* service) {
    disconnected_ = true;
    std::erase_if(requests_, [](const auto& request) { return !IsOwn(request.first); });
    OnDisconnect(service);
  }
  /// Returns true if the service has not replied to a request of the recorder's own.
  bool AwaitsOwn() const { return !requests_.empty() && IsOwn(requests_.rbegin()->first); }
  /// What passes next was held back for so long because of other clients.
  virtual void OnHeld(std::chrono::nanoseconds) {}
  /// Returns true if the service scrapes this client's memory without a frame that shows it.
  virtual bool WantsScrape() const { return false; }
  /// Sends what is in the memory: about once a second, and before a frame that causes scrapes.
  virtual void Scrape(FrameSocket&) {}
  /// Returns true if this frame makes the service scrape all clients that it does not ask.
  virtual bool CausesScrapes(const ipc::Frame&) const { return false; }

  /// The buffers that the client's next request is about. @param next nullptr for what it sends
  /// last, or what the recorder sends for it
  virtual OrderedBuffers BuffersOf(const ipc::Frame* next) const = 0;
  /// Returns true if the service's frames must wait for an answer that their meaning depends on.
  virtual bool HoldsServiceFrames() const { return false; }
  /// Returns true if something was passed on that the service may not have handled.
  bool NeedsConfirmation() const { return unconfirmed_; }
  /// Returns true if nothing more may pass until it is confirmed.
  bool MustConfirm() const { return must_confirm_; }
  /// Asks for a confirmation.
  /// @param alone nothing else has passed since the last one
  void AskConfirmation(FrameSocket& service, bool alone);
  /// Returns true until the answer has arrived, and the client is served. More may be needed then:
  /// see NeedsConfirmation.
  bool AwaitsConfirmation() const { return confirmation_ || IsBeingServed(); }
  /// Returns true for a frame of the service whose place among those for other clients shows what
  /// it has handled first: a reply to AskConfirmation, or what a consumer reads.
  bool ShowsOrder(const ipc::Frame& frame) const {
    const auto request = requests_.find(frame.request_id);
    return confirmation_ == frame.request_id ||
           (request != requests_.end() && request->second == ipc::MethodName::kReadBuffers);
  }
  /// The buffers that such a frame is about; none if nothing else can be under way.
  virtual std::set<BufferId> InOrder() const { return {}; }
  /// Marks that the place of such a frame is not known.
  void MarkUnordered() const;

  /// Returns true while replies are missing to requests that change the buffers.
  virtual bool IsBeingServed() const { return false; }
  /// What is being served no longer keeps others waiting.
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
  /// A method that the service replies to at once, and that changes nothing.
  virtual ipc::MethodName ConfirmingMethod() const = 0;
  /// Its arguments.
  virtual std::string ConfirmingArgs() { return {}; }
  /// The reply to it.
  virtual void OnConfirmed(const ipc::InvokeMethodReply&) {}
  /// The service has handled all that has passed.
  virtual void OnAllHandled() {}

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
  /// Something that the service may not have handled was sent.
  void SetUnconfirmed() { unconfirmed_ = true; }
  /// Nothing may pass before what was sent until now is confirmed.
  void SetMustConfirm() { unconfirmed_ = must_confirm_ = true; }

  RecordingState& recording_;

 private:
  /// Ids of the recorder's own requests. A client counts up from 1 and does not reach them.
  static constexpr uint64_t kFirstOwnRequest = 0xF0000000;
  static constexpr uint32_t kOwnRequests = 0x0FFFFFFF;

  ipc::MethodTable methods_;
  std::map<uint64_t, ipc::MethodName> requests_;  // whose replies, or further ones, are missing
  std::optional<uint64_t> confirmation_;          // request under way
  uint32_t own_requests_ = 0;
  uint32_t rounds_ = 0;  // confirmations that are still needed
  bool disconnected_ = false;
  bool alone_ = false;
  bool unconfirmed_ = false;
  bool must_confirm_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_TAP_H_
