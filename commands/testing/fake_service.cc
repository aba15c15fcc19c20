#include "commands/testing/fake_service.h"

#include <sys/epoll.h>

#include <utility>

namespace ringscope::testing {
namespace {

constexpr mode_t kSocketMode = 0600;

}  // namespace

FakeService::FakeService(FakeServiceOptions options)
    : options_(std::move(options)),
      producers_(Listener::Create(options_.producer_socket, kSocketMode).value()),
      consumers_(Listener::Create(options_.consumer_socket, kSocketMode).value()),
      loop_(EventLoop::Create().value()),
      wake_(*loop_),
      thread_([this] { Serve(); }) {}

FakeService::~FakeService() {
  stop_ = true;
  wake_();
  thread_.join();
}

void FakeService::Serve() {
  TracingService service(*loop_, options_.tracing, journal_);
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
  loop_->RunUntil([&] {
    std::vector<Task> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const Task& task : tasks) task(service);
    return stop_.load();
  });
}

void FakeService::Run(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_();
}

void FakeService::Flush() {
  Run([](TracingService& service) { service.FlushAll(); });
}

void FakeService::Command(const std::string& producer, const ipc::AsyncCommand& command) {
  Run([=](TracingService& service) { service.SendTo(producer, command); });
}

}  // namespace ringscope::testing
