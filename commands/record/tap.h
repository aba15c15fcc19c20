#ifndef RINGSCOPE_COMMANDS_RECORD_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_TAP_H_

#include <chrono>
#include <optional>
#include <string>

#include "commands/record/frame_socket.h"
#include "core/base/result.h"

namespace ringscope {

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
  /// Whether the service scrapes this client's memory without a frame that shows it.
  virtual bool WantsScrape() const = 0;
  /// If so: sends what is in the memory. Called about once a second, and before a frame that makes
  /// the service scrape.
  virtual void Scrape(FrameSocket& service) = 0;
  /// Looks into the client's memory, if that is due although nothing passes.
  /// @return when the next such look is due; nullopt: none is
  virtual std::optional<std::chrono::steady_clock::time_point> LookAgain() { return std::nullopt; }
  /// Whether this frame of the client makes the service scrape all clients that it does not ask.
  virtual bool CausesScrapes(const ipc::Frame& frame) const = 0;

  // The order in which the service handles what its clients send is the order of forwarding only if
  // it confirms what one has sent before another's frames pass.

  /// Whether frames of the client may pass now: not while a clone waits for others.
  virtual bool MayPass() const = 0;
  /// Whether the service's frames must wait: what they mean depends on an answer that is under way.
  virtual bool HoldsServiceFrames() const = 0;
  /// Whether something was passed on that the service has not confirmed.
  virtual bool NeedsConfirmation() const = 0;
  /// Whether nothing more may pass until it is confirmed.
  virtual bool MustConfirm() const = 0;
  /// Asks for a confirmation, whose answer is not passed on. @return false: there is no way to
  virtual bool AskConfirmation(FrameSocket& service) = 0;
  /// True, once, when the answer has arrived. More may be needed: see NeedsConfirmation.
  virtual bool TakeConfirmed() = 0;

  /// Whether a tracing session, or a clone, would be lost with this connection.
  virtual bool HasSession() const = 0;
  /// Who the client is, for messages: "producer 3 (app, pid 17)".
  virtual std::string Describe() const = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_TAP_H_
