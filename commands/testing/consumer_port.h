#ifndef RINGSCOPE_COMMANDS_TESTING_CONSUMER_PORT_H_
#define RINGSCOPE_COMMANDS_TESTING_CONSUMER_PORT_H_

#include <optional>
#include <string>

#include "commands/testing/client_connection.h"
#include "commands/testing/service_messages.h"

namespace ringscope::testing {

class TracingService;
struct TracingSession;

/// A consumer, as the service sees it.
class ConsumerPort : public ClientConnection::Port {
 public:
  ConsumerPort(TracingService& service, EventLoop& loop, UniqueFd fd);

  Status Serve() { return connection_.Serve(*this); }
  void OnRequest(ClientRequest& request) override;
  void OnDisconnect() override;

  /// The session is over: the reply to EnableTracing.
  void OnTracingDisabled(TracingSession& session, const std::string& error = {});
  void OnAllStarted();
  void OnCloneTrigger(const CloneTriggerHit& hit);

 private:
  void EnableTracing(ClientRequest& request);
  void CloneSession(ClientRequest& request);
  void ReadBuffers(uint64_t request_id);
  void SendEvents(uint32_t field, const std::string& content);

  TracingService& service_;
  ClientConnection connection_;
  std::optional<uint64_t> observe_request_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_CONSUMER_PORT_H_
