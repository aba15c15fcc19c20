#include "commands/record/recorder.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "commands/tap/consumer_tap.h"
#include "commands/tap/producer_tap.h"

namespace ringscope::record {
namespace {

/// How often the memory of a producer that never acknowledges a flush is scraped.
constexpr std::chrono::seconds kTimerPeriod{1};
/// Bytes kept for a client that does not read. A consumer may get all that the buffers hold.
constexpr size_t kMaxForProducer = size_t{64} << 20;
constexpr size_t kMaxForConsumer = size_t{1} << 30;
/// How long no client is accepted when the descriptors are used up.
constexpr std::chrono::milliseconds kAcceptPause{100};
/// How long a client waits for a service that accepts nobody, and how often it is tried.
constexpr std::chrono::seconds kConnectTimeout{10};
constexpr std::chrono::milliseconds kConnectPause{10};

}  // namespace

Result<RecorderListeners> RecorderListeners::Open(const RecorderOptions& options) {
  RS_ASSIGN_OR_RETURN(Listener producer, Listener::Create(options.producer.listen, options.mode));
  RecorderListeners listeners{std::move(producer), std::nullopt};
  if (options.consumer) {
    RS_ASSIGN_OR_RETURN(Listener consumer,
                        Listener::Create(options.consumer->listen, options.mode));
    listeners.consumer.emplace(std::move(consumer));
  }
  return listeners;
}

Recorder::Recorder(EventLoop& loop, RecorderOptions options, RecordSink& log, Warn warn)
    : loop_(loop),
      options_(std::move(options)),
      warn_(std::move(warn)),
      buffers_([&log](OpBody body) { log.Append(std::move(body)); }, warn_),
      flushes_([&log](OpBody body) { log.Append(std::move(body)); }, buffers_),
      clones_([&log](OpBody body) { log.Append(std::move(body)); }, buffers_, instances_),
      recording_{.log = log,
                 .buffers = buffers_,
                 .instances = instances_,
                 .flushes = flushes_,
                 .clones = clones_,
                 .counts = counts_,
                 .scraping = options_.scraping,
                 .scrape_unasked = [this] {
                   for (const auto& [id, pair] : pairs_) pair->OnTimer();
                 }} {
  log.Append(ClockSnapshotRecord{TakeClockSnapshot()});
  for (const auto& [id, buffer] : options_.buffers) buffers_.SetUp(id, buffer);
  if (options_.config) buffers_.SetTemplate(*options_.config);
  OnTimer();
}

Result<std::unique_ptr<Recorder>> Recorder::Create(EventLoop& loop, RecorderOptions options,
                                                   RecorderListeners listeners, RecordSink& log,
                                                   Warn warn) {
  std::unique_ptr<Recorder> recorder(new Recorder(loop, std::move(options), log, std::move(warn)));
  const RecorderOptions& chosen = recorder->options_;
  RS_RETURN_IF_ERROR(
      recorder->Listen(std::move(listeners.producer), chosen.producer.connect, Port::kProducer));
  if (listeners.consumer && chosen.consumer) {
    RS_RETURN_IF_ERROR(recorder->Listen(std::move(*listeners.consumer), chosen.consumer->connect,
                                        Port::kConsumer));
  }
  return recorder;
}

Status Recorder::Listen(Listener listener, const std::string& connect, Port port) {
  auto& listening = *listening_.emplace_back(
      std::make_unique<Listening>(Listening{std::move(listener), connect, port, {}, {}}));
  RS_ASSIGN_OR_RETURN(listening.watch,
                      loop_.Watch(listening.listener.fd(), EPOLLIN,
                                  [this, &listening](uint32_t) { AcceptAll(listening); }));
  return {};
}

void Recorder::AcceptAll(Listening& listening) {
  while (true) {
    UniqueFd client = listening.listener.Accept();
    if (client.valid()) {
      Join({.fd = std::move(client),
            .connect = listening.connect,
            .port = listening.port,
            .until = EventLoop::Clock::now() + kConnectTimeout,
            .retry = {}});
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    warn_(fmt::format("cannot accept another client: {}", strerror(errno)));
    static_cast<void>(listening.watch.SetEvents(0));
    return PauseAccepting(listening);
  }
}

void Recorder::PauseAccepting(Listening& listening) {
  listening.resume = loop_.CallAfter(kAcceptPause, [this, &listening] {
    if (!listening.watch.SetEvents(EPOLLIN)) PauseAccepting(listening);
  });
}

void Recorder::Join(Client client) {
  const PeerIdentity peer = PeerOf(client.fd.get());
  const auto turn_away = [&](const Error& error) {
    warn_(fmt::format("a client (pid {}) is refused: {}", peer.pid, error.ToString()));
  };
  auto service = Connect(client.connect);
  if (!service) {
    const bool may_succeed = service.error().code == ErrorCode::kLimit;
    if (may_succeed && EventLoop::Clock::now() < client.until) return Retry(std::move(client));
    return turn_away(service.error());
  }
  std::unique_ptr<Tap> tap;
  if (client.port == Port::kProducer) {
    tap = std::make_unique<ProducerTap>(recording_, peer);
  } else {
    tap = std::make_unique<ConsumerTap>(recording_, peer);
  }
  const uint64_t id = ++last_id_;
  ConnectionPair::Options options;
  if (options_.strict_order) options.turns = &turns_;
  options.max_for_client = client.port == Port::kProducer ? kMaxForProducer : kMaxForConsumer;
  options.on_warning = warn_;
  options.on_done = [this, id] { OnDone(id); };
  auto pair = ConnectionPair::Create(loop_, std::move(client.fd), std::move(*service),
                                     std::move(tap), std::move(options));
  if (!pair) return turn_away(pair.error());
  pairs_[id] = std::move(*pair);
}

void Recorder::Retry(Client client) {
  const uint64_t id = ++last_id_;
  Client& waiting = waiting_[id] = std::move(client);
  waiting.retry = loop_.CallAfter(kConnectPause,
                                  [this, id] { Join(std::move(waiting_.extract(id).mapped())); });
}

void Recorder::OnDone(uint64_t id) {  // within the pair's call
  done_.push_back(id);
  destroy_done_ = loop_.CallSoon([this] {
    for (const uint64_t done : std::exchange(done_, {})) pairs_.erase(done);
  });
}

void Recorder::OnTimer() {
  recording_.scrape_unasked();
  clones_.OnTimedOut(flushes_.TakeTimedOut(EventLoop::Clock::now()));
  timer_ = loop_.CallAfter(kTimerPeriod, [this] { OnTimer(); });
}

void Recorder::Stop() {
  stopping_ = true;
  listening_.clear();
  waiting_.clear();
  for (const auto& [id, pair] : pairs_) pair->End();
}

void Recorder::Abandon() {
  for (const auto& [id, pair] : pairs_) pair->Abandon();
}

}  // namespace ringscope::record
