#include "commands/record/consumer_tap.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {
namespace {

/// Bytes of packets, as they go into the trace, after which the service ends a pass.
constexpr uint64_t kPassBytes = 32768;

/// The system's clocks, with their ids in the trace.
constexpr std::pair<clockid_t, uint64_t> kSnapshotClocks[] = {
    {CLOCK_BOOTTIME, proto::BuiltinClock::kBuiltinClockBoottime},
    {CLOCK_REALTIME, proto::BuiltinClock::kBuiltinClockRealtime},
    {CLOCK_MONOTONIC, proto::BuiltinClock::kBuiltinClockMonotonic},
    {CLOCK_MONOTONIC_RAW, proto::BuiltinClock::kBuiltinClockMonotonicRaw}};

/// Parses a message as far as it is well-formed.
template <typename Message>
Message DecodeSome(Bytes bytes) {
  Message message;
  static_cast<void>(DecodeMessage(bytes, message));
  return message;
}

}  // namespace

bool OwnPackets::Add(Bytes packet) {
  bool is_own = false, is_provenance = false, has_states = false;
  wire::FieldReader reader(packet);
  while (const auto field = reader.Next()) {
    if (field->number == proto::TracePacket::kTrustedPacketSequenceId)
      is_own = field->value == kServiceSequenceId;
    is_provenance |= field->number == proto::TracePacket::kTraceProvenance;
    has_states |= field->number == proto::TracePacket::kProtovms;
  }
  if (!is_own) return false;
  // A replay makes the states of programs (ProtoVM), and the listing of sequences that is before
  // them.
  if (has_states) {
    bytes_ -= std::exchange(provenance_, 0);
  } else {
    bytes_ += packet.size();
    if (is_provenance) provenance_ += packet.size();
  }
  return true;
}

std::optional<uint64_t> PassReader::Add(Bytes reply) {
  wire::FieldReader reader(reply);
  while (const auto field = reader.Next()) {
    if (!field->IsBytes(proto::ReadBuffersResponse::kSlices)) continue;
    bool is_last = false;
    wire::FieldReader slice(field->bytes);
    while (const auto part = slice.Next()) {
      if (part->number == proto::ReadBuffersResponse::Slice::kLastSliceForPacket)
        is_last = part->value != 0;
      if (part->number == proto::ReadBuffersResponse::Slice::kData && !found_other_)
        packet_ += wire::AsText(part->bytes);
    }
    within_packet_ = !is_last && !field->bytes.empty();
    if (!is_last) continue;
    found_other_ = found_other_ || !own_.Add(wire::AsBytes(packet_));
    packet_.clear();
  }
  if (within_packet_) return std::nullopt;
  found_other_ = false;
  return std::exchange(own_, {}).bytes();
}

std::string TakeClockSnapshot() {
  std::string snapshot;
  for (const auto& [clock, id] : kSnapshotClocks) {
    timespec now = {};
    if (::clock_gettime(clock, &now) != 0) continue;
    std::string entry;
    wire::AppendUint(entry, proto::ClockSnapshot::Clock::kClockId, id);
    wire::AppendUint(
        entry, proto::ClockSnapshot::Clock::kTimestamp,
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec));
    wire::AppendBytes(snapshot, proto::ClockSnapshot::kClocks, wire::AsBytes(entry));
  }
  wire::AppendUint(snapshot, proto::ClockSnapshot::kPrimaryTraceClock,
                   proto::BuiltinClock::kBuiltinClockBoottime);
  return snapshot;
}

std::string ConsumerTap::Describe() const { return fmt::format("a consumer (pid {})", peer_.pid); }

