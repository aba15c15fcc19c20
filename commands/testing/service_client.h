#ifndef RINGSCOPE_COMMANDS_TESTING_SERVICE_CLIENT_H_
#define RINGSCOPE_COMMANDS_TESTING_SERVICE_CLIENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "commands/record/socket.h"
#include "core/base/result.h"

namespace ringscope::testing {

/// A reply to a request, or one of several.
struct ServiceReply {
  uint64_t request_id = 0;
  bool success = false;
  bool has_more = false;
  std::string content;
  std::vector<UniqueFd> fds;
};

/// A client's end of a connection to a tracing service. It blocks: each wait ends with what it
/// waits for, with the connection, or after half a minute.
class ServiceClient {
 public:
  /// Connects to a socket and binds to a port of the service, such as "ProducerPort".
  static Result<ServiceClient> Connect(const std::string& socket, std::string_view port);

  /// Sends a request. @return its id
  Result<uint64_t> Invoke(const std::string& method, const std::string& args, bool drop_reply,
                          const UniqueFd* fd = nullptr);
  /// Waits for the next reply to any request.
  Result<ServiceReply> Read();
  /// The next reply that has arrived; nullopt if there is none for now.
  Result<std::optional<ServiceReply>> Poll();
  /// Ends the connection.
  void Close() { socket_.reset(); }

 private:
  explicit ServiceClient(UniqueFd fd) : socket_(std::move(fd)) {}
  Status Bind(std::string_view port);
  Status Flush();
  /// Waits for the socket. @param events of poll
  Status Wait(short events) const;
  /// The next frame; nullopt if there is none, and `wait` is not set.
  Result<std::optional<PassingFrame>> NextFrame(bool wait);

  std::optional<FrameSocket> socket_;
  uint64_t service_ = 0;
  uint64_t last_request_ = 0;
  std::map<std::string, uint64_t> methods_;
  std::optional<uint64_t> command_request_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SERVICE_CLIENT_H_
