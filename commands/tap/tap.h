#ifndef RINGSCOPE_COMMANDS_TAP_TAP_H_
#define RINGSCOPE_COMMANDS_TAP_TAP_H_

#include <string>

#include "commands/system/frame_socket.h"
#include "core/base/result.h"

namespace ringscope::record {

/// What is between a client and the service: it sees each frame and puts it, or what is forwarded
/// instead, into the other side's queue. An error ends the connection; it names what the peer did
/// ("sent ...").
class Tap {
 public:
  virtual ~Tap() = default;

  virtual bool CarriesDescriptor(const ipc::Frame& frame) const = 0;
  virtual Status FromClient(PassingFrame&& frame, FrameSocket& service) = 0;
  virtual Status FromService(PassingFrame&& frame, FrameSocket& client) = 0;
  /// The connection ends: called once, before the service is notified.
  /// @param service nullptr: it is the service that has gone
  virtual void OnDisconnect(FrameSocket* service) = 0;
  /// Whether it has something to send without a frame that causes it.
  virtual bool WantsTimer() const = 0;
  /// If so: called about once a second, and before another client makes the service scrape.
  virtual void OnTimer(FrameSocket& service) = 0;

  /// Whether the service can be asked to confirm that it has handled what was sent.
  virtual bool CanConfirm() const = 0;
  /// Asks for it, unless there is nothing to confirm. The answer is not passed on. TakeConfirmed is
  /// true, once, when it has arrived.
  virtual void AskConfirmation(FrameSocket& service) = 0;
  virtual bool TakeConfirmed() = 0;

  /// Who the client is, for messages: "producer 3 (app, pid 17)".
  virtual std::string Describe() const = 0;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_TAP_H_
