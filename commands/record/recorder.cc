#include "commands/record/recorder.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "commands/record/consumer_tap.h"
#include "commands/record/producer_tap.h"

namespace ringscope::record {
namespace {

/// How often memory is looked into whose producer never says when.
constexpr std::chrono::seconds kTimerPeriod{1};
/// What is kept for a client that does not read. A consumer may be sent all that the buffers hold.
constexpr size_t kMaxForProducer = size_t{64} << 20;
constexpr size_t kMaxForConsumer = size_t{1} << 30;
/// How long no client is taken when there are no descriptors left for another.
constexpr std::chrono::milliseconds kAcceptPause{100};

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

Recorder::Recorder(EventLoop& loop, RecorderOptions options, RecorderListeners listeners,
                   RecordSink& log, Warn warn)
    : loop_(loop),
      options_(std::move(options)),
      warn_(std::move(warn)),
      buffers_([&log](OpBody body) { log.Append(std::move(body)); }, warn_),
      recording_{.log = log,
                 .buffers = buffers_,
                 .counts = counts_,
                 .scraping = options_.scraping,
                 .scrape_unasked = [this] {
                   for (const auto& [id, pair] : pairs_) pair->OnTimer();
                 }} {
  log.Append(ClockSnapshotRecord{TakeClockSnapshot()});
  for (const auto& [id, buffer] : options_.buffers) buffers_.SetUp(id, buffer);
  if (options_.config) buffers_.SetTemplate(*options_.config);
  Listen(std::move(listeners.producer), options_.producer.connect, Port::kProducer);
  if (listeners.consumer && options_.consumer)
    Listen(std::move(*listeners.consumer), options_.consumer->connect, Port::kConsumer);
  OnTimer();
}

Recorder::~Recorder() {
  for (const auto& listening : listening_) loop_.Unwatch(listening->watch);
}

void Recorder::Listen(Listener listener, const std::string& connect, Port port) {
  auto& listening = *listening_.emplace_back(
      std::make_unique<Listening>(Listening{std::move(listener), connect, port}));
  listening.watch = loop_.Watch(listening.listener.fd(), EPOLLIN,
                                [this, &listening](uint32_t) { AcceptAll(listening); });
}

void Recorder::AcceptAll(Listening& listening) {
  while (true) {
    UniqueFd client = listening.listener.Accept();
    if (client.valid()) {
      Join(std::move(client), listening);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    warn_(fmt::format("cannot take another client: {}", strerror(errno)));
    loop_.SetEvents(listening.watch, 0);
    loop_.CallAt(EventLoop::Clock::now() + kAcceptPause,
                 [this, &listening, alive = std::weak_ptr<bool>(alive_)] {
                   if (!alive.expired()) loop_.SetEvents(listening.watch, EPOLLIN);
                 });
    return;
  }
}

void Recorder::Join(UniqueFd client, const Listening& listening) {
  const PeerIdentity peer = PeerOf(client.get());
  auto service = Connect(listening.connect);
  if (!service) {
    warn_(
        fmt::format("a client (pid {}) is turned away: {}", peer.pid, service.error().ToString()));
    return;
  }
  std::unique_ptr<Tap> tap;
  if (listening.port == Port::kProducer) {
    tap = std::make_unique<ProducerTap>(recording_, peer);
  } else {
    tap = std::make_unique<ConsumerTap>(recording_, peer);
  }
  const uint64_t id = ++last_pair_;
  ConnectionPair::Options options;
  if (options_.strict_order) options.turns = &turns_;
  options.max_for_client = listening.port == Port::kProducer ? kMaxForProducer : kMaxForConsumer;
  options.on_warning = warn_;
  options.on_done = [this, id] {
    loop_.CallSoon([this, id, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) pairs_.erase(id);
    });
  };
  pairs_[id] = std::make_unique<ConnectionPair>(loop_, std::move(client), std::move(*service),
                                                std::move(tap), std::move(options));
}

void Recorder::OnTimer() {
  recording_.scrape_unasked();
  loop_.CallAt(EventLoop::Clock::now() + kTimerPeriod, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) OnTimer();
  });
}

void Recorder::Stop() {
  stopping_ = true;
  for (const auto& listening : listening_) loop_.Unwatch(listening->watch);
  listening_.clear();
  for (const auto& [id, pair] : pairs_) pair->End();
}

void Recorder::Abandon() {
  for (const auto& [id, pair] : pairs_) pair->Abandon();
}

}  // namespace ringscope::record
