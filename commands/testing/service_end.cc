#include "commands/testing/service_end.h"

#include <sys/socket.h>

#include <utility>

namespace ringscope::testing {
ServiceEnd::ServiceEnd(BlockingPeer peer, Answer answer)
    : peer_(std::move(peer)), answer_(std::move(answer)), thread_([this] { Run(); }) {}

void ServiceEnd::Run() {
  while (auto frame = peer_.Read()) {
    const ipc::Frame parsed = frame->Parse();
    const auto* const invoke = std::get_if<ipc::InvokeMethod>(&parsed.body);
    if (invoke == nullptr || parsed.request_id < kFirstOfRecorder || invoke->drop_reply) {
      const std::lock_guard lock(mutex_);
      frames_.push_back(std::move(*frame));
      changed_.notify_all();
      continue;
    }
    const std::string content = answer_(*invoke);
    std::string reply;
    ipc::AppendInvokeReply(reply, parsed.request_id,
                           {.success = true, .has_more = false, .reply = wire::AsBytes(content)});
    {
      const std::lock_guard lock(mutex_);
      ++asked_;
    }
    Send(reply);
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool ServiceEnd::Send(std::string_view bytes, int with_fd) {
  const std::lock_guard lock(send_mutex_);
  return peer_.Send(bytes, with_fd);
}

std::optional<ReceivedFrame> ServiceEnd::Read() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !frames_.empty() || ended_; });
  if (frames_.empty()) return std::nullopt;
  ReceivedFrame frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

bool ServiceEnd::ReadToEnd() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
  return true;
}

void ServiceEnd::Close() {
  if (!thread_.joinable()) return;
  ::shutdown(peer_.fd(), SHUT_RDWR);
  thread_.join();
  peer_.Close();
}

size_t ServiceEnd::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

}  // namespace ringscope::testing
