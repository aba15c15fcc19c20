// Reads of the buffers of a session.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/perfetto/packet_facts.h"
#include "core/session/session.h"

namespace ringscope {
namespace {

/// Bytes of a packet of the service's own with this content.
uint64_t ServicePacketSize(uint32_t field, std::string_view content) {
  const uint64_t tag = uint64_t{field} << 3;
  return wire::VarintSize(tag) + wire::VarintSize(content.size()) + content.size() +
         TrustedFieldsSize({.uid = 0, .pid = -1}, kServiceSequenceId, 0);
}

}  // namespace

std::vector<SessionBuffer*> Session::BuffersInOrder(Reach reach, std::optional<uint64_t> session) {
  std::vector<SessionBuffer*> order;
  for (auto& [id, buffer] : buffers_) {
    if (session && buffer.session && *session != *buffer.session) continue;
    const bool is_cloned = buffer.cloned != nullptr;
    if (is_cloned != (reach == Reach::kClone)) continue;
    if (is_cloned || !buffer.freed || reach == Reach::kFreed) order.push_back(&buffer);
  }
  std::stable_sort(order.begin(), order.end(), [](const SessionBuffer* a, const SessionBuffer* b) {
    return a->index < b->index;
  });
  return order;
}

SessionPacket Session::Judge(const SessionBuffer& buffer, const Packet& packet, SequenceIds& ids) {
  SessionPacket judged{.buffer = buffer.id, .packet = &packet};
  judged.valid = IsValidPacket(packet.slices, buffer.info->release);
  if (!judged.valid) return judged;
  judged.machine = access_.MachineOf(packet.sequence.producer);
  judged.sequence_id = ids.IdOf(packet.sequence, judged.machine);
  return judged;
}

/// The first pass over the buffers of a session, or of the clone that is replayed: the states of
/// their programs are in front of what it reads, and never again.
Status Session::BeginFirstPass(const SessionBuffer& read, bool is_taken, uint64_t& bytes) {
  std::string protovms, listing;
  const std::vector<SessionBuffer*> buffers =
      BuffersInOrder(read.cloned ? Reach::kClone : Reach::kFreed, read.session);
  for (SessionBuffer* buffer : buffers) {
    buffer->is_read = true;
    // A clone that is replayed has the state of its instant, whatever the session itself reads.
    buffer->is_state_written = !options_.clone || buffer->cloned;
    if (buffer->vms != nullptr) buffer->vms->NoteWritten();
    buffer->VisitPrograms(
        [&](const ProgramState& program) { protovm::AppendInstance(program, protovms); });
    RS_RETURN_IF_ERROR(CheckEngine(buffer->id, *buffer->engine));
  }
  // The service lists them in every trace; the other packets of its own are not replayed.
  for (const SessionBuffer* buffer : buffers) ListSequences(*buffer, listing);
  if (protovms.empty()) return {};
  bytes += ServicePacketSize(proto::TracePacket::kTraceProvenance, listing) +
           ServicePacketSize(proto::TracePacket::kProtovms, protovms);
  if (is_taken) return {};
  return listeners_.Call(
      &ReplayListener::OnProtoVms,
      ProtoVmsRead{read.session, wire::AsBytes(listing), wire::AsBytes(protovms)});
}

/// Appends a TraceProvenance.Buffer: the sequences of which the buffer has counted a chunk. Each
/// has an id from now on.
void Session::ListSequences(const SessionBuffer& buffer, std::string& listing) {
  std::string listed;
  for (const SequenceKey sequence : buffer.Writers()) {
    std::string entry;
    wire::AppendUint(entry, proto::TraceProvenance::Sequence::kId,
                     SequenceIdsFor(buffer).IdOf(sequence, access_.MachineOf(sequence.producer)));
    wire::AppendUint(entry, proto::TraceProvenance::Sequence::kProducerId, Raw(sequence.producer));
    wire::AppendBytes(listed, proto::TraceProvenance::Buffer::kSequences, wire::AsBytes(entry));
  }
  wire::AppendBytes(listing, proto::TraceProvenance::kBuffers, wire::AsBytes(listed));
}

/// @return whether a limit ended it
Result<bool> Session::ReadPackets(SessionBuffer& buffer, const ReadLimits& limits,
                                  uint64_t& bytes) {
  Engine& engine = *buffer.engine;
  // The session's own read, before the clone: the clone has what is in a file, and nothing else.
  const bool is_taken =
      options_.clone && !buffer.cloned && (!options_.clone->is_in_file || file_copied_);
  if (!buffer.is_read) [[unlikely]]
    RS_RETURN_IF_ERROR(BeginFirstPass(buffer, is_taken, bytes));
  listeners_.Call(&ReplayListener::OnReadBegun, buffer.id);
  engine.BeginRead();
  SequenceIds& ids = SequenceIdsFor(buffer);
  uint64_t packets = 0;
  const auto at_limit = [&] {
    return (limits.max_packets && packets >= *limits.max_packets) ||
           (limits.max_bytes && bytes >= *limits.max_bytes);
  };
  bool limited = false;
  while (!(limited = at_limit())) {
    const Packet* packet = engine.NextPacket();
    if (packet == nullptr) break;
    const SessionPacket judged = Judge(buffer, *packet, ids);
    ++packets;
    if (!judged.valid) ++stats_.invalid_packets;
    if (!limits.as_in_trace)
      bytes += packet->size;
    else if (judged.valid)
      bytes += packet->size + TrustedFieldsSize(packet->identity, judged.sequence_id,
                                                packet->dropped, judged.machine);
    if (is_taken)
      listeners_.Call(&ReplayListener::OnTakenPacket, judged);
    else
      RS_RETURN_IF_ERROR(listeners_.Call(&ReplayListener::OnPacket, judged));
  }
  RS_RETURN_IF_ERROR(CheckEngine(buffer.id, *buffer.engine));
  if (!is_taken && limited) listeners_.Call(&ReplayListener::OnReadLimited, buffer.id);
  if (!is_taken) listeners_.Call(&ReplayListener::OnReadDone, buffer.id, packets);
  return limited;
}

Result<bool> Session::ReadBuffer(BufferId id, const ReadLimits& limits) {
  SessionBuffer* buffer = FindOpenBuffer(id);
  if (buffer == nullptr) {
    if (!IsOutOfView(id))
      WarnOnce("read", fmt::format("a read of buffer {}, which is not set up: skipped", Raw(id)));
    return false;
  }
  uint64_t bytes = 0;
  return ReadPackets(*buffer, limits, bytes);
}

Result<bool> Session::ReadAllBuffers(std::optional<uint64_t> max_bytes, Reach reach,
                                     std::optional<uint64_t> session) {
  uint64_t bytes = 0;
  if (session) read_sessions_.insert(*session);
  for (SessionBuffer* buffer : BuffersInOrder(reach, session)) {
    RS_ASSIGN_OR_RETURN(
        const bool limited,
        ReadPackets(*buffer, {.max_packets = {}, .max_bytes = max_bytes, .as_in_trace = true},
                    bytes));
    if (limited) return true;
  }
  listeners_.Call(&ReplayListener::OnAllRead, *this, session);
  return false;
}

void Session::AddStatistics(Reach reach, std::optional<uint64_t> session) {
  for (const SessionBuffer* buffer : BuffersInOrder(reach, session)) {
    if (!buffer->session) continue;  // the log has no session whose trace it could be
    for (const SequenceKey writer : buffer->Writers()) SequenceIdsFor(*buffer).IdOf(writer);
  }
}

Status Session::ReadClone(BufferId id) {
  SessionBuffer* buffer = FindOpenBuffer(id);
  if (buffer == nullptr) {
    if (IsOutOfView(id)) return {};
    WarnOnce("clone", fmt::format("a clone of buffer {}, which is not set up: skipped", Raw(id)));
    return {};
  }
  const auto clone = buffer->engine->Clone();
  if (!clone) return InBuffer(id, clone.error());
  listeners_.Call(&ReplayListener::OnCloneBegun, *buffer);
  (*clone)->BeginRead();
  SequenceIds& ids = SequenceIdsFor(*buffer);
  uint64_t packets = 0;
  while (const Packet* packet = (*clone)->NextPacket()) {
    ++packets;
    listeners_.Call(&ReplayListener::OnClonePacket, Judge(*buffer, *packet, ids));
  }
  RS_RETURN_IF_ERROR(CheckEngine(id, **clone));
  listeners_.Call(&ReplayListener::OnCloneDone, id, packets, (*clone)->stats());
  return {};
}

Status Session::DrainBuffer(SessionBuffer& buffer) {
  if (buffer.observer) buffer.observer->BeginDrain();
  listeners_.Call(&ReplayListener::OnDrainBegun, buffer.id);
  buffer.engine->BeginRead();
  while (const Packet* packet = buffer.engine->NextPacket())
    listeners_.Call(&ReplayListener::OnDrainPacket, buffer.id, *packet);
  return CheckEngine(buffer.id, *buffer.engine);
}

Status Session::EndLog() {
  for (const auto& [id, buffer] : buffers_)
    RS_RETURN_IF_ERROR(CheckEngineAtEnd(id, *buffer.engine));
  counts_.Finish();
  counts_.Fill(stats_);
  return listeners_.Call(&ReplayListener::OnLogEnd, *this);
}

Status Session::Drain() {
  for (auto& [id, buffer] : buffers_) RS_RETURN_IF_ERROR(DrainBuffer(buffer));
  listeners_.Call(&ReplayListener::OnDrained);
  return {};
}

}  // namespace ringscope
