#include "commands/record/tap.h"

#include <fmt/format.h>
#include <time.h>

#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// The system's clocks, with their ids in the trace.
constexpr std::pair<clockid_t, uint64_t> kSnapshotClocks[] = {
    {CLOCK_BOOTTIME, proto::BuiltinClock::kBuiltinClockBoottime},
    {CLOCK_REALTIME, proto::BuiltinClock::kBuiltinClockRealtime},
    {CLOCK_MONOTONIC, proto::BuiltinClock::kBuiltinClockMonotonic},
    {CLOCK_MONOTONIC_RAW, proto::BuiltinClock::kBuiltinClockMonotonicRaw}};

}  // namespace

bool Tap::CarriesDescriptor(const ipc::Frame& frame) const {
  using enum ipc::MethodName;
  const ipc::MethodName method = MethodOf(frame);
  if (method == kInitializeConnection || method == kEnableTracing) return true;
  const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&frame.body);
  const auto request = requests_.find(frame.request_id);
  if (reply == nullptr || request == requests_.end() || request->second != kGetAsyncCommand)
    return false;
  ipc::AsyncCommand command;
  return DecodeMessage(reply->reply, command) && command.setup_tracing;
}

Status Tap::FromClient(PassingFrame&& frame, FrameSocket& service) {
  const ipc::Frame view = frame.frame;
  if (const auto* const invoke = std::get_if<ipc::InvokeMethod>(&view.body)) {
    Take(Step::kPass);
    const ipc::MethodName method = methods_.Find(*invoke);
    if (!invoke->drop_reply) requests_[view.request_id] = method;
    return OnRequest(method, *invoke, std::move(frame), service);
  }
  service.Queue(std::move(frame));
  return {};
}

Status Tap::FromService(PassingFrame&& frame, FrameSocket& client) {
  const ipc::Frame view = frame.frame;
  if (const auto* const bound = std::get_if<ipc::BindServiceReply>(&view.body))
    methods_.Learn(*bound);
  if (const auto* const reply = std::get_if<ipc::InvokeMethodReply>(&view.body)) {
    const auto request = requests_.find(view.request_id);
    const ipc::MethodName method =
        request == requests_.end() ? ipc::MethodName::kUnknown : request->second;
    if (request != requests_.end() && !reply->has_more) requests_.erase(request);
    if (confirmation_ == view.request_id) {
      OnConfirmed(*reply);
      if (reply->has_more) return {};
      confirmation_.reset();
      if (alone_) recording_.flushes.OnRequestHandled();
      OnAllHandled();  // at the first round: the service may read for a file before the second
      if (HasUnconfirmed() || --rounds_ > 0) {
        Take(Step::kAgain);
        return {};
      }
      Take(IsBeingServed() ? Step::kServe : Step::kDone);
      if (alone_) recording_.flushes.OnHandled();
      return {};
    }
    RS_RETURN_IF_ERROR(OnReply(method, view.request_id, *reply, frame));
    if (IsOwn(view.request_id)) return {};
  }
  if (!disconnected_) client.Queue(std::move(frame));
  return {};
}

uint64_t Tap::Invoke(ipc::MethodName method, Bytes args, bool drop_reply, FrameSocket& service) {
  const uint64_t id = kFirstOwnRequest + own_requests_++ % kOwnRequests;
  std::string frame;
  ipc::AppendInvoke(frame, id,
                    {.service = methods_.service(),
                     .method = methods_.IdOf(method).value_or(0),
                     .args = args,
                     .drop_reply = drop_reply});
  service.Queue(wire::AsBytes(frame));
  if (!drop_reply) requests_[id] = method;
  return id;
}

void Tap::AskConfirmation(FrameSocket& service, bool alone) {
  if (rounds_ == 0) rounds_ = alone && recording_.flushes.IsCloning() ? 2 : 1;
  alone_ = alone;
  Take(Step::kAsk);
  const auto [method, args] = NextConfirmation();
  confirmation_ = Invoke(method, wire::AsBytes(args), /*drop_reply=*/false, service);
}

void Tap::MarkUnordered(const std::set<BufferId>& buffers) const {
  for (const BufferId buffer : buffers)
    recording_.buffers.MarkUnordered(
        buffer, fmt::format("in which order the service handled some commits to buffer {}, and "
                            "reads of it, is not known",
                            Raw(buffer)));
}

std::string TakeClockSnapshot() {
  std::string snapshot;
  for (const auto& [clock, id] : kSnapshotClocks) {
    std::string entry;
    wire::AppendUint(entry, proto::ClockSnapshot::Clock::kClockId, id);
    wire::AppendUint(entry, proto::ClockSnapshot::Clock::kTimestamp, ClockNs(clock));
    wire::AppendBytes(snapshot, proto::ClockSnapshot::kClocks, wire::AsBytes(entry));
  }
  wire::AppendUint(snapshot, proto::ClockSnapshot::kPrimaryTraceClock,
                   proto::BuiltinClock::kBuiltinClockBoottime);
  return snapshot;
}

}  // namespace ringscope
