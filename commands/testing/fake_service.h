#ifndef RINGSCOPE_COMMANDS_TESTING_FAKE_SERVICE_H_
#define RINGSCOPE_COMMANDS_TESTING_FAKE_SERVICE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/loop_wake.h"
#include "commands/testing/tracing_service.h"

namespace ringscope::testing {

struct FakeServiceOptions {
  std::string producer_socket = UniqueSocketName("service-producer");
  std::string consumer_socket = UniqueSocketName("service-consumer");
  TracingServiceOptions tracing = {};
};

/// A tracing service at work, in a thread of its own, at two sockets.
class FakeService {
 public:
  explicit FakeService(FakeServiceOptions options = {});
  /// Ends all connections.
  ~FakeService();
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  const std::string& producer_socket() const { return options_.producer_socket; }
  const std::string& consumer_socket() const { return options_.consumer_socket; }

  /// Flushes the session that traces everything.
  void Flush();
  /// Sends a command to the producer of this name.
  void Command(const std::string& producer, const ipc::AsyncCommand& command);
  /// Returns what was done to the buffers by all producers, in order: "NAME: chunk ...".
  std::vector<std::string> effects() const { return journal_.effects(); }
  /// Waits until so many producers have gone. @return by their names
  std::map<std::string, GoneProducer> WaitForEnds(size_t count) {
    return journal_.WaitForEnds(count);
  }

 private:
  using Task = std::function<void(TracingService&)>;
  void Run(Task task);
  void Serve();

  const FakeServiceOptions options_;
  const Listener producers_;
  const Listener consumers_;
  const std::unique_ptr<EventLoop> loop_;
  const LoopWake wake_;
  ServiceJournal journal_;
  std::mutex mutex_;
  std::vector<Task> tasks_;  // not run yet
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_FAKE_SERVICE_H_
