#ifndef RINGSCOPE_COMMANDS_TESTING_CLIENT_CONNECTION_H_
#define RINGSCOPE_COMMANDS_TESTING_CLIENT_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "commands/testing/ipc_peer.h"
#include "formats/io/message_codec.h"
#include "formats/ipc/ipc_methods.h"

namespace ringscope::testing {

/// A request of a client.
struct ClientRequest {
  ipc::MethodName method{};
  uint64_t id = 0;
  Bytes args;
  bool drop_reply = false;
  std::vector<UniqueFd> fds;
};

/// The service's end of a connection: answers the bind, hands requests to a port, sends replies.
class ClientConnection {
 public:
  /// What a client calls.
  class Port {
   public:
    virtual ~Port() = default;
    virtual void OnRequest(ClientRequest& request) = 0;
    /// The client is gone; the connection is destroyed soon.
    virtual void OnDisconnect() = 0;
  };

  ClientConnection(EventLoop& loop, UniqueFd fd, std::span<const ipc::PortMethod> methods);

  /// Hands all requests to the port, until the client goes.
  Status Serve(Port& port);
  void Reply(uint64_t request_id, const std::string& reply, bool has_more = false,
             bool success = true, const UniqueFd* fd = nullptr);
  /// Ends the connection, from this side.
  void Close();
  PeerIdentity peer() const { return PeerOf(socket_.fd()); }

 private:
  void OnReadable(uint32_t events);
  void OnFrame(PassingFrame frame);
  void SendQueued();

  EventLoop& loop_;
  FrameSocket socket_;
  const std::span<const ipc::PortMethod> methods_;
  ipc::MethodTable table_;
  Port* port_ = nullptr;
  bool closed_ = false;
  EventLoop::WatchHandle watch_;
  EventLoop::Timer end_;  // where it cannot be watched any more
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_CLIENT_CONNECTION_H_
