#ifndef RINGSCOPE_COMMANDS_RECORD_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_TAP_H_

#include <string>

#include "commands/record/frame_socket.h"
#include "core/result.h"

namespace ringscope::record {

/// What stands between a client and the service: it sees each frame and puts it, or what goes on in
/// its place, into the other side's queue. An error ends the connection; it says what the peer did
/// ("sent ...").
class Tap {
 public:
  virtual ~Tap() = default;

  virtual bool CarriesDescriptor(const ipc::Frame& frame) const = 0;
  virtual Status FromClient(PassingFrame&& frame, FrameSocket& service) = 0;
  virtual Status FromService(PassingFrame&& frame, FrameSocket& client) = 0;
  /// The connection ends: called once, before the service is told.
  /// @param service nullptr: it is the service that has gone
  virtual void OnDisconnect(FrameSocket* service) = 0;
  /// Whether it has something to say that nothing on the socket gives it occasion for.
  virtual bool WantsTimer() const = 0;
  /// If it does: called about once a second, and before what the others do makes the service look.
  virtual void OnTimer(FrameSocket& service) = 0;

  /// Whether the service's having handled what was sent can be asked for.
  virtual bool CanConfirm() const = 0;
  /// Asks for it, unless there is nothing to ask for. The answer goes no further. TakeConfirmed is
  /// true, once, when it has come.
  virtual void AskConfirmation(FrameSocket& service) = 0;
  virtual bool TakeConfirmed() = 0;

  /// Who the client is, for messages: "producer 3 (app, pid 17)".
  virtual std::string Describe() const = 0;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_TAP_H_