Status ConsumerTap::OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke,
                              PassingFrame&& frame, FrameSocket& service) {
  using enum ipc::MethodName;
  if (method == kEnableTracing && !ipc::IsAttachNotification(invoke.args))
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

Status ConsumerTap::OnEnableTracing(const ipc::InvokeMethod& invoke, const PassingFrame& frame) {
  const Bytes config = ipc::TraceConfigOf(invoke.args);
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

void ConsumerTap::BeginSession(const TraceConfigFacts& facts, Bytes config) {
  session_ = recording_.buffers.Start(facts);
  recording_.log.Append(
      TraceConfigRecord{.config = std::string(wire::AsText(config)), .session = session_});
}

void ConsumerTap::AskProducers() {
  if (!session_ || !methods().IdOf(ipc::MethodName::kQueryServiceState)) return;
  asked_for_ = session_;
  taking_part_.clear();
  if (const auto* const session = recording_.buffers.Find(session_))
    for (const ConfiguredSource& source : session->config.sources) taking_part_.insert(source.name);
  state_ = {};
  Take(Step::kFill);
}

/// The service lists more producers of the session's data sources than are connected here.
void ConsumerTap::MarkUnseenProducers() {
  ++recording_.counts.checks;
  std::multiset<std::string> known = recording_.connected;
  std::set<uint64_t> sources;  // ids of producers
  for (const ipc::ListedDataSource& source : state_.data_sources)
    if (taking_part_.contains(source.descriptor.name)) sources.insert(source.producer_id);
  for (const ipc::ListedProducer& producer : state_.producers) {
    if (const auto here = known.find(producer.name); here != known.end()) {
      known.erase(here);
    } else if (sources.contains(producer.id) && unseen_.emplace(*asked_for_, producer.id).second) {
      recording_.log.MarkInexact({.reason = InexactReason::kProducers,
                                  .session = asked_for_,
                                  .detail = fmt::format("'{}' (uid {}) is connected to the service "
                                                        "itself: what it writes is not in the log",
                                                        producer.name, producer.uid)});
    }
  }
}

/// The service is to report what it has got, if some of it came past the recorder. Only then, and
/// after the session was read: asking for the statistics gives numbers to sequences.
void ConsumerTap::AskForLacking(FrameSocket& service) {
  const bool has_unseen = std::ranges::any_of(
      unseen_, [&](const auto& producer) { return producer.first == session_; });
  if (!has_unseen || !methods().IdOf(ipc::MethodName::kGetTraceStats)) return;
  logged_ = recording_.buffers.ChunksOf(*session_);
  Invoke(ipc::MethodName::kGetTraceStats, {}, /*drop_reply=*/false, service);
}

void ConsumerTap::OnTraceStats(Bytes reply) {
  const std::vector<BufferStats> buffers = ReadTraceStats(ipc::FieldBytes(reply, 1));
  for (uint32_t index = 0; index < buffers.size(); ++index) {
    const BufferStats& stats = buffers[index];
    const uint64_t all = stats.chunks_written + stats.chunks_rewritten + stats.chunks_discarded;
    if (all <= logged_[index]) continue;
    recording_.log.Append(RecorderGap{
        .reason = fmt::format("producers that are connected to the service itself committed {} of "
                              "the {} chunks for buffers[{}]",
                              all - logged_[index], all, index)});
  }
}

void ConsumerTap::EndIdentity() {
  if (!std::exchange(identifying_, false)) return;
  --recording_.identifying;
  recording_.on_released();
}

void ConsumerTap::OnConfirmed(const ipc::InvokeMethodReply& reply) {
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

/// The service scrapes the producers that it does not ask to flush.
Result<bool> ConsumerTap::Prepare(const ipc::Frame* next, FrameSocket&) {
  using enum ipc::MethodName;
  const ipc::MethodName method = next == nullptr ? kUnknown : MethodOf(*next);
  const bool scrapes = method == kDisableTracing || method == kFlush || method == kCloneSession;
  return scrapes && recording_.scrape_unasked();
}

OrderedBuffers ConsumerTap::BuffersOf(const ipc::Frame* next) const {
  using enum ipc::MethodName;
  switch (next == nullptr ? kUnknown : MethodOf(*next)) {
    case kReadBuffers:
      return {.all = recording_.flushes.IsCloning() && !clone_, .ids = ReadBuffers()};
    case kGetTraceStats:
    case kObserveEvents:
    case kQueryServiceState:
    case kQueryCapabilities:
      return {};
    default:
      return {.all = true};
  }
}

std::set<BufferId> ConsumerTap::ReadBuffers() const {
  return clone_ ? std::set<BufferId>() : recording_.buffers.BuffersOf(session_);
}

void ConsumerTap::ReadFreely(std::set<BufferId> buffers) {
  for (const BufferId buffer : std::exchange(read_freely_, std::move(buffers)))
    recording_.read_freely.erase(recording_.read_freely.find(buffer));
  recording_.read_freely.insert(read_freely_.begin(), read_freely_.end());
}

/// Logs the file that the service writes the session into, if it does, and watches it.
void ConsumerTap::LogFile(const TraceConfigFacts& config, const PassingFrame& frame) {
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

void ConsumerTap::LogChange(SessionChange change, std::string detail) {
  recording_.log.Append(
      SessionChanged{.session = session_, .change = change, .detail = std::move(detail)});
}

Status ConsumerTap::OnReply(ipc::MethodName method, uint64_t request_id,
                            const ipc::InvokeMethodReply& reply, PassingFrame&) {
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

void ConsumerTap::OnEnableTracingReply(Bytes reply) {
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

void ConsumerTap::OnCloneReply(uint64_t request_id, bool success, Bytes reply) {
  const auto request = clone_requests_.extract(request_id);
  if (request.empty()) return;
  const auto decoded = DecodeSome<ipc::CloneSessionReply>(reply);
  CloneEnded ended{.success = success && decoded.success.value_or(true),
                   .error = decoded.error,
                   .into_file = decoded.was_write_into_file};
  if (ended.success) clone_ = request.mapped();
  recording_.flushes.OnCloneReply(request.mapped(), std::move(ended));
}

void ConsumerTap::OnAttachReply(Bytes reply) {
  session_ = recording_.buffers.Attach(attach_key_);
  if (!session_) {  // it was detached before the recording began
    const Bytes config = ipc::FieldBytes(reply, 1);
    if (config.empty()) return;
    BeginSession(ReadTraceConfigFacts(config), config);
    recording_.log.MarkInexact({.reason = InexactReason::kStart,
                                .session = session_,
                                .detail = "it had begun before the recording"});
  }
  LogChange(SessionChange::kAttached, attach_key_);
}

void ConsumerTap::LogReadPass(Bytes reply) {
  const auto* const session = recording_.buffers.Find(session_);
  if (!clone_ && session != nullptr) {
    // Such a session is read through its file or a clone, or not before its trigger: until then the
    // service replies with nothing, without a look at the buffers.
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

void ConsumerTap::EndSession() {
  ReadFreely({});
  if (session_) {
    recording_.files.Drop(*session_);
    recording_.buffers.End(*session_);
  }
  session_.reset();
}

void ConsumerTap::OnDisconnect(FrameSocket* service) {
  if (session_ && service != nullptr) {
    AskForLacking(*service);
    recording_.files.End(*session_, /*is_freed=*/true);
  }
  for (const auto& [request, clone] : clone_requests_)
    recording_.flushes.OnCloneReply(clone, {.error = "the consumer's connection ended"});
  clone_requests_.clear();
  EndIdentity();
  if (session_) LogChange(SessionChange::kConsumerGone);
  EndSession();
}

}  // namespace ringscope
