// Reads: the service's own packets, passes for a consumer, and the file.

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "commands/testing/tracing_service.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "formats/io/byte_stream.h"

namespace ringscope::testing {
namespace {

constexpr size_t kPacketsAtOnce = 512;
constexpr uint64_t kFileFlushFlags = 1 | 1 << 4;  // periodic, by the service

std::string ServicePacketOf(uint32_t field, const std::string& content,
                            std::optional<uint64_t> time_ns = {}) {
  std::string packet;
  if (time_ns) wire::AppendUint(packet, proto::TracePacket::kTimestamp, *time_ns);
  wire::AppendBytes(packet, field, wire::AsBytes(content));
  AppendTrustedFields(packet, Identity{.uid = ::getuid(), .pid = -1}, kServiceSequenceId, 0);
  return packet;
}

}  // namespace

void TracingService::AddWaitingEvents(TracingSession& session, std::vector<std::string>& packets) {
  const auto events = std::exchange(session.events, {});
  if (session.config.builtin.disable_service_events) return;
  for (const WaitingPacket& event : events)
    packets.push_back(
        ServicePacketOf(proto::TracePacket::kServiceEvent, event.content, event.time_ns));
}

/// What the service itself writes before the buffers' packets. @return its bytes
uint64_t TracingService::AddServicePackets(TracingSession& session,
                                           std::vector<std::string>& packets) {
  using Packet = proto::TracePacket;
  const bool first = !std::exchange(session.config_written, true);
  if (!session.config.builtin.disable_clock_snapshots) {
    if (!session.initial_clocks.empty())
      packets.push_back(
          ServicePacketOf(Packet::kClockSnapshot, std::exchange(session.initial_clocks, {})));
    for (const std::string& clocks : std::exchange(session.clocks, {}))
      packets.push_back(ServicePacketOf(Packet::kClockSnapshot, clocks));
  }
  if (!session.config.builtin.disable_trace_config) {
    if (first) packets.push_back(ServicePacketOf(Packet::kTraceConfig, session.raw_config));
    if (first && session.clone_trigger)
      packets.push_back(ServicePacketOf(Packet::kCloneSnapshotTrigger,
                                        Encode(*session.clone_trigger),
                                        session.clone_trigger->boot_time_ns));
    for (; session.triggers_written < session.triggers.size(); ++session.triggers_written) {
      const ReceivedTrigger& trigger = session.triggers[session.triggers_written];
      packets.push_back(ServicePacketOf(Packet::kTrigger, Encode(trigger), trigger.boot_time_ns));
    }
  }
  if (first) {
    std::string uuid;
    wire::AppendUint(uuid, proto::TraceUuid::kMsb, session.uuid_msb);
    wire::AppendUint(uuid, proto::TraceUuid::kLsb, session.uuid_lsb);
    packets.push_back(ServicePacketOf(Packet::kTraceUuid, uuid));
  }
  AddWaitingEvents(session, packets);
  uint64_t bytes = 0;
  for (const std::string& packet : packets) bytes += packet.size();
  return bytes;
}

bool TracingService::IsReadable(const TracingSession& session) {
  if (session.config.write_into_file && session.state != TracingSession::State::kCloned)
    return false;
  if (session.IsCloneOnly()) return false;
  return session.config.triggers.mode == 0 || session.triggered ||
         session.state == TracingSession::State::kCloned;
}

SessionStore::Pass TracingService::ReadPass(TracingSession& session, uint64_t max_bytes) {
  SessionStore::Pass pass;
  const uint64_t bytes = AddServicePackets(session, pass.packets);
  SessionStore::Pass buffers{.packets = {}, .at_limit = true};
  if (bytes < max_bytes) buffers = session.store.Read(max_bytes - bytes);
  std::ranges::move(buffers.packets, std::back_inserter(pass.packets));
  pass.at_limit = buffers.at_limit;
  if (pass.at_limit) return pass;
  AddEvent(session, proto::TracingServiceEvent::kReadTracingBuffersCompleted);
  AddWaitingEvents(session, pass.packets);
  if (std::exchange(session.stats_due, false))
    pass.packets.push_back(ServicePacketOf(proto::TracePacket::kTraceStats, TraceStats(session)));
  return pass;
}

void TracingService::ArmFileWrite(TracingSession& session) {
  session.file_timer = CallAtMultiple(WritePeriodMs(session), [this, id = session.id] {
    TracingSession& due = *sessions_.at(id);
    if (!FlushesBeforeWrite(due)) return WriteFile(due);
    Flush(due, 0, kFileFlushFlags, [this, id](bool) {
      if (TracingSession* const flushed = FindSession(id)) WriteFile(*flushed);
    });
  });
}

void TracingService::WriteFile(TracingSession& session) {
  if (session.state != TracingSession::State::kStarted) return;
  if (!ReadIntoFile(session)) return DisableTracing(session);
  ArmFileWrite(session);
}

bool TracingService::ReadIntoFile(TracingSession& session) {
  if (session.file.valid() && session.state != TracingSession::State::kCloned) journal_.NoteRead();
  const uint64_t limit = session.config.max_file_size_bytes;
  for (bool more = session.file.valid(); more;) {
    const SessionStore::Pass pass = ReadPass(session, options_.file_pass_bytes);
    more = pass.at_limit;
    bool is_full = false;
    size_t packets = 0;
    std::string bytes;
    // A system call takes so many packets: a read is several, and its last may have little.
    const auto write = [&] {
      const WriteOutcome outcome = WriteAll(session.file.get(), wire::AsBytes(bytes));
      session.file_bytes += outcome.written;
      bytes.clear();
      return outcome.error == 0;
    };
    bool ok = true;
    for (const std::string& packet : pass.packets) {
      std::string framed;
      wire::AppendBytes(framed, proto::Trace::kPacket, wire::AsBytes(packet));
      is_full = limit > 0 && session.file_bytes + bytes.size() + framed.size() >= limit;
      if (is_full || !ok) break;
      bytes += framed;
      const bool is_next_last = ++packets + 1 == pass.packets.size();
      if (packets % kPacketsAtOnce == 0 || is_next_last) ok = write();
    }
    if (ok && write() && !is_full) continue;
    session.file.Reset();
    return false;
  }
  return true;
}

}  // namespace ringscope::testing
