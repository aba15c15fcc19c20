#include "commands/tap/consumer_tap.h"

#include <fmt/format.h>
#include <time.h>

#include <array>

#include "core/perfetto/fields.h"

namespace ringscope::record {
namespace {

/// Bytes of packets, as they go into the trace, after which the service ends a pass.
constexpr uint64_t kPassBytes = 32768;

struct SnapshotClock {
  clockid_t system;
  uint64_t id;  // in the trace
};
constexpr uint64_t kBootTimeId = 6;
constexpr std::array<SnapshotClock, 4> kSnapshotClocks = {{{CLOCK_BOOTTIME, kBootTimeId},
                                                           {CLOCK_REALTIME, 1},
                                                           {CLOCK_MONOTONIC, 3},
                                                           {CLOCK_MONOTONIC_RAW, 5}}};

}  // namespace

std::string TakeClockSnapshot() {
  std::string snapshot;
  for (const SnapshotClock& clock : kSnapshotClocks) {
    timespec now = {};
    if (::clock_gettime(clock.system, &now) != 0) continue;
    std::string entry;
    wire::AppendUint(entry, proto::Clock::kClockId, clock.id);
    wire::AppendUint(
        entry, proto::Clock::kTimestamp,
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec));
    wire::AppendBytes(snapshot, proto::ClockSnapshot::kClocks, wire::AsBytes(entry));
  }
  wire::AppendUint(snapshot, proto::ClockSnapshot::kPrimaryTraceClock, kBootTimeId);
  return snapshot;
}

std::string ConsumerTap::Describe() const { return fmt::format("a consumer (pid {})", peer_.pid); }

bool ConsumerTap::CarriesDescriptor(const ipc::Frame& frame) const {
  const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
  return invoke != nullptr && methods().Find(*invoke) == ipc::MethodName::kEnableTracing;
}

Status ConsumerTap::OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke,
                              PassingFrame&& frame, FrameSocket& service) {
  switch (method) {
    case ipc::MethodName::kEnableTracing:
      RS_RETURN_IF_ERROR(OnEnableTracing(invoke, !frame.fds.empty()));
      break;
    case ipc::MethodName::kReadBuffers:
      reads_.insert(frame.frame.request_id);
      break;
    case ipc::MethodName::kFreeBuffers:
      EndSession();
      break;
    case ipc::MethodName::kDisableTracing:
      recording_.scrape_unasked();
      break;
    case ipc::MethodName::kFlush:
      recording_.scrape_unasked();
      recording_.log.Append(Note{"the consumer asked for a flush"});
      break;
    case ipc::MethodName::kDetach:
      session_.reset();  // it continues without this consumer
      break;
    case ipc::MethodName::kCloneSession:
      recording_.scrape_unasked();
      clone_request_ = frame.frame.request_id;
      break;
    default:
      break;
  }
  service.Queue(std::move(frame));
  return {};
}

Status ConsumerTap::OnEnableTracing(const ipc::InvokeMethod& invoke, bool into_file) {
  const Bytes config = ipc::TraceConfigOf(invoke.args);
  auto plan = PlanOfConfig(config);
  if (!plan) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("sent a trace config that cannot be parsed: {}", plan.error().message));
  }
  EndSession();
  session_ = recording_.buffers.Start(std::move(*plan));
  recording_.log.Append(TraceConfigRecord{std::string(wire::AsText(config))});
  recording_.log.Append(ClockSnapshotRecord{TakeClockSnapshot()});
  if (into_file) {
    recording_.log.Append(
        Note{"the service writes this session into a file: its reads are not in the log"});
  }
  return {};
}

Status ConsumerTap::OnReply(uint64_t request_id, const ipc::InvokeMethodReply& reply,
                            PassingFrame&) {
  if (clone_request_ == request_id) {
    clone_request_.reset();
    if (reply.success) LogClone();
  }
  if (reads_.contains(request_id)) {
    if (reply.success && !has_clone_) LogReadPass();
    if (!reply.has_more) reads_.erase(request_id);
    if (reads_.empty()) SetConfirmed();
  }
  return {};
}

void ConsumerTap::LogReadPass() {
  ReadPass pass;
  pass.max_bytes = kPassBytes;
  pass.reason = ReadReason::kConsumer;
  if (!session_ || recording_.buffers.IsAlone(*session_)) {
    recording_.log.Append(pass);
    return;
  }
  for (const BufferId buffer : recording_.buffers.BuffersOf(*session_)) {
    pass.buffer = buffer;
    recording_.log.Append(pass);
  }
}

void ConsumerTap::LogClone() {
  // Which session is cloned is the service's choice if there is only one; else its own id decides,
  // which is not known here: then all are logged, as a clone changes nothing.
  has_clone_ = true;
  for (const BufferId buffer : recording_.buffers.AllBuffers())
    recording_.log.Append(CloneRead{buffer});
}

void ConsumerTap::EndSession() {
  if (session_) recording_.buffers.End(*session_);
  session_.reset();
}

void ConsumerTap::OnDisconnect(FrameSocket*) { EndSession(); }

}  // namespace ringscope::record
