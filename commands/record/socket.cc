#include "commands/record/socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ringscope {
namespace {

constexpr size_t kMaxFds = 16;  // in one message; Perfetto sends one at a time
constexpr int kBacklog = 128;
/// Frames without descriptors are joined up to this size.
constexpr size_t kSegmentBytes = 256 * 1024;
/// More descriptors than frames that could have them: a peer would use up those of this process.
constexpr size_t kMaxPendingFds = 16;

struct Address {
  sockaddr_un un = {};
  socklen_t size = 0;
};

Result<Address> MakeAddress(const std::string& name) {
  Address address;
  address.un.sun_family = AF_UNIX;
  const size_t end = name.starts_with('@') ? 0 : 1;  // of a path, a zero
  const size_t limit = sizeof(address.un.sun_path) - end;
  if (name.empty() || name == "@" || name.size() > limit || name.find('\0') != std::string::npos) {
    return Fail(ErrorCode::kUsage, fmt::format("'{}' is not the name of a socket: expected a path, "
                                               "or @ and a name, of at most {} bytes",
                                               name, limit));
  }
  std::memcpy(address.un.sun_path, name.data(), name.size());
  if (end == 0) address.un.sun_path[0] = '\0';
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + end);
  return address;
}

const sockaddr* Raw(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.un);
}

Result<UniqueFd> MakeSocket(const std::string& name) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return SystemError("cannot make a socket", errno, name);
  return fd;
}

/// Returns true for a path that is a socket of this user at which no process listens any more.
bool IsLeftOver(const std::string& path, const Address& address) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return false;
  if (!S_ISSOCK(info.st_mode) || info.st_uid != ::geteuid()) return false;
  const auto probe = MakeSocket(path);
  return probe && ::connect(probe->get(), Raw(address), address.size) != 0 && errno == ECONNREFUSED;
}

Result<UniqueFd> ConnectTo(const std::string& name) {
  RS_ASSIGN_OR_RETURN(const Address address, MakeAddress(name));
  RS_ASSIGN_OR_RETURN(UniqueFd fd, MakeSocket(name));
  const int result = ::connect(fd.get(), Raw(address), address.size);
  if (result != 0 && errno == EAGAIN) {
    return Fail(ErrorCode::kLimit, "the tracing service does not accept connections",
                {name, {}, {}}, "too many clients wait for it; is it stopped?");
  }
  if (result != 0) {
    const int error = errno;
    const bool absent = error == ECONNREFUSED || error == ENOENT;
    return Fail(absent ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("cannot connect to the tracing service: {}", std::strerror(error)),
                {name, {}, {}},
                error == EACCES || error == EPERM
                    ? fmt::format("user {} may not write to this socket, or not enter its folder: "
                                  "run ringscope as a user that may, or as a member of the "
                                  "socket's group",
                                  ::geteuid())
                    : "check that the service is running, and that this is its socket");
  }
  return fd;
}

}  // namespace

Result<Listener> Listener::Create(const std::string& name, mode_t mode) {
  RS_ASSIGN_OR_RETURN(const Address address, MakeAddress(name));
  RS_ASSIGN_OR_RETURN(UniqueFd fd, MakeSocket(name));
  const bool has_path = !name.starts_with('@');
  // Nobody may connect before the permissions are right: Linux makes the path with those of the
  // socket, less the umask.
  if (has_path && ::fchmod(fd.get(), mode) != 0)
    return SystemError("cannot set permissions", errno, name);
  int bound = ::bind(fd.get(), Raw(address), address.size);
  if (bound != 0 && errno == EADDRINUSE && has_path && IsLeftOver(name, address)) {
    ::unlink(name.c_str());
    bound = ::bind(fd.get(), Raw(address), address.size);
  }
  if (bound != 0) {
    const int error = errno;
    return SystemError("cannot listen", error, name,
                       error == EADDRINUSE ? "this name is in use; choose another with "
                                             "--listen or --consumer-listen"
                       : error == EACCES   ? fmt::format("user {} may not make files in this "
                                                           "folder; choose another with --listen or "
                                                           "--consumer-listen",
                                                         ::geteuid())
                                           : "the folder must exist, and allow new files");
  }
  Listener listener(std::move(fd), name);
  if (has_path && ::chmod(name.c_str(), mode) != 0)  // what the umask took away
    return SystemError("cannot set permissions", errno, name);
  if (::listen(listener.fd(), kBacklog) != 0) return SystemError("cannot listen", errno, name);
  return listener;
}

