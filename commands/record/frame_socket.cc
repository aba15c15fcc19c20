#include "commands/record/frame_socket.h"

#include <sys/socket.h>

namespace ringscope {
namespace {

/// Frames without descriptors are joined up to this size.
constexpr size_t kSegmentBytes = 256 * 1024;
/// More descriptors than frames that could have them: a peer would use up those of this process.
constexpr size_t kMaxPendingFds = 16;

}  // namespace

Result<IoState> FrameSocket::Receive() {
  const std::span<uint8_t> space = decoder_.Space();
  Received received = ringscope::Receive(fd_.get(), space);
  decoder_.Received(received.bytes);
  for (UniqueFd& fd : received.fds)
    pending_fds_.push_back({decoder_.received() - 1, std::move(fd)});
  if (received.fds_lost || pending_fds_.size() > kMaxPendingFds)
    return Fail(ErrorCode::kCorrupt, "sent more file descriptors than frames can have");
  // Another call that returns nothing costs as much as receiving a commit.
  if (received.state == IoState::kDone && received.bytes < space.size())
    return IoState::kWouldBlock;
  return received.state;
}

Result<std::optional<PassingFrame>> FrameSocket::NextFrame(const CarriesDescriptor& carries) {
  RS_ASSIGN_OR_RETURN(const std::optional<Bytes> whole, decoder_.Next());
  if (!whole) return std::nullopt;
  PassingFrame passing;
  RS_ASSIGN_OR_RETURN(passing.frame, ipc::ParseFrame(*whole));
  const uint64_t end = decoder_.position();
  while (!pending_fds_.empty() && (pending_fds_.front().last_byte < end ||
                                   (passing.fds.empty() && carries(passing.frame)))) {
    passing.fds.push_back(std::move(pending_fds_.front().fd));
    pending_fds_.pop_front();
  }
  return passing;
}

bool FrameSocket::HasFrame() const {
  const Bytes rest = unread();
  if (rest.size() < ipc::kFramePrefix) return false;
  const size_t size = ipc::kFramePrefix + wire::LoadLittleEndian<uint32_t>(rest.data());
  return size > ipc::kMaxFrameBytes || rest.size() >= size;
}

void FrameSocket::Queue(Bytes bytes) {
  if (bytes.empty()) return;
  if (segments_.empty() || !segments_.back().fds.empty() ||
      segments_.back().bytes.size() + bytes.size() > kSegmentBytes) {
    segments_.emplace_back().bytes = std::move(spare_);
    segments_.back().bytes.clear();
    spare_ = {};
  }
  segments_.back().bytes += wire::AsText(bytes);
  queued_ += bytes.size();
}

void FrameSocket::Queue(PassingFrame&& frame) {
  if (frame.fds.empty()) return Queue(frame.frame.whole);
  queued_ += frame.frame.whole.size();
  segments_.push_back({std::string(wire::AsText(frame.frame.whole)), 0, std::move(frame.fds)});
}

void FrameSocket::DiscardUnread() {
  decoder_ = ipc::FrameDecoder();
  pending_fds_.clear();
}

void FrameSocket::SendQueued() {
  while (!segments_.empty()) {
    Segment& segment = segments_.front();
    const Bytes rest = wire::AsBytes(segment.bytes).subspan(segment.sent);
    const bool first = segment.sent == 0;
    const Sent sent =
        Send(fd_.get(), rest,
             first ? std::span<const UniqueFd>(segment.fds) : std::span<const UniqueFd>());
    if (sent.state == IoState::kWouldBlock) return;
    if (sent.state == IoState::kClosed) {
      segments_.clear();
      queued_ = 0;
      return;
    }
    segment.sent += sent.bytes;
    queued_ -= sent.bytes;
    if (segment.sent < segment.bytes.size()) continue;
    if (segment.bytes.capacity() <= kSegmentBytes) spare_ = std::move(segment.bytes);
    segments_.pop_front();
  }
}

void FrameSocket::ShutDown() { ::shutdown(fd_.get(), SHUT_WR); }

}  // namespace ringscope
