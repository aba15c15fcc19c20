#ifndef RINGSCOPE_COMMANDS_TAP_PORT_TAP_H_
#define RINGSCOPE_COMMANDS_TAP_PORT_TAP_H_

#include <optional>
#include <utility>

#include "commands/tap/tap.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::record {

/// What the taps of both ports have in common: the methods' names, and confirmation by a request of
/// the recorder's own, whose reply is not passed on.
class PortTap : public Tap {
 public:
  Status FromClient(PassingFrame&& frame, FrameSocket& service) final;
  Status FromService(PassingFrame&& frame, FrameSocket& client) final;
  bool CanConfirm() const override { return methods_.IdOf(ipc::MethodName::kSync).has_value(); }
  void AskConfirmation(FrameSocket& service) override;
  bool TakeConfirmed() override { return std::exchange(confirmed_, false); }

 protected:
  /// A request of the client; passes it on, or what goes in its place.
  virtual Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke,
                           PassingFrame&& frame, FrameSocket& service) = 0;
  /// A reply of the service, which is forwarded after this.
  virtual Status OnReply(uint64_t request_id, const ipc::InvokeMethodReply& reply,
                         PassingFrame& frame) = 0;

  const ipc::MethodTable& methods() const { return methods_; }
  /// An id for a request that the client does not know of.
  uint64_t NextOwnRequest();
  /// TakeConfirmed will be true.
  void SetConfirmed() { confirmed_ = true; }

 private:
  ipc::MethodTable methods_;
  std::optional<uint64_t> bind_request_;
  std::optional<uint64_t> confirmation_;  // request under way
  uint32_t own_requests_ = 0;
  bool confirmed_ = false;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_PORT_TAP_H_
