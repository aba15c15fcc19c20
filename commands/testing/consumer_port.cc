#include "commands/testing/consumer_port.h"

#include <algorithm>
#include <utility>

#include "commands/testing/tracing_service.h"

namespace ringscope::testing {
namespace {

/// Bytes of slices that a reply takes: its frame stays below ipc::kMaxFrameBytes.
constexpr size_t kReplyBytes = 96 * 1024;
constexpr size_t kSliceBytes = 32 * 1024;
/// Fields of messages that have nothing else.
constexpr uint32_t kEvents = 1, kAllStarted = 2, kCloneTriggerHit = 3;

/// Cuts packets into slices of replies. @return the replies, at least one
std::vector<std::string> RepliesOf(const std::vector<std::string>& packets) {
  std::vector<std::string> replies(1);
  for (const std::string& packet : packets) {
    Bytes rest = wire::AsBytes(packet);
    do {
      const Bytes part = rest.first(std::min(rest.size(), kSliceBytes));
      rest = rest.subspan(part.size());
      if (replies.back().size() + part.size() > kReplyBytes) replies.emplace_back();
      std::string slice;
      wire::AppendBytes(slice, proto::ReadBuffersResponse::Slice::kData, part);
      if (rest.empty())
        wire::AppendUint(slice, proto::ReadBuffersResponse::Slice::kLastSliceForPacket, 1);
      wire::AppendBytes(replies.back(), proto::ReadBuffersResponse::kSlices, wire::AsBytes(slice));
    } while (!rest.empty());
  }
  return replies;
}

}  // namespace

ConsumerPort::ConsumerPort(TracingService& service, EventLoop& loop, UniqueFd fd)
    : service_(service), connection_(loop, std::move(fd), ipc::kConsumerPort) {}

void ConsumerPort::OnRequest(ClientRequest& request) {
  using enum ipc::MethodName;
  if (request.method == kEnableTracing) return EnableTracing(request);
  if (request.method == kCloneSession) return CloneSession(request);
  if (request.method == kObserveEvents) {
    observe_request_ = request.id;
    return;
  }
  if (request.method == kQueryCapabilities) return connection_.Reply(request.id, {});
  if (request.method == kQueryServiceState)
    return connection_.Reply(request.id, Encode(service_.ListSessions()));
  TracingSession* const session = service_.SessionOf(*this);
  const uint64_t id = request.id;
  if (session == nullptr) return connection_.Reply(id, {}, false, /*success=*/false);
  if (request.method == kFlush) {
    ipc::FlushCall call;
    static_cast<void>(DecodeMessage(request.args, call));
    return service_.Flush(*session, call.timeout_ms, call.flags,
                          [this, id](bool ok) { connection_.Reply(id, {}, false, ok); });
  }
  if (request.method == kReadBuffers) return ReadBuffers(id);
  std::string reply;
  if (request.method == kGetTraceStats) {
    const std::string stats = service_.TraceStats(*session);
    wire::AppendBytes(reply, 1, wire::AsBytes(stats));
  } else if (request.method == kStartTracing) {
    service_.StartTracing(*session);
  } else if (request.method == kDisableTracing) {
    service_.DisableTracing(*session);
  } else if (request.method == kFreeBuffers) {
    service_.FreeBuffers(*session);
  } else {
    return connection_.Reply(id, {}, false, /*success=*/false);
  }
  if (!request.drop_reply) connection_.Reply(id, reply);
}

void ConsumerPort::OnDisconnect() { service_.OnConsumerGone(*this); }

void ConsumerPort::EnableTracing(ClientRequest& request) {
  UniqueFd file;
  if (!request.fds.empty()) file = std::move(request.fds.front());
  const std::string error = service_.EnableTracing(
      this, wire::BytesIn(request.args, proto::EnableTracingRequest::kTraceConfig),
      std::move(file));
  if (!error.empty()) {
    connection_.Reply(request.id,
                      Encode(ipc::EnableTracingReply{.disabled = true, .error = error}));
  } else if (TracingSession* const session = service_.SessionOf(*this)) {
    session->enable_request = request.id;
  }
}

void ConsumerPort::OnTracingDisabled(TracingSession& session, const std::string& error) {
  if (const auto id = std::exchange(session.enable_request, std::nullopt))
    connection_.Reply(*id, Encode(ipc::EnableTracingReply{.disabled = true, .error = error}));
}

void ConsumerPort::ReadBuffers(uint64_t request_id) {
  TracingSession* const session = service_.SessionOf(*this);
  if (session == nullptr || !TracingService::IsReadable(*session))
    return connection_.Reply(request_id, {});
  const SessionStore::Pass pass =
      service_.ReadPass(*session, service_.options().consumer_pass_bytes);
  const std::vector<std::string> replies = RepliesOf(pass.packets);
  for (size_t i = 0; i < replies.size(); ++i)
    connection_.Reply(request_id, replies[i], pass.at_limit || i + 1 < replies.size());
  if (pass.at_limit)
    session->next_pass = service_.loop().CallSoon([this, request_id] { ReadBuffers(request_id); });
}

void ConsumerPort::CloneSession(ClientRequest& request) {
  const auto asked = Decode<CloneCall>(request.args);
  TracingService::CloneRequest clone{.session_id = asked.session_id,
                                     .unique_session_name = asked.unique_session_name,
                                     .for_bugreport = asked.for_bugreport};
  if (!asked.trigger_name.empty())
    clone.trigger = ReceivedTrigger{.boot_time_ns = asked.trigger_boot_time_ns,
                                    .name = asked.trigger_name,
                                    .producer = asked.trigger_producer,
                                    .uid = asked.trigger_producer_uid,
                                    .stop_delay_ms = asked.trigger_delay_ms};
  if (!request.fds.empty()) clone.file = std::move(request.fds.front());
  service_.CloneSession(*this, std::move(clone),
                        [this, id = request.id](const TracingService::CloneReply& made) {
                          ServiceCloneReply reply;
                          reply.uuid_msb = made.uuid_msb;
                          reply.uuid_lsb = made.uuid_lsb;
                          reply.success = made.error.empty();
                          reply.error = made.error;
                          reply.was_write_into_file = made.was_write_into_file;
                          connection_.Reply(id, Encode(reply));
                        });
}

void ConsumerPort::SendEvents(uint32_t field, const std::string& content) {
  if (!observe_request_) return;
  std::string reply;
  std::string events;
  if (content.empty())
    wire::AppendUint(events, field, 1);
  else
    wire::AppendBytes(events, field, wire::AsBytes(content));
  wire::AppendBytes(reply, kEvents, wire::AsBytes(events));
  connection_.Reply(*observe_request_, reply, /*has_more=*/true);
}

void ConsumerPort::OnAllStarted() { SendEvents(kAllStarted, {}); }

void ConsumerPort::OnCloneTrigger(const CloneTriggerHit& hit) {
  SendEvents(kCloneTriggerHit, Encode(hit));
}

}  // namespace ringscope::testing
