#ifndef RINGSCOPE_COMMANDS_RECORD_UNIQUE_FD_H_
#define RINGSCOPE_COMMANDS_RECORD_UNIQUE_FD_H_

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace ringscope {

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { Reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  /// Another descriptor of the same file; invalid if the system has none left.
  UniqueFd Duplicate() const { return UniqueFd(::fcntl(fd_, F_DUPFD_CLOEXEC, 0)); }

 private:
  int fd_ = -1;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_UNIQUE_FD_H_
