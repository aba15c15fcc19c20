#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "commands/record/tap.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {
namespace {

/// Bytes of packets, as they go into the trace, after which the service ends a pass.
constexpr uint64_t kPassBytes = 32768;

/// Parses a message as far as it is well-formed.
template <typename Message>
Message DecodeSome(Bytes bytes) {
  Message message;
  static_cast<void>(DecodeMessage(bytes, message));
  return message;
}

/// Logs what a consumer does with its session, and what the service reports to it: the trace config
/// and its buffers, start and stop, reads, flushes, clones, and when the buffers are freed.
class ConsumerTap : public Tap {
 public:
  using Tap::Tap;

  /// The service scrapes the producers that it does not ask to flush.
  Result<bool> Prepare(const ipc::Frame* next, FrameSocket&) override {
    using enum ipc::MethodName;
    const ipc::MethodName method = next == nullptr ? kUnknown : MethodOf(*next);
    const bool scrapes = method == kDisableTracing || method == kFlush || method == kCloneSession;
    return scrapes && recording_.turns.ScrapeUnasked();
  }
  OrderedBuffers BuffersOf(const ipc::Frame* next) const override {
    using enum ipc::MethodName;
    switch (next == nullptr ? kUnknown : MethodOf(*next)) {
      case kReadBuffers:
        return {.all = recording_.flushes.IsCloning(ReadBuffers()) && !clone_,
                .ids = ReadBuffers()};
      case kGetTraceStats:
      case kObserveEvents:
      case kQueryServiceState:
      case kQueryCapabilities:
        return {};
      default:
        return {.all = true};
    }
  }
  bool IsBeingServed() const override { return reads_in_order_; }
  void StopWaiting() override {
    if (std::exchange(reads_in_order_, false)) ReadFreely(ReadBuffers());
    Take(Step::kReply);
  }
  std::set<BufferId> InOrder() const override { return read_freely_; }
  bool HasSession() const override { return session_ || clone_ || !clone_requests_.empty(); }
  std::string Describe() const override { return fmt::format("a consumer (pid {})", peer().pid); }

 private:
  Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke, PassingFrame&& frame,
                   FrameSocket& service) override {
    using enum ipc::MethodName;
    // One that only waits for the end of an attached session begins none.
    if (method == kEnableTracing &&
        wire::NumberIn(invoke.args, proto::EnableTracingRequest::kAttachNotificationOnly) == 0)
      RS_RETURN_IF_ERROR(OnEnableTracing(invoke, frame));
    if (method == kStartTracing && session_) recording_.buffers.MarkStarted(*session_);
    if (method == kReadBuffers) {
      const auto* const session = clone_ ? nullptr : recording_.buffers.Find(session_);
      reads_in_order_ = session != nullptr && !session->stopped;
      if (!reads_in_order_) ReadFreely(ReadBuffers());
    }
    if (method == kFreeBuffers) {
      AskForLacking(service);
      AskProducers();
      if (session_) recording_.files.End(*session_, /*is_freed=*/true);
      EndSession();
    }
    if (method == kDisableTracing) {
      AskProducers();
      LogChange(SessionChange::kStopRequested, "DisableTracing");
    }
    if (method == kFlush) {
      const uint64_t timeout_ms = DecodeSome<ipc::FlushCall>(invoke.args).timeout_ms;
      LogChange(SessionChange::kFlushCalled,
                timeout_ms == 0 ? std::string() : fmt::format("timeout {} ms", timeout_ms));
    }
    if (method == kDetach) {
      const std::string key = DecodeSome<ipc::SessionKey>(invoke.args).key;
      LogChange(SessionChange::kDetached, key);
      if (session_) recording_.buffers.Detach(*session_, key);
      session_.reset();  // it continues without this consumer
    }
    if (method == kAttach) attach_key_ = DecodeSome<ipc::SessionKey>(invoke.args).key;
    if (method == kCloneSession) {
      clone_requests_[frame.frame.request_id] = recording_.flushes.OnCloneRequested(invoke.args);
      Take(Step::kFill);
    }
    service.Queue(std::move(frame));
    return {};
  }

