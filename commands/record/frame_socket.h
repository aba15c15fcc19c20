#ifndef RINGSCOPE_COMMANDS_RECORD_FRAME_SOCKET_H_
#define RINGSCOPE_COMMANDS_RECORD_FRAME_SOCKET_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/record/socket.h"
#include "formats/ipc/ipc_frame.h"

namespace ringscope {

/// A frame on its way, with its descriptors.
struct PassingFrame {
  ipc::Frame frame;
  std::vector<UniqueFd> fds;
};

/// Whether a frame is of a kind that descriptors come with.
using CarriesDescriptor = std::function<bool(const ipc::Frame&)>;

/// Receives and sends frames on a connected socket.
class FrameSocket {
 public:
  explicit FrameSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  /// Receives once. kDone: there may be more; kWouldBlock: there is no more for now, though
  /// something may have arrived. kCorrupt: more descriptors arrived than frames can have.
  Result<IoState> Receive();
  /// The next whole frame of what was received; valid until Receive().
  ///
  /// The kernel hands out a descriptor together with the bytes around it, perhaps those of several
  /// frames: it belongs to the first that `carries` accepts, else to the frame that was
  /// received last with it.
  Result<std::optional<PassingFrame>> NextFrame(const CarriesDescriptor& carries);
  /// Whether NextFrame has something to return: a frame, or an error.
  bool HasFrame() const;
  /// Bytes received that NextFrame has not returned.
  Bytes unread() const { return decoder_.rest(); }
  void DiscardUnread();

  /// Queues bytes to send; SendQueued sends them.
  void Queue(Bytes bytes);
  /// Queues a frame; its descriptors go out with it, and with no other.
  void Queue(PassingFrame&& frame);
  /// Sends as much as the socket takes. What is left for a peer that closed its end is dropped.
  void SendQueued();
  size_t queued() const { return queued_; }
  /// Shows the peer that nothing follows; it may still send.
  void ShutDown();

 private:
  struct PendingFd {
    uint64_t last_byte;  // position in the stream of the last byte received with it
    UniqueFd fd;
  };
  /// Bytes to send with one call, as far as the peer takes them.
  struct Segment {
    std::string bytes;
    size_t sent = 0;
    std::vector<UniqueFd> fds;  // go with the first byte
  };

  UniqueFd fd_;
  ipc::FrameDecoder decoder_;
  std::deque<PendingFd> pending_fds_;
  std::deque<Segment> segments_;
  size_t queued_ = 0;
  std::string spare_;  // memory of a segment that was sent
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_FRAME_SOCKET_H_
