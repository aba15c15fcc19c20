#include "core/session/session_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

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

/// A writer describes its own track before it writes anything else.
constexpr uint32_t kChunksWithNames = 2;
constexpr size_t kMaxName = 64;

}  // namespace

void SessionClock::AddRecord(const Op& op) {
  start_.Add(op);
  const auto* const snapshot = std::get_if<ClockSnapshotRecord>(&op.body);
  if (snapshot == nullptr) return;
  clocks_.AddSnapshot(wire::AsBytes(snapshot->snapshot));
  if (clocks_.Knows(kTimeOfDay)) wall_offset_ns_ = clocks_.Resolve(kTimeOfDay, 0);
}

std::string SessionClock::Text(uint64_t boot_ns) const {
  return boot_ns < start_ns() ? "-" + HumanDuration(start_ns() - boot_ns)
                              : HumanDuration(boot_ns - start_ns());
}

void SessionNotes::OnRecord(const Op& op, const LogMoment& moment) {
  clock_.AddRecord(op);
  now_ns_ = moment.time_ns;
  if (const auto* connected = std::get_if<ProducerConnected>(&op.body)) {
    Producer& producer = producers_[connected->producer];
    if (!producer.name.empty() && op.time_ns)
      producer.before.emplace_back(producer.name, *op.time_ns);
    producer = {.name = connected->name,
                .smb_size = connected->smb_size,
                .pid = connected->pid,
                .before = std::move(producer.before)};
  }
  if (const auto* writer = std::get_if<WriterRegistered>(&op.body)) {
    Sequence& sequence = sequences_[{writer->producer, writer->writer}];
    if (std::exchange(sequence.is_registered, true)) sequence.again_ns = op.time_ns;
    std::set<std::string>& started = producers_[writer->producer].without_writer[writer->buffer];
    sequence.source = started.size() == 1 ? *started.begin() : "";
    if (started.size() == 1) started.clear();
  }
  if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body))
    producers_[memory->producer].smb_size = memory->size;
  if (const auto* registered = std::get_if<DataSourceRegistered>(&op.body))
    registered_.insert(registered->name);
  if (const auto* config = std::get_if<TraceConfigRecord>(&op.body))
    for (const ConfiguredSource& source :
         ReadTraceConfigFacts(wire::AsBytes(config->config)).sources)
      asked_.insert(source.name);
  if (const auto* source = std::get_if<DataSourceSetUp>(&op.body)) {
    Producer& producer = producers_[source->producer];
    producer.sources[source->target_buffer].insert(source->name);
    producer.instances[source->instance] = {source->target_buffer, source->name};
  }
  if (const auto* started = std::get_if<DataSourceStarted>(&op.body)) {
    Producer& producer = producers_[started->producer];
    if (const auto* const of = FindIn(producer.instances, started->instance))
      producer.without_writer[of->first].insert(of->second);
  }
}

void SessionNotes::OnChunk(BufferId, const ChunkCommit& commit, std::optional<Refusal>) {
  Sequence& sequence = sequences_[commit.sequence];
  if (!sequence.first_ns) sequence.first_ns = now_ns_;
  if (sequence.chunks == kChunksWithNames || !sequence.thread.empty()) return;
  ++sequence.chunks;
  producers_[commit.sequence.producer].pid = commit.identity.pid;
  bool begins = (commit.flags & kFirstContinues) == 0;
  VisitFragments(commit.payload, commit.fragments, [&](const Fragment& fragment) {
    const Bytes bytes = commit.payload.subspan(fragment.body, fragment.size());
    if (std::exchange(begins, true) && sequence.content == 0)
      sequence.content = ReadPacketFacts(bytes).content;
    const Bytes thread =
        ReadTrackNames(wire::BytesIn(bytes, proto::TracePacket::kTrackDescriptor)).thread;
    if (!thread.empty() && sequence.thread.empty())
      sequence.thread = wire::AsText(thread.first(std::min(thread.size(), kMaxName)));
  });
}