  Status OnReply(ipc::MethodName method, uint64_t request_id, const ipc::InvokeMethodReply& reply,
                 PassingFrame&) override {
    using enum ipc::MethodName;
    if (method == kEnableTracing) OnEnableTracingReply(reply.reply);
    if (method == kAttach && reply.success) OnAttachReply(reply.reply);
    if (method == kGetTraceStats && IsOwn(request_id)) OnTraceStats(reply.reply);
    if (method == kCloneSession) OnCloneReply(request_id, reply.success, reply.reply);
    if (method == kObserveEvents &&
        DecodeSome<ipc::ObserveEventsReply>(reply.reply).events.all_data_sources_started)
      LogChange(SessionChange::kDataSourcesStarted);
    if (method == kFlush) {
      if (session_ && !reply.success) recording_.flushes.OnConsumersFailure(*session_);
      LogChange(reply.success ? SessionChange::kFlushSucceeded : SessionChange::kFlushFailed);
    }
    if (method == kReadBuffers) {
      if (reply.success) LogReadPass(reply.reply);
      if (!Awaits(kReadBuffers)) {
        reads_in_order_ = false;
        ReadFreely({});
        Take(Step::kReply);
      }
    }
    return {};
  }
  void OnDisconnect(FrameSocket* service) override {
    if (session_ && service != nullptr) {
      AskForLacking(*service);
      recording_.files.End(*session_, /*is_freed=*/true);
    }
    for (const auto& [request, clone] : clone_requests_)
      recording_.flushes.OnCloneReply(clone, {.error = "the consumer's connection ended"});
    clone_requests_.clear();
    EndIdentity();
    if (session_) LogChange(SessionChange::kConsumerGone);
    EndSession(/*has_left=*/service == nullptr);
  }
  std::pair<ipc::MethodName, std::string> NextConfirmation() override {
    using enum ipc::MethodName;
    return {asked_for_ ? kQueryServiceState : kQueryCapabilities, {}};
  }
  void OnConfirmed(const ipc::InvokeMethodReply& reply) override {
    if (!asked_for_) return;
    recording_.files.Look();  // the one of a session that it has begun is there by now
    auto decoded = DecodeSome<ipc::QueryServiceStateReply>(reply.reply);
    std::ranges::move(decoded.state.sessions, std::back_inserter(state_.sessions));
    std::ranges::move(decoded.state.producers, std::back_inserter(state_.producers));
    std::ranges::move(decoded.state.data_sources, std::back_inserter(state_.data_sources));
    if (reply.has_more) return;
    if (identifying_ && session_) recording_.buffers.Identify(*session_, state_.sessions);
    if (!state_.producers.empty()) MarkUnseenProducers();
    asked_for_.reset();
    EndIdentity();
  }
  void EndIdentity() {
    if (!std::exchange(identifying_, false)) return;
    if (--recording_.identifying == 0) recording_.turns.Resume();
  }

  /// The service is to list its sessions, and its producers: some may not be connected here.
  void AskProducers() {
    if (!session_ || !methods().IdOf(ipc::MethodName::kQueryServiceState)) return;
    asked_for_ = session_;
    taking_part_.clear();
    if (const auto* const session = recording_.buffers.Find(session_))
      for (const ConfiguredSource& source : session->config.sources)
        taking_part_.insert(source.name);
    state_ = {};
    Take(Step::kFill);
  }

  /// The service lists more producers of the session's data sources than are connected here.
  void MarkUnseenProducers() {
    ++recording_.counts.checks;
    std::multiset<std::string> known = recording_.connected;
    std::set<uint64_t> sources;  // ids of producers
    for (const ipc::ListedDataSource& source : state_.data_sources)
      if (taking_part_.contains(source.descriptor.name)) sources.insert(source.producer_id);
    for (const ipc::ListedProducer& producer : state_.producers) {
      if (const auto here = known.find(producer.name); here != known.end()) {
        known.erase(here);
      } else if (sources.contains(producer.id) &&
                 unseen_.emplace(*asked_for_, producer.id).second) {
        recording_.log.MarkInexact(
            {.reason = InexactReason::kProducers,
             .session = asked_for_,
             .detail = fmt::format("'{}' (uid {}) is connected to the service "
                                   "itself: what it writes is not in the log",
                                   producer.name, producer.uid)});
      }
    }
  }

