#ifndef RINGSCOPE_COMMANDS_TAP_CONSUMER_TAP_H_
#define RINGSCOPE_COMMANDS_TAP_CONSUMER_TAP_H_

#include <optional>
#include <set>
#include <string>

#include "commands/system/socket.h"
#include "commands/tap/port_tap.h"
#include "commands/tap/recording.h"

namespace ringscope::record {

/// Logs what a consumer does with its session: the trace config and its buffers, reads, flushes,
/// clones, and when the buffers are freed.
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

  Status OnEnableTracing(const ipc::InvokeMethod& invoke, bool into_file);
  void LogReadPass();
  void LogClone();
  void EndSession();

  Recording& recording_;
  const PeerIdentity peer_;
  std::optional<SessionBuffers::SessionId> session_;
  std::set<uint64_t> reads_;  // requests whose replies are passes
  std::optional<uint64_t> clone_request_;
  bool has_clone_ = false;  // what it reads is a clone, not the session's own buffers
};

/// A ClockSnapshot message of now.
std::string TakeClockSnapshot();

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_CONSUMER_TAP_H_
