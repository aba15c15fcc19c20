#ifndef RINGSCOPE_COMMANDS_TESTING_SOCKETS_IN_MEMORY_H_
#define RINGSCOPE_COMMANDS_TESTING_SOCKETS_IN_MEMORY_H_

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

// Unix sockets and epoll as far as the recorder uses them, without the kernel: the program that
// includes this file, once, gets these in place of the system's. For fuzzers: a run has hundreds of
// these calls, and in the kernel they take most of its time. One thread; nothing ever waits.
//
// Other descriptors (files, memory) are the kernel's, as before.

// What it does is of no interest to a fuzzer.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

namespace ringscope::testing {

class SocketsInMemory {
 public:
  static SocketsInMemory& Get() {
    static SocketsInMemory sockets;
    return sockets;
  }
  /// Whether the descriptor is one of these.
  bool Has(int fd) const {
    return fd >= kFirst && Slot(fd) < files_.size() && At(fd).kind != kFree;
  }

  int Socket() { return Open(kSocket); }
  int Epoll() { return Open(kEpoll); }
  void Pair(int fds[2]) {
    fds[0] = Socket();
    fds[1] = Socket();
    Join(fds[0], fds[1]);
  }
  int Bind(int fd, std::string name) {
    if (!listeners_.try_emplace(name, fd).second) return Error(EADDRINUSE);
    At(fd).name = std::move(name);
    return 0;
  }
  int Connect(int fd, const std::string& name) {
    const auto listener = listeners_.find(name);
    if (listener == listeners_.end()) return Error(ECONNREFUSED);
    if (At(listener->second).waiting.size() >= kBacklog) return Error(EAGAIN);
    const int other = Socket();
    Join(fd, other);
    At(listener->second).waiting.push_back(other);
    return 0;
  }
  int Accept(int fd) {
    std::vector<int>& waiting = At(fd).waiting;
    if (waiting.empty()) return Error(EAGAIN);
    const int accepted = waiting.front();
    waiting.erase(waiting.begin());
    return accepted;
  }
  ssize_t Send(int fd, const msghdr& message) {
    const int peer = At(fd).peer;
    if (peer < 0 || At(fd).shut_down) return Error(EPIPE);
    File& to = At(peer);
    const iovec& part = message.msg_iov[0];
    const size_t taken = std::min(part.iov_len, kCapacity - to.queued);
    if (taken == 0 && part.iov_len > 0) return Error(EAGAIN);
    if (taken == 0) return 0;
    Given given_with{to.received + to.queued, taken, {}};
    for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
         c = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(c))) {
      for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
        int given = -1;
        std::memcpy(&given, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
        given_with.fds.push_back(::dup(given));
      }
    }
    if (!given_with.fds.empty()) to.given.push_back(std::move(given_with));
    if (to.queued == 0) to.bytes.clear();
    to.bytes.append(static_cast<const char*>(part.iov_base), taken);
    to.queued += taken;
    return static_cast<ssize_t>(taken);
  }
  /// As the kernel does, it ends with the first message that has descriptors.
  ssize_t Receive(int fd, msghdr& message) {
    File& file = At(fd);
    const size_t space = message.msg_controllen;
    message.msg_controllen = 0;
    message.msg_flags = 0;
    if (file.queued == 0) return Ended(file) ? 0 : Error(EAGAIN);
    const iovec& part = message.msg_iov[0];
    size_t got = std::min(part.iov_len, file.queued);
    if (!file.given.empty()) {
      Given& first = file.given.front();
      const uint64_t end = first.begin + first.size;
      if (file.received + got > first.begin) {
        got = std::min(got, static_cast<size_t>(end - file.received));
        if (!first.fds.empty()) GiveFds(message, space, std::exchange(first.fds, {}));
      }
      if (file.received + got == end) file.given.erase(file.given.begin());
    }
    std::memcpy(part.iov_base, file.bytes.data() + (file.bytes.size() - file.queued), got);
    file.queued -= got;
    file.received += got;
    return static_cast<ssize_t>(got);
  }
  /// @return 1 if there is a byte, 0 at the end
  ssize_t Peek(int fd) {
    if (At(fd).queued > 0) return 1;
    return Ended(At(fd)) ? 0 : Error(EAGAIN);
  }
  void ShutDown(int fd) { At(fd).shut_down = true; }
  int Control(int epoll, int operation, int fd, const epoll_event* event) {
    std::vector<Watched>& watched = At(epoll).watched;
    const auto known = std::ranges::find(watched, fd, &Watched::fd);
    if (operation == EPOLL_CTL_DEL) {
      if (known != watched.end()) watched.erase(known);
    } else if (known != watched.end()) {
      known->event = *event;
    } else {
      watched.push_back({fd, *event});
    }
    return 0;
  }
  int Wait(int epoll, epoll_event* events, int count, int timeout) {
    int found = 0;
    for (const auto& [fd, wanted] : At(epoll).watched) {
      const uint32_t ready = EventsOf(fd) & (wanted.events | EPOLLHUP | EPOLLERR);
      if (ready == 0 || found == count) continue;
      events[found] = wanted;
      events[found++].events = ready;
    }
    if (found == 0 && timeout != 0) std::abort();  // nobody would ever wake it up
    return found;
  }
  bool HasInput(int fd) const { return (EventsOf(fd) & EPOLLIN) != 0; }
  void Close(int fd) {
    File file = std::exchange(At(fd), File{});
    free_.push_back(fd);
    if (file.peer >= 0) At(file.peer).peer = kGone;
    if (!file.name.empty()) listeners_.erase(file.name);
    for (const int waiting : file.waiting) Close(waiting);
    for (const Given& given : file.given)
      for (const int one : given.fds) ::close(one);
    for (File& other : files_) {
      if (other.kind != kEpoll) continue;
      std::erase_if(other.watched, [fd](const Watched& watched) { return watched.fd == fd; });
    }
  }

 private:
  enum Kind { kFree, kSocket, kEpoll };
  /// Descriptors, which come with the first byte of what was sent with them.
  struct Given {
    uint64_t begin = 0;  // in the stream
    size_t size = 0;
    std::vector<int> fds;  // empty: received
  };
  struct Watched {
    int fd;
    epoll_event event;
  };
  struct File {
    Kind kind = kFree;
    int peer = kNone;
    bool shut_down = false;  // nothing more is sent
    std::string bytes;       // that were sent to it
    size_t queued = 0;       // the last of them: not received yet
    uint64_t received = 0;   // since it was made
    std::vector<Given> given;
    std::string name;          // where it listens
    std::vector<int> waiting;  // to be accepted
    std::vector<Watched> watched;
  };
  static constexpr int kFirst = 1 << 20;
  static constexpr int kNone = -1;  // was never joined to a peer
  static constexpr int kGone = -2;
  static constexpr size_t kBacklog = 128;
  static constexpr size_t kCapacity = 200 * 1024;  // bytes on their way, about as in Linux

  static size_t Slot(int fd) { return static_cast<size_t>(fd - kFirst); }
  File& At(int fd) { return files_[Slot(fd)]; }
  const File& At(int fd) const { return files_[Slot(fd)]; }
  static int Error(int error) {
    errno = error;
    return -1;
  }
  int Open(Kind kind) {
    if (free_.empty()) {
      files_.emplace_back();
      free_.push_back(kFirst + static_cast<int>(files_.size()) - 1);
    }
    const int fd = free_.back();
    free_.pop_back();
    At(fd).kind = kind;
    return fd;
  }
  void Join(int a, int b) {
    At(a).peer = b;
    At(b).peer = a;
  }
  bool Ended(const File& file) const {
    return file.peer == kGone || (file.peer >= 0 && At(file.peer).shut_down);
  }
  uint32_t EventsOf(int fd) const {
    if (!Has(fd)) return FileEventsOf(fd);
    const File& file = At(fd);
    uint32_t events = 0;
    if (file.kind != kSocket) return events;
    if (file.queued > 0 || !file.waiting.empty() || Ended(file)) events |= EPOLLIN;
    if (Ended(file)) events |= EPOLLRDHUP;
    if (file.peer == kGone) events |= EPOLLHUP | EPOLLOUT;
    if (file.peer >= 0 && At(file.peer).queued < kCapacity) events |= EPOLLOUT;
    return events;
  }
  /// Of what the kernel has: the growth of a file that is watched.
  static uint32_t FileEventsOf(int fd) {
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    return ::syscall(SYS_poll, &entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0 ? EPOLLIN : 0;
  }
  static void GiveFds(msghdr& message, size_t space, const std::vector<int>& fds) {
    const size_t size = CMSG_SPACE(fds.size() * sizeof(int));
    if (size > space) std::abort();  // the sender takes no more than the receiver
    message.msg_controllen = size;
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
  }

  std::vector<File> files_;
  std::vector<int> free_;
  std::map<std::string, int> listeners_;
};

}  // namespace ringscope::testing

