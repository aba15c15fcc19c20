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
  /// Only commits, whose order follows from the service's replies: other clients' may be under way.
  bool shared = false;
  std::set<BufferId> ids = {};

  bool any() const { return all || !ids.empty(); }
  /// Returns true if requests about these and those must not be under way together.
  bool Meets(const OrderedBuffers& other) const {
    return !(shared && other.shared) && Overlaps(other);
  }
  /// Returns true if some buffer is in both.
  bool Overlaps(const OrderedBuffers& other) const {
    if (all || other.all) return any() && other.any();
    return std::ranges::any_of(ids, [&](BufferId id) { return other.ids.contains(id); });
  }
  bool Covers(const OrderedBuffers& other) const {
    if (shared != other.shared) return false;
    return all || (!other.all && std::ranges::includes(ids, other.ids));
  }
};

/// State that the taps of one recording share. All of it belongs to the loop's thread.
struct Recording {
  Recording(EventLoop& its_loop, RecordSink& sink, Warn warn)
      : loop(its_loop), log(sink), buffers(sink, std::move(warn)) {}

  EventLoop& loop;
  RecordSink& log;
  SessionBuffers buffers;
  Instances instances = {};
  FlushWatch flushes{log, buffers, instances};
  FileWatch files{log};
  RecordCounts counts = {};
  /// Time that a client keeps its turn while it is being served and another wants it.
  EventLoop::Clock::duration longest_wait{};
  bool looks = false;                       // at producers' shared memory
  EventLoop::Clock::time_point looks_from;  // the next look at any memory, at the earliest
  /// Scrapes the producers that are not asked to flush, as the service does now or soon.
  /// @return whether that waits for their turns
  std::function<bool()> scrape_unasked = [] { return false; };
  /// Takes what the service has sent so far to the consumers that it serves without a turn.
  std::function<void()> read_consumers = [] {};
  /// A session is written into a file that is watched.
  std::function<void()> on_file = [] {};
  /// Called after MayPass or HoldsServiceFrames of any tap may have changed.
  std::function<void()> on_released = [] {};
  /// Buffers that a client has committed to, each once for each client, until the service has
  /// confirmed it.
  std::multiset<BufferId> unconfirmed = {};
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
  explicit Tap(Recording& recording) : recording_(recording) {}
  virtual ~Tap() = default;

  /// Returns true if the frame is of a kind that descriptors come with.
  bool CarriesDescriptor(const ipc::Frame& frame) const;
  virtual Status FromClient(PassingFrame&& frame, FrameSocket& service);
  virtual Status FromService(PassingFrame&& frame, FrameSocket& client);
  /// A commit that shares a turn (OrderedBuffers::shared): AskConfirmation sends it.
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
  /// Returns true if frames of the client may pass now.
  virtual bool MayPass() const { return true; }
  /// Returns true if the service's frames must wait for an answer that their meaning depends on.
  virtual bool HoldsServiceFrames() const { return false; }
  /// Returns true if something was passed on that the service may not have handled.
  bool NeedsConfirmation() const { return unconfirmed_; }
  /// Returns true if nothing more may pass until it is confirmed.
  bool MustConfirm() const { return must_confirm_; }
  /// Asks for a confirmation. @return false if there is no way to
  /// @param alone nothing else has passed since the last one
  bool AskConfirmation(FrameSocket& service, bool alone);
  /// Returns true, once, when the answer has arrived. More may be needed: see NeedsConfirmation.
  bool TakeConfirmed() { return std::exchange(confirmed_, false); }
  /// Returns true for the service's reply to AskConfirmation.
  bool IsConfirmation(const ipc::Frame& frame) const { return confirmation_ == frame.request_id; }
  /// Other clients' commits were handled before or after the one that is replied to next.
  virtual void MarkUnordered() {}

  /// Returns true while replies are missing to requests that change the buffers.
  virtual bool IsBeingServed() const { return false; }
  /// What is being served no longer keeps others waiting.
  void StopWaiting() {
    EndOrder();
    FinishRound();
  }
  /// Returns true while the service reads buffers for the client, and producers commit to them.
  virtual bool ReadsFreely() const { return false; }

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
  virtual std::optional<ipc::MethodName> ConfirmingMethod() const = 0;
  /// Its arguments.
  virtual std::string ConfirmingArgs() { return {}; }
  /// The reply to it.
  virtual void OnConfirmed(const ipc::InvokeMethodReply&) {}
  virtual void EndOrder() {}
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
  /// Something of the recorder's own was sent.
  void SetUnconfirmed() { unconfirmed_ = true; }
  /// Nothing may pass before what was sent until now is confirmed.
  void SetMustConfirm() { unconfirmed_ = must_confirm_ = true; }
  /// Notes that the message just sent may make the service read for a file. Nothing passes before.
  void SetCausesRead() {
    if (!recording_.files.any()) return;
    recording_.files.OnCause();
    SetMustConfirm();
  }
  /// Something that changes the buffers is about to be sent.
  void NotePassing() {
    if (recording_.files.any()) recording_.files.OnPassing();
  }

  Recording& recording_;

 private:
  /// Ids of the recorder's own requests. A client counts up from 1 and does not reach them.
  static constexpr uint64_t kFirstOwnRequest = 0xF0000000;
  static constexpr uint32_t kOwnRequests = 0x0FFFFFFF;

  void FinishRound();

  ipc::MethodTable methods_;
  std::map<uint64_t, ipc::MethodName> requests_;  // whose replies, or further ones, are missing
  std::optional<uint64_t> confirmation_;          // request under way
  uint32_t own_requests_ = 0;
  uint32_t rounds_ = 0;  // confirmations that are still needed
  uint64_t reads_ = 0;   // that files had shown when the one under way was asked for
  bool disconnected_ = false;
  bool alone_ = false;
  bool answered_ = false;
  bool unconfirmed_ = false;
  bool must_confirm_ = false;
  bool confirmed_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_TAP_H_