  /// The service is to report what it has got, if some of it came past the recorder. Only then, and
  /// after the session was read: asking for the statistics gives numbers to sequences.
  void AskForLacking(FrameSocket& service) {
    const bool has_unseen = std::ranges::any_of(
        unseen_, [&](const auto& producer) { return producer.first == session_; });
    if (!has_unseen || !methods().IdOf(ipc::MethodName::kGetTraceStats)) return;
    logged_ = recording_.buffers.ChunksOf(*session_);
    Invoke(ipc::MethodName::kGetTraceStats, {}, /*drop_reply=*/false, service);
  }
  void OnTraceStats(Bytes reply) {
    const std::vector<BufferStats> buffers = ReadTraceStats(wire::BytesIn(reply, 1));
    for (uint32_t index = 0; index < buffers.size(); ++index) {
      const BufferStats& stats = buffers[index];
      const uint64_t all = stats.chunks_written + stats.chunks_rewritten + stats.chunks_discarded;
      if (all <= logged_[index]) continue;
      recording_.log.Append(
          RecorderGap{.reason = fmt::format(
                          "producers that are connected to the service itself committed {} of "
                          "the {} chunks for buffers[{}]",
                          all - logged_[index], all, index)});
    }
  }
  Status OnEnableTracing(const ipc::InvokeMethod& invoke, const PassingFrame& frame) {
    const Bytes config = wire::BytesIn(invoke.args, proto::EnableTracingRequest::kTraceConfig);
    const TraceConfigFacts facts = ReadTraceConfigFacts(config);
    if (!facts.is_well_formed)
      return Fail(ErrorCode::kCorrupt, "sent a trace config that is not well-formed protobuf");
    EndSession();
    BeginSession(facts, config);
    recording_.log.Append(ClockSnapshotRecord{TakeClockSnapshot()});
    LogFile(facts, frame);
    if (!facts.StartsLater()) recording_.buffers.MarkStarted(*session_);
    AskProducers();
    if (asked_for_ && !std::exchange(identifying_, true)) ++recording_.identifying;
    return {};
  }

  /// Logs the file that the service writes the session into, if it does, and watches it.
  void LogFile(const TraceConfigFacts& config, const PassingFrame& frame) {
    const bool is_there = !frame.fds.empty();
    if (!is_there && !config.write_into_file) return;
    std::string path = config.output_path, name = path;
    if (is_there) {
      std::error_code ignored;
      path = fmt::format("/proc/self/fd/{}", frame.fds.front().get());
      name = std::filesystem::read_symlink(path, ignored).string();
    }
    if (!name.empty()) LogChange(SessionChange::kFileNamed, name);
    recording_.files.Start(*session_, path, is_there, config.shows_ends_of_reads);
  }
  void OnEnableTracingReply(Bytes reply) {
    const auto end = DecodeSome<ipc::EnableTracingReply>(reply);
    if (!session_) return;
    recording_.files.End(*session_);
    // The reply is the session's end, also of one that never began: no producer was asked for it.
    if (!end.error.empty() && recording_.buffers.BuffersOf(*session_).empty()) {
      LogChange(SessionChange::kRefused, end.error);
      EndSession();
    } else {
      LogChange(SessionChange::kStopped, end.error);
      recording_.buffers.MarkStopped(*session_);
    }
  }
  void OnCloneReply(uint64_t request_id, bool success, Bytes reply) {
    const auto request = clone_requests_.extract(request_id);
    if (request.empty()) return;
    const auto decoded = DecodeSome<ipc::CloneSessionReply>(reply);
    CloneEnded ended{.success = success && decoded.success.value_or(true),
                     .error = decoded.error,
                     .into_file = decoded.was_write_into_file};
    if (ended.success) clone_ = request.mapped();
    recording_.flushes.OnCloneReply(request.mapped(), std::move(ended));
  }
  void OnAttachReply(Bytes reply) {
    session_ = recording_.buffers.Attach(attach_key_);
    if (!session_) {  // it was detached before the recording began
      const Bytes config = wire::BytesIn(reply, 1);
      if (config.empty()) return;
      BeginSession(ReadTraceConfigFacts(config), config);
      recording_.log.MarkInexact({.reason = InexactReason::kStart,
                                  .session = session_,
                                  .detail = "it had begun before the recording"});
    }
    LogChange(SessionChange::kAttached, attach_key_);
  }

