#ifndef RINGSCOPE_COMMANDS_TAP_CONSUMER_TAP_H_
#define RINGSCOPE_COMMANDS_TAP_CONSUMER_TAP_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "commands/system/socket.h"
#include "commands/tap/port_tap.h"
#include "commands/tap/recording.h"

namespace ringscope::record {

/// Logs what a consumer does with its session, and what the service reports to it: the trace config
/// and its buffers, start and stop, reads, flushes, clones, and when the buffers are freed.
class ConsumerTap : public PortTap {
 public:
  ConsumerTap(Recording& recording, PeerIdentity peer) : recording_(recording), peer_(peer) {}

  bool CarriesDescriptor(const ipc::Frame& frame) const override;
  void OnDisconnect(FrameSocket* service) override;
  bool WantsTimer() const override { return false; }
  void OnTimer(FrameSocket&) override {}
  /// A consumer changes the buffers by its reads. Their last replies are the confirmation.
  bool CanConfirm() const override { return true; }
  void AskConfirmation(FrameSocket&) override {
    if (reads_.empty()) SetConfirmed();
  }
  std::string Describe() const override;

 private:
  Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke, PassingFrame&& frame,
                   FrameSocket& service) override;
  Status OnReply(uint64_t request_id, const ipc::InvokeMethodReply& reply,
                 PassingFrame& frame) override;

  Status OnEnableTracing(const ipc::InvokeMethod& invoke, const PassingFrame& frame);
  void LogFile(const SessionPlan& plan, const PassingFrame& frame);
  void OnEnableTracingReply(Bytes reply);
  void OnFlushReply(bool success);
  void OnCloneReply(uint64_t clone, bool success, Bytes reply);
  Status OnAttachReply(bool success, Bytes reply);
  void OnEvents(Bytes reply);
  void LogReadPass(Bytes reply);
  /// Whether the service reads the session's buffers for this reply to ReadBuffers.
  bool ReadsBuffers(Bytes reply) const;
  void LogChange(SessionChange change, std::string detail = {});
  void EndSession();

  Recording& recording_;
  const PeerIdentity peer_;
  std::optional<SessionBuffers::SessionId> session_;
  std::set<uint64_t> reads_;  // requests whose replies are passes
  std::optional<uint64_t> enable_request_;
  std::optional<uint64_t> observe_request_;
  std::optional<uint64_t> attach_request_;
  std::string attach_key_;
  std::set<uint64_t> flush_requests_;
  std::map<uint64_t, uint64_t> clone_requests_;  // to the clones' numbers in the log
  bool has_clone_ = false;  // what it reads is a clone, not the session's own buffers
};

/// A ClockSnapshot message of now.
std::string TakeClockSnapshot();

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_CONSUMER_TAP_H_
