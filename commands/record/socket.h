#ifndef RINGSCOPE_COMMANDS_RECORD_SOCKET_H_
#define RINGSCOPE_COMMANDS_RECORD_SOCKET_H_

#include <sys/types.h>

#include <deque>

#include "core/base/result.h"
#include "formats/io/byte_stream.h"
#include "formats/ipc/ipc_frame.h"

namespace ringscope {

// Unix stream sockets as Perfetto uses them. A name is a path, or "@NAME" in Linux's abstract
// namespace; a list of names is separated by commas. Sockets do not block: no signal interrupts a
// call.

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
  UniqueFd Accept() const;  // invalid: no connection waits

 private:
  Listener(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  UniqueFd fd_;
  std::string name_;
};

/// Connects to the first name of a list at which a service listens. kLimit: too many clients wait
/// for it; kNotFound: no process listens. A later try can succeed.
Result<UniqueFd> Connect(const std::string& names);

struct PeerIdentity {
  uint32_t uid = 0;
  int32_t pid = -1;  // -1: not known
};
PeerIdentity PeerOf(int socket);
/// Returns true if something has arrived, be it the connection's end.
bool HasInput(int socket);

enum class IoState : uint8_t {
  kDone,
  kDoneAll,  // received, and nothing more had arrived
  kWouldBlock,
  kClosed
};

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

/// Returns the socket at which Perfetto's tools look for a service: `variable` of the environment,
/// else one in the system's folder if there is that, else one in /tmp.
std::string DefaultServiceSocket(const char* variable, const char* kind);

/// A frame on its way, with its descriptors.
struct PassingFrame {
  ipc::Frame frame;
  std::vector<UniqueFd> fds;
};

/// Returns true for frames of a kind that descriptors come with.
using CarriesDescriptor = std::function<bool(const ipc::Frame&)>;

/// Receives and sends frames on a connected socket.
class FrameSocket {
 public:
  explicit FrameSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  /// Receives once. kCorrupt: more descriptors arrived than frames can have.
  Result<IoState> Receive();
  /// The next whole frame of what was received; valid until Receive(). The kernel hands out a
  /// descriptor together with the bytes of perhaps several frames: it belongs to the first that
  /// `carries` accepts, else to the frame that was received last with it.
  Result<std::optional<PassingFrame>> NextFrame(const CarriesDescriptor& carries);
  Bytes unread() const { return decoder_.rest(); }
  void DiscardUnread();

  void Queue(Bytes bytes);
  void Queue(PassingFrame&& frame);
  /// Sends as much as the socket takes. What is left for a peer that closed its end is dropped.
  void SendQueued();
  size_t queued() const { return queued_; }

 private:
  struct PendingFd {
    uint64_t last_byte;  // position in the stream of the last byte received with it
    UniqueFd fd;
  };
  /// Bytes to send with one call, as far as the peer takes them.
  struct Segment {
    std::string bytes;
    size_t sent = 0;
    std::vector<UniqueFd> fds = {};  // go with the first byte
  };

  UniqueFd fd_;
  ipc::FrameDecoder decoder_;
  std::deque<PendingFd> pending_fds_;
  std::deque<Segment> segments_;
  std::string spare_;  // of the last that was sent: its memory is used again
  size_t queued_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SOCKET_H_