  void LogReadPass(Bytes reply) {
    const auto* const session = recording_.buffers.Find(session_);
    if (!clone_ && session != nullptr) {
      // Such a session is read through its file or a clone, or not before its trigger: until then
      // the service replies with nothing, without a look at the buffers.
      const TriggerMode mode = session->config.trigger_mode;
      if (session->config.write_into_file || mode == TriggerMode::kCloneSnapshot) return;
      if (mode != TriggerMode::kUnspecified && reply.empty()) return;
    }
    const std::optional<uint64_t> own_bytes = pass_.Add(reply);
    if (!own_bytes) return;
    // The limit is checked after each packet of a buffer: at least one is read.
    const uint64_t max_bytes = kPassBytes > *own_bytes ? kPassBytes - *own_bytes : 1;
    if (clone_) return recording_.log.Append(ClonePass{.clone = *clone_, .max_bytes = max_bytes});
    recording_.log.Append(
        ReadPass{.max_bytes = max_bytes, .reason = ReadReason::kConsumer, .session = session_});
  }

  /// The buffers that a ReadBuffers request reads, if producers may commit to them.
  std::set<BufferId> ReadBuffers() const {
    return clone_ ? std::set<BufferId>() : recording_.buffers.BuffersOf(session_);
  }

  /// While these are read, producers may commit to them.
  void ReadFreely(std::set<BufferId> buffers) {
    Replace(recording_.read_freely, read_freely_, std::move(buffers));
  }
  void LogChange(SessionChange change, std::string detail = {}) {
    recording_.log.Append(
        SessionChanged{.session = session_, .change = change, .detail = std::move(detail)});
  }
  void BeginSession(const TraceConfigFacts& facts, Bytes config) {
    session_ = recording_.buffers.Start(facts);
    recording_.log.Append(
        TraceConfigRecord{.config = std::string(wire::AsText(config)), .session = session_});
  }
  /// @param has_left the service has closed the connection
  void EndSession(bool has_left = false) {
    ReadFreely({});
    if (session_) {
      recording_.files.Drop(*session_);
      has_left ? recording_.buffers.Leave(*session_) : recording_.buffers.End(*session_);
    }
    session_.reset();
  }

  std::optional<SessionBuffers::SessionId> session_;
  bool reads_in_order_ = false;     // no producer commits until the reply
  std::set<BufferId> read_freely_;  // else
  PassReader pass_;
  std::string attach_key_;
  std::map<uint64_t, uint64_t> clone_requests_;  // to the clones' numbers in the log
  bool identifying_ = false;  // the service is asked for its number of the session
  std::optional<SessionBuffers::SessionId> asked_for_;  // a list of what the service has
  std::set<std::string> taking_part_;                   // names of that session's data sources
  ipc::ServiceState state_;                             // what it has replied so far
  std::set<std::pair<SessionBuffers::SessionId, uint64_t>> unseen_;  // producers of sessions
  std::map<uint64_t, uint64_t> logged_;  // chunks, by index of the buffer, when asked for more
  std::optional<uint64_t> clone_;        // what it reads is a clone, not the session's own buffers
};

}  // namespace

std::unique_ptr<Tap> NewConsumerTap(RecordingState& recording, PeerIdentity peer) {
  return std::make_unique<ConsumerTap>(recording, peer);
}

}  // namespace ringscope
