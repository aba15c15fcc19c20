#ifndef RINGSCOPE_COMMANDS_RECORD_CONSUMER_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_CONSUMER_TAP_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "commands/record/tap.h"

namespace ringscope {

/// Counts the service's own packets at the beginning of a pass, which count towards the bytes that
/// end it.
class OwnPackets {
 public:
  /// @return false: the packet is a producer's, and none that follows counts
  bool Add(Bytes packet);
  /// Returns their bytes, without those that a replay counts by itself.
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
  uint64_t provenance_ = 0;  // of these
};

/// Finds the passes of the service in its replies to ReadBuffers: one with a large packet comes in
/// several.
class PassReader {
 public:
  /// @param reply to ReadBuffers
  /// @return bytes of the service's own packets at the pass's beginning; nullopt if it has not
  /// ended
  std::optional<uint64_t> Add(Bytes reply);

 private:
  std::string packet_;          // as much as has arrived, until a producer's packet was found
  bool within_packet_ = false;  // its rest is in the next reply
  bool found_other_ = false;    // a packet that is not the service's
  OwnPackets own_;
};

/// Logs what a consumer does with its session, and what the service reports to it: the trace config
/// and its buffers, start and stop, reads, flushes, clones, and when the buffers are freed.
class ConsumerTap : public Tap {
 public:
  ConsumerTap(RecordingState& recording, PeerIdentity peer) : Tap(recording), peer_(peer) {}

  Result<bool> Prepare(const ipc::Frame* next, FrameSocket& service) override;
  OrderedBuffers BuffersOf(const ipc::Frame* next) const override;
  bool IsBeingServed() const override { return reads_in_order_; }
  void StopWaiting() override {
    if (std::exchange(reads_in_order_, false)) ReadFreely(ReadBuffers());
    Take(Step::kReply);
  }
  std::set<BufferId> InOrder() const override { return read_freely_; }
  bool HasSession() const override { return session_ || clone_ || !clone_requests_.empty(); }
  std::string Describe() const override;

 private:
  Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke, PassingFrame&& frame,
                   FrameSocket& service) override;
  Status OnReply(ipc::MethodName method, uint64_t request_id, const ipc::InvokeMethodReply& reply,
                 PassingFrame& frame) override;
  void OnDisconnect(FrameSocket* service) override;
  ipc::MethodName ConfirmingMethod() const override {
    return asked_for_ ? ipc::MethodName::kQueryServiceState : ipc::MethodName::kQueryCapabilities;
  }
  void OnConfirmed(const ipc::InvokeMethodReply& reply) override;

  void EndIdentity();
  /// The service is to list its sessions, and its producers: some may not be connected here.
  void AskProducers();
  void MarkUnseenProducers();
  void AskForLacking(FrameSocket& service);
  void OnTraceStats(Bytes reply);
  Status OnEnableTracing(const ipc::InvokeMethod& invoke, const PassingFrame& frame);
  void LogFile(const TraceConfigFacts& config, const PassingFrame& frame);
  void OnEnableTracingReply(Bytes reply);
  void OnCloneReply(uint64_t request_id, bool success, Bytes reply);
  void OnAttachReply(Bytes reply);
  void LogReadPass(Bytes reply);
  /// The buffers that a ReadBuffers request reads, if producers may commit to them.
  std::set<BufferId> ReadBuffers() const;
  /// While these are read, producers may commit to them. Replaces those of the last call.
  void ReadFreely(std::set<BufferId> buffers);
  void LogChange(SessionChange change, std::string detail = {});
  void BeginSession(const TraceConfigFacts& facts, Bytes config);
  void EndSession();

  const PeerIdentity peer_;
  std::optional<SessionBuffers::SessionId> session_;
  bool reads_in_order_ = false;     // no producer commits until the reply
  std::set<BufferId> read_freely_;  // else
  PassReader pass_;
  std::string attach_key_;
  std::map<uint64_t, uint64_t> clone_requests_;  // to the clones' numbers in the log
  bool identifying_ = false;  // the service is asked for its number of the session
  std::optional<SessionBuffers::SessionId> asked_for_;  // a list of what the service has
  std::set<std::string> taking_part_;                   // names of that session's data sources
  ipc::ServiceState state_;                             // what it has replied so far
  std::set<std::pair<SessionBuffers::SessionId, uint64_t>> unseen_;  // producers of sessions
  std::map<uint64_t, uint64_t> logged_;  // chunks, by index of the buffer, when asked for more
  std::optional<uint64_t> clone_;        // what it reads is a clone, not the session's own buffers
};

/// A ClockSnapshot message of now.
std::string TakeClockSnapshot();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_CONSUMER_TAP_H_
