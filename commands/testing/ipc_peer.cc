#include "commands/testing/ipc_peer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>

namespace ringscope::testing {
namespace {

constexpr int kPatienceMs = 30'000;

/// @return false: not in time
bool WaitFor(int fd, short events) {
  pollfd entry = {fd, events, 0};
  return ::poll(&entry, 1, kPatienceMs) == 1;
}

}  // namespace

bool IsClosed(int socket) {
  char byte = 0;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

std::pair<UniqueFd, UniqueFd> MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0) std::abort();
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

BlockingPeer::BlockingPeer(UniqueFd fd) : fd_(std::move(fd)) {}

bool BlockingPeer::Send(std::string_view bytes, int with_fd) {
  std::vector<UniqueFd> fds;
  if (with_fd >= 0) fds.emplace_back(::dup(with_fd));
  while (!bytes.empty()) {
    const Sent sent = ringscope::Send(fd_.get(), wire::AsBytes(bytes), fds);
    if (sent.state == IoState::kClosed) return false;
    if (sent.state == IoState::kWouldBlock && !WaitFor(fd_.get(), POLLOUT)) return false;
    if (sent.bytes > 0) fds.clear();
    bytes.remove_prefix(sent.bytes);
  }
  return true;
}

bool BlockingPeer::ReceiveSome() {
  std::vector<uint8_t> buffer(read_size_);
  while (true) {
    Received received = Receive(fd_.get(), buffer);
    if (received.state == IoState::kClosed) return false;
    if (received.state == IoState::kWouldBlock) {
      if (!WaitFor(fd_.get(), POLLIN)) return false;
      continue;
    }
    const std::string_view text = wire::AsText(Bytes(buffer).first(received.bytes));
    pending_ += text;
    received_ += text;
    for (UniqueFd& fd : received.fds) fds_.push_back(std::move(fd));
    return true;
  }
}

std::optional<ReceivedFrame> BlockingPeer::Read() {
  while (true) {
    if (pending_.size() >= ipc::kFramePrefix) {
      const size_t size =
          ipc::kFramePrefix +
          wire::LoadLittleEndian<uint32_t>(reinterpret_cast<const uint8_t*>(pending_.data()));
      if (pending_.size() >= size) {
        ReceivedFrame frame{pending_.substr(0, size), std::move(fds_)};
        fds_.clear();
        pending_.erase(0, size);
        return frame;
      }
    }
    if (!ReceiveSome()) return std::nullopt;
  }
}

bool BlockingPeer::ReadToEnd() {
  while (ReceiveSome()) {
  }
  return WaitFor(fd_.get(), POLLIN);
}

BlockingPeer ConnectPeer(const std::string& socket) {
  return BlockingPeer(Connect(socket).value());
}

BlockingPeer AcceptPeer(const Listener& listener) {
  WaitFor(listener.fd(), POLLIN);
  return BlockingPeer(listener.Accept());
}

std::string UniqueSocketName(const std::string& purpose) {
  static std::atomic<int> last = 0;
  return fmt::format("@ringscope-test-{}-{}-{}", purpose, ::getpid(), ++last);
}

std::string EnableTracingArgs(FillPolicy policy) {
  constexpr uint64_t kRingBuffer = 1;
  ipc::TraceConfig config;
  config.buffers.push_back(
      {.size_kb = 64,
       .fill_policy = policy == FillPolicy::kDiscard ? ipc::kFillPolicyDiscard : kRingBuffer,
       .experimental_mode = ipc::kExperimentalModeV2});
  config.data_sources.push_back({{"source.p", 0}});
  const std::string encoded = Encode(config);
  std::string args;
  wire::AppendBytes(args, 1, wire::AsBytes(encoded));
  return args;
}

}  // namespace ringscope::testing
