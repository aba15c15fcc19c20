#include "core/session/session_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/session/session.h"

namespace ringscope {
namespace {

constexpr uint32_t kTimeOfDay = proto::BuiltinClock::kBuiltinClockRealtime;

}  // namespace

void SessionClock::AddRecord(const Op& op) {
  if (!start_ns_ || (!is_started_ && IsSessionStart(op))) start_ns_ = op.time_ns;
  is_started_ |= IsSessionStart(op);
  const auto* const snapshot = std::get_if<ClockSnapshotRecord>(&op.body);
  if (snapshot == nullptr) return;
  clocks_.AddSnapshot(wire::AsBytes(snapshot->snapshot));
  if (clocks_.Knows(kTimeOfDay)) wall_offset_ns_ = clocks_.Resolve(kTimeOfDay, 0);
}

std::string SessionClock::Text(uint64_t boot_ns) const {
  return boot_ns < start_ns() ? "-" + HumanDuration(start_ns() - boot_ns)
                              : HumanDuration(boot_ns - start_ns());
}

namespace {

/// A writer describes its own track before it writes anything else.
constexpr uint32_t kChunksWithNames = 2;
constexpr size_t kMaxName = 64;

/// The name of the thread that a packet describes; empty: it does not.
Bytes ThreadIn(Bytes packet) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next())
    if (field->IsBytes(proto::TracePacket::kTrackDescriptor))
      return ReadTrackNames(field->bytes).thread;
  return {};
}

}  // namespace

void SessionNotes::OnRecord(const Op& op, const LogMoment&) {
  clock_.AddRecord(op);
  if (const auto* connected = std::get_if<ProducerConnected>(&op.body))
    producers_[connected->producer] = {connected->name, connected->smb_size, {}, connected->pid};
  if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body))
    producers_[memory->producer].smb_size = memory->size;
  if (const auto* registered = std::get_if<DataSourceRegistered>(&op.body))
    registered_.insert(registered->name);
  if (const auto* config = std::get_if<TraceConfigRecord>(&op.body))
    for (const ConfiguredSource& source :
         ReadTraceConfigFacts(wire::AsBytes(config->config)).sources)
      asked_.insert(source.name);
  if (const auto* source = std::get_if<DataSourceSetUp>(&op.body))
    producers_[source->producer].sources[source->target_buffer].insert(source->name);
}

void SessionNotes::OnChunk(BufferId, const ChunkCommit& commit, std::optional<Refusal>) {
  Sequence& sequence = sequences_[commit.sequence];
  if (sequence.chunks == kChunksWithNames || !sequence.thread.empty()) return;
  ++sequence.chunks;
  producers_[commit.sequence.producer].pid = commit.identity.pid;
  bool begins = (commit.flags & kFirstContinues) == 0;
  VisitFragments(commit.payload, commit.fragments, [&](const Fragment& fragment) {
    const Bytes bytes = commit.payload.subspan(fragment.body, fragment.size());
    if (std::exchange(begins, true) && sequence.content == 0)
      sequence.content = ReadPacketFacts(bytes).content;
    const Bytes thread = ThreadIn(bytes);
    if (!thread.empty() && sequence.thread.empty())
      sequence.thread = wire::AsText(thread.first(std::min(thread.size(), kMaxName)));
  });
}

Status SessionNotes::OnPacket(const SessionPacket& packet) {
  if (packet.sequence_id != 0) sequences_[packet.packet->sequence].trace_id = packet.sequence_id;
  return {};
}

std::string SessionNotes::ProducerOf(SequenceKey sequence) const {
  const auto producer = producers_.find(sequence.producer);
  return producer == producers_.end() ? "" : producer->second.name;
}

int32_t SessionNotes::PidOf(SequenceKey sequence) const {
  const auto producer = producers_.find(sequence.producer);
  return producer == producers_.end() ? 0 : std::max(producer->second.pid, 0);
}

std::set<std::string> SessionNotes::SourcesOf(ProducerId producer, BufferId buffer) const {
  const auto of = producers_.find(producer);
  if (of == producers_.end()) return {};
  const auto sources = of->second.sources.find(buffer);
  return sources == of->second.sources.end() ? std::set<std::string>() : sources->second;
}

std::string SessionNotes::SourceOf(SequenceKey sequence, BufferId buffer) const {
  std::set<std::string> sources = SourcesOf(sequence.producer, buffer);
  const Sequence* const of = sequences_.Find(sequence);
  // Of several, the events of the kernel are known by their content.
  const bool is_ftrace = of != nullptr && of->content == proto::TracePacket::kFtraceEvents;
  if (sources.size() > 1 && sources.erase(kFtraceSource) > 0 && is_ftrace) return kFtraceSource;
  return sources.size() == 1 ? *sources.begin() : "";
}

std::set<std::string> SessionNotes::UnknownSources() const {
  std::set<std::string> unknown;
  if (!registered_.empty())  // else the log does not have them
    std::ranges::set_difference(asked_, registered_, std::inserter(unknown, unknown.end()));
  return unknown;
}

std::string SessionNotes::ThreadOf(SequenceKey sequence) const {
  const Sequence* const found = sequences_.Find(sequence);
  return found == nullptr ? "" : found->thread;
}

std::string SessionNotes::WriterOf(SequenceKey sequence) const {
  const std::string producer = Printable(ProducerOf(sequence));
  const std::string thread = Printable(ThreadOf(sequence));
  if (thread.empty() || thread == producer) return producer;
  return producer.empty() ? "thread " + thread : producer + "/" + thread;
}

std::string SessionNotes::NameOf(SequenceKey sequence) const {
  const std::string writer = WriterOf(sequence);
  const uint32_t id = TraceIdOf(sequence);
  if (id == 0) return "writer " + ToString(sequence) + (writer.empty() ? "" : " (" + writer + ")");
  return fmt::format("sequence {} ({}{}{})", id, writer, writer.empty() ? "" : ", ",
                     ToString(sequence));
}

std::string SessionNotes::NameOf(BufferId buffer) const {
  const auto found = buffers_.find(buffer);
  return found == buffers_.end() ? fmt::format("buffer {}", Raw(buffer))
                                 : fmt::format("buffers[{}]", found->second);
}

void SessionNotes::OnBufferSetUp(SessionBuffer& buffer) { buffers_[buffer.id] = buffer.index; }

uint32_t SessionNotes::TraceIdOf(SequenceKey sequence) const {
  const Sequence* const found = sequences_.Find(sequence);
  return found == nullptr ? 0 : found->trace_id;
}

std::optional<uint64_t> SessionNotes::SharedMemoryOf(SequenceKey sequence) const {
  const auto producer = producers_.find(sequence.producer);
  return producer == producers_.end() ? std::nullopt : producer->second.smb_size;
}

}  // namespace ringscope
