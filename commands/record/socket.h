#ifndef RINGSCOPE_COMMANDS_RECORD_SOCKET_H_
#define RINGSCOPE_COMMANDS_RECORD_SOCKET_H_

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "commands/record/unique_fd.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace ringscope {

// Unix stream sockets as Perfetto uses them. A name is a path, or "@NAME" in Linux's abstract
// namespace; a list of names is separated by commas. Sockets do not block.

/// A listening socket; a path is removed again with it.
class Listener {
 public:
  /// Binds and listens. A path at which an ended process of this user listened is replaced; one
  /// that is in use is an error.
  /// @param mode permissions of a path; abstract names have none
  static Result<Listener> Create(const std::string& name, mode_t mode);
  ~Listener();
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  /// The next waiting connection; invalid if there is none.
  UniqueFd Accept() const;

 private:
  Listener(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  UniqueFd fd_;
  std::string name_;
};

/// Connects to the first name of a list at which a service listens. kLimit: it has as many waiting
/// connections as it allows; kNotFound: no process listens. A later try can succeed.
Result<UniqueFd> Connect(const std::string& names);

struct PeerIdentity {
  uint32_t uid = 0;
  int32_t pid = -1;  // -1: not known
};
PeerIdentity PeerOf(int socket);
/// Whether something has arrived, be it the connection's end.
bool HasInput(int socket);
/// Whether the peer has closed its end and nothing is left to receive.
bool IsClosed(int socket);

enum class IoState : uint8_t { kDone, kWouldBlock, kClosed };

struct Received {
  IoState state = IoState::kDone;  // kClosed: the peer closed its end, or an error
  size_t bytes = 0;
  std::vector<UniqueFd> fds;
  bool fds_lost = false;  // more descriptors arrived than can be received
};
/// Receives once.
Received Receive(int socket, std::span<uint8_t> into);

struct Sent {
  IoState state = IoState::kDone;
  size_t bytes = 0;
};
/// Sends once, as much as the socket takes, with the descriptors on the first byte.
Sent Send(int socket, Bytes bytes, std::span<const UniqueFd> fds);

/// Where Perfetto's tools look for a service's socket: `variable` of the environment, else the
/// system's folder if there is one, else /tmp.
std::string DefaultServiceSocket(const char* variable, const char* kind);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SOCKET_H_
