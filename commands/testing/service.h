#ifndef RINGSCOPE_COMMANDS_TESTING_SERVICE_H_
#define RINGSCOPE_COMMANDS_TESTING_SERVICE_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "commands/testing/tracing_service.h"

namespace ringscope::testing {

struct ServiceOptions {
  std::string producer_socket;
  std::string consumer_socket;
  TracingServiceOptions tracing = {};
};

/// A tracing service at work, in a thread of its own, at two sockets.
class Service {
 public:
  static Result<std::unique_ptr<Service>> Start(ServiceOptions options);
  /// Ends all connections.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const ServiceOptions& options() const { return options_; }

 private:
  Service(ServiceOptions options, Listener producers, Listener consumers,
          std::unique_ptr<EventLoop> loop);
  void Serve();

  const ServiceOptions options_;
  const Listener producers_;
  const Listener consumers_;
  const std::unique_ptr<EventLoop> loop_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SERVICE_H_
