#ifndef RINGSCOPE_COMMANDS_TESTING_SERVICE_END_H_
#define RINGSCOPE_COMMANDS_TESTING_SERVICE_END_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "commands/testing/ipc_peer.h"

namespace ringscope::testing {

/// The service's end of a connection through a recorder, for tests that play the service step by
/// step. What the recorder asks by itself is answered at once, by a thread, and not returned.
class ServiceEnd {
 public:
  /// Makes the content of the reply to a request of the recorder's own.
  using Answer = std::function<std::string(const ipc::InvokeMethod&)>;
  static std::string EmptyAnswer(const ipc::InvokeMethod&) { return {}; }

  explicit ServiceEnd(BlockingPeer peer, Answer answer = EmptyAnswer);
  ~ServiceEnd() { Close(); }
  ServiceEnd(const ServiceEnd&) = delete;
  ServiceEnd& operator=(const ServiceEnd&) = delete;

  /// As of BlockingPeer.
  bool Send(std::string_view bytes, int with_fd = -1);
  std::optional<ReceivedFrame> Read();
  bool ReadToEnd();
  void Close();
  /// How often the recorder has asked.
  size_t asked() const;

 private:
  void Run();

  BlockingPeer peer_;
  const Answer answer_;
  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ReceivedFrame> frames_;
  size_t asked_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SERVICE_END_H_
