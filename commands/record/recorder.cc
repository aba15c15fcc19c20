#include "commands/record/recorder.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

namespace ringscope {
namespace {

/// Pause between scrapes of a producer that never acknowledges a flush.
constexpr std::chrono::seconds kTimerPeriod{1};
/// Pause in accepting clients when the descriptors are used up.
constexpr std::chrono::milliseconds kAcceptPause{100};
/// Pause between looks for a service that has ended.
constexpr std::chrono::milliseconds kProbePause{200};

}  // namespace

Result<std::vector<Listener>> Recorder::Listen(const RecorderOptions& options) {
  std::vector<Listener> listeners;
  for (const auto* const sockets :
       {&options.producer, options.consumer ? &*options.consumer : nullptr}) {
    if (sockets == nullptr) continue;
    RS_ASSIGN_OR_RETURN(Listener listener, Listener::Create(sockets->listen, options.mode));
    listeners.push_back(std::move(listener));
  }
  return listeners;
}

Recorder::Recorder(EventLoop& loop, RecorderOptions options, RecordSink& log, Warn warn)
    : options_(std::move(options)), recording_(loop, log, std::move(warn)) {
  recording_.looks = options_.looks;
  recording_.longest_wait = options_.longest_wait;
  recording_.on_service_closed = [this](const Tap& tap) { OnServiceClosed(tap); };
  log.Append(ClockSnapshotRecord{TakeClockSnapshot()});
  for (const BufferSetUp& buffer : options_.buffers) recording_.buffers.SetUp(buffer);
  OnTimer();
}

Result<std::unique_ptr<Recorder>> Recorder::Create(EventLoop& loop, RecorderOptions options,
                                                   std::vector<Listener> listeners, RecordSink& log,
                                                   Warn warn) {
  std::unique_ptr<Recorder> recorder(new Recorder(loop, std::move(options), log, std::move(warn)));
  for (size_t i = 0; i < listeners.size(); ++i) {
    auto& listening = *recorder->listening_.emplace_back(std::make_unique<Listening>());
    listening.for_producers = i == 0;
    listening.sockets = i == 0 ? recorder->options_.producer : *recorder->options_.consumer;
    listening.listener.emplace(std::move(listeners[i]));
    RS_RETURN_IF_ERROR(recorder->Watch(listening));
  }
  return recorder;
}

Status Recorder::Watch(Listening& listening) {
  if (!listening.listener) {
    RS_ASSIGN_OR_RETURN(Listener listener,
                        Listener::Create(listening.sockets.listen, options_.mode));
    listening.listener.emplace(std::move(listener));
  }
  RS_ASSIGN_OR_RETURN(listening.watch, recording_.loop.Watch(
                                           listening.listener->fd(), EPOLLIN,
                                           [this, &listening](uint32_t) { AcceptAll(listening); }));
  return {};
}

void Recorder::AcceptAll(Listening& listening) {
  while (listening.listener) {
    UniqueFd client = listening.listener->Accept();
    if (client.valid()) {
      Join(std::move(client), listening);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    recording_.warn(fmt::format("cannot accept another client: {}", std::strerror(errno)), -1);
    static_cast<void>(listening.watch->SetEvents(0));
    return PauseAccepting(listening);
  }
}

void Recorder::PauseAccepting(Listening& listening) {
  listening.resume = recording_.loop.CallAfter(kAcceptPause, [this, &listening] {
    if (listening.watch && !listening.watch->SetEvents(EPOLLIN)) PauseAccepting(listening);
  });
}

void Recorder::Join(UniqueFd client, const Listening& listening) {
  const PeerIdentity peer = PeerOf(client.get());
  const auto refuse = [&](const Error& error) {
    recording_.warn(fmt::format("a client (pid {}) is refused: {}", peer.pid, error.ToString()),
                    peer.pid);
  };
  auto service = Connect(listening.sockets.connect);
  if (!service && service.error().code == ErrorCode::kNotFound) {
    // Not now: this is an accepting socket's handler.
    check_ = recording_.loop.CallSoon([this] { CheckService(); });
    return;
  }
  if (!service) return refuse(service.error());
  if (listening.for_producers) OnConnected(*service);
  auto tap = (listening.for_producers ? NewProducerTap : NewConsumerTap)(recording_, peer);
  auto pair =
      ConnectionPair::Create(recording_, std::move(client), std::move(*service), std::move(tap));
  if (!pair) return refuse(pair.error());
  recording_.turns.Add(*std::move(pair));
}

void Recorder::OnTimer() {
  recording_.turns.ScrapeUnasked();
  recording_.flushes.OnTime(EventLoop::Clock::now());
  timer_ = recording_.loop.CallAfter(kTimerPeriod, [this] { OnTimer(); });
}

void Recorder::OnServiceClosed(const Tap& tap) {
  if (tap.has_passed() || tap.phase() == Phase::kAsked) {
    unhandled_.push_back({.reason = InexactReason::kUnhandled,
                          .detail = fmt::format("the service ended the connection of {}, and may "
                                                "not have handled its last requests",
                                                tap.Describe())});
  }
  // A service that ends may close its connections first, and stop to accept others then.
  check_ = recording_.loop.CallSoon([this] {
    CheckService();
    if (away_) return;
    recording_.buffers.EndLeft();
    check_ = recording_.loop.CallAfter(kProbePause, [this] {
      CheckService();
      if (away_) return;
      for (Inexact& mark : std::exchange(unhandled_, {}))
        recording_.log.MarkInexact(std::move(mark));
    });
  });
}

void Recorder::CheckService() {
  if (stopping_ || listening_.empty()) return;
  const auto service = Connect(options_.producer.connect);
  const bool is_away = !service && service.error().code == ErrorCode::kNotFound;
  if (is_away) check_ = recording_.loop.CallAfter(kProbePause, [this] { CheckService(); });
  if (service) OnConnected(*service);
  const bool has_changed = std::exchange(away_, is_away) != is_away;
  if (!has_changed) return is_away ? EndOfService() : void();  // once all connections are closed
  for (const auto& listening : listening_) {
    listening->watch.reset();
    listening->listener.reset();
    if (is_away) continue;
    if (const Status status = Watch(*listening); !status) {
      recording_.warn(status.error().ToString(), -1);
      away_ = true;
      check_ = recording_.loop.CallAfter(kProbePause, [this] { CheckService(); });
      return;
    }
  }
  if (is_away)
    EndOfService();
  else
    BeginOfService();
  recording_.warn(
      fmt::format("the tracing service at {} {}", options_.producer.connect,
                  is_away ? "does not run: clients can connect when it is back" : "runs"),
      -1);
}

void Recorder::OnConnected(const UniqueFd& service) {
  const int32_t process = PeerOf(service.get()).pid;
  if (std::exchange(service_, process).value_or(process) == process) return;
  EndOfService();
  BeginOfService();
}

void Recorder::EndOfService() {
  for (const auto& pair : recording_.turns.pairs()) pair->ReadServiceNow();
  for (const auto& pair : recording_.turns.pairs())
    if (pair->IsOpen()) return;  // it has only stopped to accept clients
  if (std::exchange(ended_, true)) return;
  unhandled_.clear();
  recording_.buffers.EndAll();
  recording_.flushes.Clear();
  recording_.log.Append(ServiceChanged{.running = false});
}

void Recorder::BeginOfService() {
  if (!std::exchange(ended_, false)) return;
  recording_.log.Append(ServiceChanged{.running = true});
  for (const BufferSetUp& buffer : options_.buffers) recording_.buffers.SetUp(buffer);
}

uint64_t Recorder::consumers_served() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      recording_.turns.pairs(),
      [](const auto& pair) { return pair->IsOpen() && pair->tap().HasSession(); }));
}

void Recorder::Stop() {
  stopping_ = true;
  StopListening();
  for (const auto& pair : recording_.turns.pairs()) pair->End();
}

void Recorder::Abandon() {
  for (const auto& pair : recording_.turns.pairs()) pair->Abandon();
}

}  // namespace ringscope
