#ifndef RINGSCOPE_COMMANDS_RECORD_PORT_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_PORT_TAP_H_

#include <optional>
#include <string>
#include <utility>

#include "commands/record/recording.h"
#include "commands/record/tap.h"
#include "formats/ipc/ipc_methods.h"

namespace ringscope {

/// What the taps of both ports have in common: the methods' names, and confirmation. The reply to a
/// Sync that the client has sent last confirms all that it sent before; else a request of the
/// recorder's own is sent, whose reply is not passed on.
class PortTap : public Tap {
 public:
  Status FromClient(PassingFrame&& frame, FrameSocket& service) final;
  Status FromService(PassingFrame&& frame, FrameSocket& client) final;
  bool NeedsConfirmation() const final { return unconfirmed_; }
  bool MustConfirm() const final { return must_confirm_; }
  bool AskConfirmation(FrameSocket& service) final;
  bool TakeConfirmed() final { return std::exchange(confirmed_, false); }

 protected:
  explicit PortTap(Recording& recording) : recording_(recording) {}

  /// A request of the client; passes it on, or what goes in its place.
  virtual Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke,
                           PassingFrame&& frame, FrameSocket& service) = 0;
  /// A reply of the service, which is forwarded after this.
  virtual Status OnReply(uint64_t request_id, const ipc::InvokeMethodReply& reply,
                         PassingFrame& frame) = 0;
  /// A method that the service replies to at once, and that changes nothing.
  virtual std::optional<ipc::MethodName> ConfirmingMethod() const = 0;
  /// Its arguments.
  virtual std::string ConfirmingArgs() const { return {}; }
  /// The reply to it.
  virtual void OnConfirmed(const ipc::InvokeMethodReply&) {}
  /// Whether replies to earlier requests change the buffers and have not all arrived.
  virtual bool IsBeingServed() const { return false; }

  const ipc::MethodTable& methods() const { return methods_; }
  /// An id for a request that the client does not know of.
  uint64_t NextOwnRequest();
  /// Something of the recorder's own was sent.
  void SetUnconfirmed() {
    unconfirmed_ = true;
    sync_.reset();
  }
  /// Nothing may pass before what was sent until now is confirmed.
  void SetMustConfirm() {
    SetUnconfirmed();
    must_confirm_ = true;
  }
  /// What was sent last may make the service read for a file: that comes before anything else.
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
  void NoteRequest(ipc::MethodName method, const ipc::Frame& frame,
                   const ipc::InvokeMethod& invoke);
  void OnSynced();
  void FinishRound();
  /// Whether one reply shows that all is handled that was sent before the request.
  bool OneReplyConfirms() const { return !recording_.files.any() && !recording_.clones.AnyOpen(); }

  ipc::MethodTable methods_;
  std::optional<uint64_t> bind_request_;
  std::optional<uint64_t> confirmation_;  // request under way
  uint64_t highest_request_ = 0;          // of the client's
  std::optional<uint64_t> sync_;          // the client's last request, if it confirms the others
  bool awaits_sync_ = false;              // the recorder asked, and `sync_` is to answer
  uint32_t own_requests_ = 0;
  uint32_t rounds_ = 0;  // confirmations that are still needed
  uint64_t reads_ = 0;   // that files had shown when the one under way was asked for
  bool answered_ = false;
  bool unconfirmed_ = false;
  bool must_confirm_ = false;
  bool confirmed_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_PORT_TAP_H_