Status SessionNotes::OnPacket(const SessionPacket& packet) {
  if (packet.sequence_id != 0) sequences_[packet.packet->sequence].trace_id = packet.sequence_id;
  return {};
}

std::string SessionNotes::ProducerOf(SequenceKey sequence, std::optional<uint64_t> at_ns) const {
  const std::optional<uint64_t> from_ns = at_ns ? at_ns : Of(sequence).first_ns;
  const Producer& producer = Of(sequence.producer);
  std::string names;
  for (const auto& [name, until_ns] : producer.before) {
    if (!from_ns || *from_ns >= until_ns) continue;
    if (at_ns) return name;
    names += name + ", then ";
  }
  return names + producer.name;
}

std::optional<uint64_t> SessionNotes::GivenAgainAt(SequenceKey sequence) const {
  const auto& before = Of(sequence.producer).before;
  const std::optional<uint64_t> again_ns = Of(sequence).again_ns;
  return again_ns || before.empty() ? again_ns : before.back().second;
}

int32_t SessionNotes::PidOf(SequenceKey sequence) const {
  const Producer& producer = Of(sequence.producer);
  // Chromium's processes connect through the browser, with its pid, and have their own in the name.
  constexpr std::string_view kChromium = "org.chromium-";
  const std::string& name = producer.name;
  int32_t pid = producer.pid;
  if (name.starts_with(kChromium))
    std::from_chars(name.data() + kChromium.size(), name.data() + name.size(), pid);
  return std::max(pid, 0);
}

std::set<std::string> SessionNotes::SourcesOf(ProducerId producer, BufferId buffer) const {
  const std::set<std::string>* const sources = FindIn(Of(producer).sources, buffer);
  return sources == nullptr ? std::set<std::string>() : *sources;
}

std::string SessionNotes::SourceOf(SequenceKey sequence, BufferId buffer) const {
  std::set<std::string> sources = SourcesOf(sequence.producer, buffer);
  const Sequence& of = Of(sequence);
  if (sources.size() > 1 && !of.source.empty()) return of.source;
  // If there are several, the events of the kernel are known by their content.
  const bool is_ftrace = of.content == proto::TracePacket::kFtraceEvents;
  if (sources.size() > 1 && sources.erase(kFtraceSource) > 0 && is_ftrace) return kFtraceSource;
  return sources.size() == 1 ? *sources.begin() : "";
}

std::set<std::string> SessionNotes::UnknownSources() const {
  std::set<std::string> unknown;
  if (!registered_.empty())  // else the log does not have them
    std::ranges::set_difference(asked_, registered_, std::inserter(unknown, unknown.end()));
  return unknown;
}

std::string SessionNotes::WriterOf(SequenceKey sequence, std::optional<uint64_t> at_ns) const {
  const std::string producer = Printable(ProducerOf(sequence, at_ns));
  const std::string thread = Printable(ThreadOf(sequence));
  if (thread.empty() || thread == producer) return producer;
  return producer.empty() ? "thread " + thread : producer + "/" + thread;
}

std::string SessionNotes::NameOf(SequenceKey sequence, std::optional<uint64_t> at_ns) const {
  const std::string writer = WriterOf(sequence, at_ns);
  const uint32_t id = TraceIdOf(sequence);
  if (id == 0) return "writer " + ToString(sequence) + (writer.empty() ? "" : " (" + writer + ")");
  return fmt::format("sequence {} ({}{}{})", id, writer, writer.empty() ? "" : ", ",
                     ToString(sequence));
}

std::string SessionNotes::NameOf(BufferId buffer) const {
  const uint32_t* const index = FindIn(buffers_, buffer);
  return index == nullptr ? fmt::format("buffer {}", Raw(buffer))
                          : fmt::format("buffers[{}]", *index);
}

void SessionNotes::OnBufferSetUp(SessionBuffer& buffer) { buffers_[buffer.id] = buffer.index; }

}  // namespace ringscope
