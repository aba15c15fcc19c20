#include "commands/testing/service.h"

#include <sys/epoll.h>

#include <utility>

namespace ringscope::testing {

Result<std::unique_ptr<Service>> Service::Start(ServiceOptions options) {
  constexpr mode_t kMode = 0600;
  RS_ASSIGN_OR_RETURN(Listener producers, Listener::Create(options.producer_socket, kMode));
  RS_ASSIGN_OR_RETURN(Listener consumers, Listener::Create(options.consumer_socket, kMode));
  RS_ASSIGN_OR_RETURN(auto loop, EventLoop::Create());
  return std::unique_ptr<Service>(
      new Service(std::move(options), std::move(producers), std::move(consumers), std::move(loop)));
}

Service::Service(ServiceOptions options, Listener producers, Listener consumers,
                 std::unique_ptr<EventLoop> loop)
    : options_(std::move(options)),
      producers_(std::move(producers)),
      consumers_(std::move(consumers)),
      loop_(std::move(loop)),
      thread_([this] { Serve(); }) {}

Service::~Service() {
  stop_ = true;
  loop_->Wake();
  thread_.join();
}

void Service::Serve() {
  TracingService service(*loop_, options_.tracing);
  const auto accept = [&](const Listener& listener, void (TracingService::*add)(UniqueFd)) {
    for (UniqueFd fd = listener.Accept(); fd.valid(); fd = listener.Accept())
      (service.*add)(std::move(fd));
  };
  const auto producers = loop_->Watch(producers_.fd(), EPOLLIN, [&](uint32_t) {
    accept(producers_, &TracingService::AddProducer);
  });
  const auto consumers = loop_->Watch(consumers_.fd(), EPOLLIN, [&](uint32_t) {
    accept(consumers_, &TracingService::AddConsumer);
  });
  loop_->RunUntil([this] { return stop_.load(); });
}

}  // namespace ringscope::testing
