#ifndef RINGSCOPE_COMMANDS_TESTING_CLIENT_CONNECTION_H_
#define RINGSCOPE_COMMANDS_TESTING_CLIENT_CONNECTION_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "commands/testing/ipc_peer.h"
#include "formats/io/message_codec.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope::testing {

/// A request of a client.
struct ClientRequest {
  ipc::MethodName method{};
  uint64_t id = 0;
  Bytes args;
  bool drop_reply = false;
  std::vector<UniqueFd> fds;
};

class ClientConnection;

/// Lets connections handle the frames that have arrived in random order.
class FrameShuffle {
 public:
  explicit FrameShuffle(EventLoop& loop) : loop_(loop) {}

  /// The connection has frames that are not handled.
  void Add(ClientConnection& connection);
  void Remove(ClientConnection& connection) { std::erase(waiting_, &connection); }

 private:
  void HandleSome();

  EventLoop& loop_;
  std::mt19937 random_;
  std::vector<ClientConnection*> waiting_;
  EventLoop::Timer next_;
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

  /// @param shuffle of the frames; nullptr if they are handled as they arrive
  ClientConnection(EventLoop& loop, UniqueFd fd, std::string_view port_name,
                   FrameShuffle* shuffle = nullptr);
  ~ClientConnection() {
    if (shuffle_ != nullptr) shuffle_->Remove(*this);
  }

  /// Hands all requests to the port, until the client goes.
  Status Serve(Port& port);
  void Reply(uint64_t request_id, const std::string& reply, bool has_more = false,
             bool success = true, const UniqueFd* fd = nullptr);
  /// Ends the connection, from this side.
  void Close();
  PeerIdentity peer() const { return PeerOf(socket_.fd()); }
  /// Keeps the bytes of all frames from now on, for TakeReceived.
  void KeepReceived() { received_.emplace(); }
  std::string TakeReceived() { return std::exchange(received_, {}).value_or(""); }

  /// For the shuffle: handles the next frame. @return true if there are more
  bool HandleNext();

 private:
  struct WaitingFrame {
    std::string bytes;
    std::vector<UniqueFd> fds;
  };
  void OnReadable(uint32_t events);
  void OnFrame(PassingFrame frame);
  void SendQueued();

  EventLoop& loop_;
  FrameSocket socket_;
  const std::string_view port_name_;
  FrameShuffle* const shuffle_;
  std::deque<WaitingFrame> waiting_;
  std::optional<std::string> received_;
  ipc::MethodTable table_;
  Port* port_ = nullptr;
  bool closed_ = false;
  EventLoop::WatchHandle watch_;
  EventLoop::Timer end_;  // where it cannot be watched any more
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_CLIENT_CONNECTION_H_
