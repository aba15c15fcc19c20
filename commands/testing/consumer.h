#ifndef RINGSCOPE_COMMANDS_TESTING_CONSUMER_H_
#define RINGSCOPE_COMMANDS_TESTING_CONSUMER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "commands/testing/service_client.h"

namespace ringscope::testing {

/// A consumer: starts a session and reads it. It blocks.
class Consumer {
 public:
  static Result<Consumer> Connect(const std::string& socket);

  /// Starts a session. @param config an encoded TraceConfig
  /// @param file that the service writes the session into; nullptr if none
  Status EnableTracing(const std::string& config, const UniqueFd* file = nullptr);
  /// Waits for the end of the session. The service's error is one.
  Status WaitUntilDisabled();
  /// Asks for a flush. @return the request, for WaitFor
  Result<uint64_t> StartFlush(uint64_t timeout_ms = 0);
  /// Asks for a clone of another consumer's session, which is this one's then.
  /// @param file that the clone of a session with a file is written into
  Result<uint64_t> StartClone(const std::string& unique_session_name,
                              const UniqueFd* file = nullptr);
  /// Waits for the reply to a request. @return whether it reports success
  Result<bool> WaitFor(uint64_t request);
  /// Waits for the clone. An error of the service is one.
  Status WaitForClone(uint64_t request);
  Status DisableTracing();
  /// All that the session has now: packets of a trace, appended.
  Status ReadBuffers(std::string& trace);
  /// A TraceStats message.
  Result<std::string> GetTraceStats();
  Status FreeBuffers();
  /// Any request that has no reply or one. @return the reply
  Result<std::string> Call(const std::string& method, const std::string& args = {});
  void Close() { client_.Close(); }

 private:
  explicit Consumer(ServiceClient client) : client_(std::move(client)) {}
  Result<ServiceReply> ReplyTo(uint64_t request);

  ServiceClient client_;
  uint64_t enable_request_ = 0;
  std::multimap<uint64_t, ServiceReply> replies_;  // that nobody waited for yet
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_CONSUMER_H_