Listener::~Listener() {
  if (fd_.valid() && !name_.starts_with('@')) ::unlink(name_.c_str());
}

UniqueFd Listener::Accept() const {
  int fd = -1;
  do {
    fd = ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  } while (fd < 0 && errno == ECONNABORTED);
  return UniqueFd(fd);
}

Result<UniqueFd> Connect(const std::string& names) {
  Result<UniqueFd> result = Fail(ErrorCode::kUsage, "no socket is given");
  for (size_t start = 0; start <= names.size();) {
    const size_t end = std::min(names.find(',', start), names.size());
    if (end > start) result = ConnectTo(names.substr(start, end - start));
    if (result || result.error().code == ErrorCode::kLimit) return result;
    start = end + 1;
  }
  return result;
}

PeerIdentity PeerOf(int socket) {
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
  return {credentials.uid, credentials.pid > 0 ? credentials.pid : -1};
}

bool HasInput(int socket) {
  pollfd entry = {socket, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

Received Receive(int socket, std::span<uint8_t> into) {
  iovec part = {into.data(), into.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  Received received;
  if (got < 0) {
    const bool again = errno == EAGAIN || errno == EWOULDBLOCK;
    received.state = again ? IoState::kWouldBlock : IoState::kClosed;
    return received;
  }
  received.bytes = static_cast<size_t>(got);
  if (got == 0) received.state = IoState::kClosed;
  // With descriptors the kernel stops where they belong, though there may be more.
  else if (received.bytes < into.size() && message.msg_controllen == 0)
    received.state = IoState::kDoneAll;
  received.fds_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      received.fds.emplace_back(fd);
    }
  }
  return received;
}

Sent Send(int socket, Bytes bytes, std::span<const UniqueFd> fds) {
  iovec part = {const_cast<uint8_t*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    const size_t count = std::min(fds.size(), kMaxFds);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; ++i) {
      const int fd = fds[i].get();
      std::memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(int));
    }
  }
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  if (sent >= 0) return {IoState::kDone, static_cast<size_t>(sent)};
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK;
  return {again ? IoState::kWouldBlock : IoState::kClosed, 0};
}

std::string DefaultServiceSocket(const char* variable, const char* kind) {
  if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
    return value;
  std::error_code ignored;
  if (std::filesystem::is_directory("/run/perfetto", ignored))
    return fmt::format("/run/perfetto/traced-{}.sock", kind);
  return fmt::format("/tmp/perfetto-{}", kind);
}

Result<IoState> FrameSocket::Receive() {
  Received received = ringscope::Receive(fd_.get(), decoder_.Space());
  decoder_.Received(received.bytes);
  for (UniqueFd& fd : received.fds)
    pending_fds_.push_back({decoder_.received() - 1, std::move(fd)});
  if (received.fds_lost || pending_fds_.size() > kMaxPendingFds)
    return Fail(ErrorCode::kCorrupt, "sent more file descriptors than frames can have");
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

void FrameSocket::Queue(Bytes bytes) {
  if (bytes.empty()) return;
  if (segments_.empty() || !segments_.back().fds.empty() ||
      segments_.back().bytes.size() + bytes.size() > kSegmentBytes)
    segments_.push_back({.bytes = std::exchange(spare_, {})});
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
    const Sent sent =
        Send(fd_.get(), wire::AsBytes(segment.bytes).subspan(segment.sent), segment.fds);
    if (sent.state == IoState::kWouldBlock) return;
    if (sent.state == IoState::kClosed) {
      segments_.clear();
      queued_ = 0;
      return;
    }
    segment.fds.clear();
    segment.sent += sent.bytes;
    queued_ -= sent.bytes;
    if (segment.sent < segment.bytes.size()) continue;
    spare_ = std::move(segment.bytes);
    spare_.clear();
    segments_.pop_front();
  }
}

}  // namespace ringscope