// The system's functions. Their declarations come with the headers above.
#define RS_SOCKETS ringscope::testing::SocketsInMemory::Get()
extern "C" {
int socket(int, int, int) noexcept { return RS_SOCKETS.Socket(); }
int socketpair(int, int, int, int fds[2]) noexcept {
  RS_SOCKETS.Pair(fds);
  return 0;
}
int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  return RS_SOCKETS.Bind(fd, std::string(reinterpret_cast<const char*>(address), size));
}
int listen(int, int) noexcept { return 0; }
int connect(int fd, const sockaddr* address, socklen_t size) {
  return RS_SOCKETS.Connect(fd, std::string(reinterpret_cast<const char*>(address), size));
}
int accept4(int fd, sockaddr*, socklen_t*, int) { return RS_SOCKETS.Accept(fd); }
int getsockopt(int, int, int, void* value, socklen_t* size) noexcept {
  const ucred peer = {.pid = 4711, .uid = 1000, .gid = 1000};
  std::memcpy(value, &peer, std::min<size_t>(*size, sizeof(peer)));
  return 0;
}
ssize_t sendmsg(int fd, const msghdr* message, int) { return RS_SOCKETS.Send(fd, *message); }
ssize_t recvmsg(int fd, msghdr* message, int) { return RS_SOCKETS.Receive(fd, *message); }
ssize_t recv(int fd, void*, size_t, int) { return RS_SOCKETS.Peek(fd); }
int poll(pollfd* entries, nfds_t count, int timeout) {
  if (count != 1 || !RS_SOCKETS.Has(entries->fd))
    return static_cast<int>(::syscall(SYS_poll, entries, count, timeout));
  entries->revents = RS_SOCKETS.HasInput(entries->fd) ? POLLIN : 0;
  return entries->revents != 0 ? 1 : 0;
}
int shutdown(int fd, int) noexcept {
  RS_SOCKETS.ShutDown(fd);
  return 0;
}
int epoll_create1(int) noexcept { return RS_SOCKETS.Epoll(); }
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  return RS_SOCKETS.Control(epoll, operation, fd, event);
}
int epoll_wait(int epoll, epoll_event* events, int count, int timeout) {
  return RS_SOCKETS.Wait(epoll, events, count, timeout);
}
int close(int fd) {
  if (!RS_SOCKETS.Has(fd)) return static_cast<int>(::syscall(SYS_close, fd));
  RS_SOCKETS.Close(fd);
  return 0;
}
}
#undef RS_SOCKETS
#ifdef __clang__
#pragma clang attribute pop
#endif

#endif  // RINGSCOPE_COMMANDS_TESTING_SOCKETS_IN_MEMORY_H_
