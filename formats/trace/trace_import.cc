// Reading a trace's packets for an import: who wrote them, when, and what the service reports.

#include "formats/trace/trace_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/perfetto/clocks.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/packet_validator.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

constexpr uint32_t kMaxWriters = 32'767;  // of a producer: larger ids cannot be patched
constexpr size_t kMaxProducers = UINT16_MAX;
constexpr uint64_t kMaxConfigBytes = uint64_t{16} << 20;

template <size_t N>
bool IsOneOf(uint32_t content, const std::array<uint32_t, N>& list) {
  return std::find(list.begin(), list.end(), content) != list.end();
}

/// Whether a packet is the service's own. Traces that other programs made have producers' packets
/// under the service's sequence id, or without one.
bool IsOfService(uint32_t sequence_id, uint32_t content) {
  constexpr std::array<uint32_t, 7> kReserved = {
      proto::TracePacket::kTraceConfig,           proto::TracePacket::kTraceStats,
      proto::TracePacket::kSynchronizationMarker, proto::TracePacket::kServiceEvent,
      proto::TracePacket::kTraceProvenance,       proto::TracePacket::kProtoVms,
      proto::TracePacket::kRemoteClockSync};
  constexpr std::array<uint32_t, 8> kOfProducers = {
      proto::TracePacket::kFtraceEvents,        proto::TracePacket::kProcessTree,
      proto::TracePacket::kProcessStats,        proto::TracePacket::kTrackEvent,
      proto::TracePacket::kInternedData,        proto::TracePacket::kFtraceStats,
      proto::TracePacket::kTracePacketDefaults, proto::TracePacket::kTrackDescriptor};
  if (IsOneOf(content, kReserved)) return true;
  if (sequence_id == kServiceSequenceId) return !IsOneOf(content, kOfProducers);
  return sequence_id == 0 && (content == proto::TracePacket::kClockSnapshot ||
                              content == proto::TracePacket::kTraceUuid);
}

/// Of a packet with a bundle of ftrace events; nullopt: the bundle does not name it.
std::optional<uint64_t> CpuOf(Bytes packet) {
  std::optional<uint64_t> cpu;
  wire::FieldReader fields(
      wire::LastBytes(packet, proto::TracePacket::kFtraceEvents).value_or(Bytes()));
  while (const auto field = fields.Next()) {
    if (field->number != proto::FtraceEventBundle::kCpu) continue;
    cpu = field->value;  // the first field, nearly always
    break;
  }
  return cpu;
}

/// Removes the service's fields from a packet, wherever they are.
void StripTrustedFields(Bytes packet, std::string& out) {
  out.clear();
  bool after_trusted = false;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    const bool trusted = field->number == proto::TracePacket::kTrustedUid ||
                         field->number == proto::TracePacket::kTrustedPacketSequenceId ||
                         field->number == proto::TracePacket::kTrustedPid ||
                         field->number == proto::TracePacket::kMachineId;
    after_trusted |= trusted;
    // Loss bits that a producer wrote precede the service's fields.
    if (trusted || (field->number == proto::TracePacket::kPreviousPacketDropped && after_trusted))
      continue;
    out += wire::AsText(field->whole);
  }
}

}  // namespace

TraceImport::TraceImport(TraceImportOptions options)
    : options_(std::move(options)), sorter_(options_.sorter) {}

Status TraceImport::Add(const TracePacket& packet) {
  if (!packet.is_well_formed) {
    ++report_.malformed;
    return {};
  }
  const PacketFacts facts = ReadPacketFacts(packet.content);
  if (IsOfService(packet.sequence_id, facts.content)) return AddService(packet, facts);
  Bytes content = packet.content;
  if (!IsValidPacket({&content, 1})) {
    StripTrustedFields(packet.bytes, scratch_);
    content = wire::AsBytes(scratch_);
    if (!IsValidPacket({&content, 1})) {
      ++report_.malformed;
      return {};
    }
  }
  if (content.empty()) {  // a buffer returns none either
    ++report_.empty;
    return {};
  }
  Sequence* const sequence = SequenceOf(
      packet.sequence_id,
      {static_cast<uint32_t>(packet.trusted_uid.value_or(0)), packet.trusted_pid.value_or(-1)});
  if (sequence == nullptr) return {};
  TracePacketView view = ViewTracePacket(content);
  view.sequence_id = packet.sequence_id;
  view.machine = packet.machine;
  if (facts.content == proto::TracePacket::kTrackDescriptor) NoteProcessName(content, *sequence);
  view.dropped = NotePacket(*sequence, content.size(), packet.dropped);
  const std::optional<uint64_t> time = TimeOf(view, *sequence);
  // A packet that fields were taken out of is not in the file as it is.
  const bool is_in_file = content.data() == packet.bytes.data();
  RS_ASSIGN_OR_RETURN(const StoredPlace place,
                      PlaceOf(content, content.size(), is_in_file ? packet.in_file : std::nullopt));
  if (time && view.dropped == 0 && facts.content == proto::TracePacket::kFtraceEvents) {
    if (const auto cpu = CpuOf(content)) return AddToDrain(*sequence, *cpu, *time, place);
  }
  return AddAt(*sequence, time, view.dropped, place);
}

Status TraceImport::Add(const BriefPacket& packet, Bytes content, std::optional<uint64_t> in_file) {
  Sequence* const sequence = SequenceOf(packet.sequence_id, packet.identity);
  if (sequence == nullptr) return {};
  const uint32_t dropped = NotePacket(*sequence, packet.content_size, packet.dropped);
  const std::optional<uint64_t> time = TimeOf(packet, dropped, *sequence);
  RS_ASSIGN_OR_RETURN(const StoredPlace place, PlaceOf(content, packet.content_size, in_file));
  return AddAt(*sequence, time, dropped, place);
}

Result<StoredPlace> TraceImport::PlaceOf(Bytes bytes, size_t size,
                                         std::optional<uint64_t> in_file) {
  if (!in_file || options_.sorter.file == nullptr || size > UINT32_MAX) return sorter_.Store(bytes);
  return StoredPlace{*in_file, static_cast<uint32_t>(size), true};
}

Status TraceImport::AddService(const TracePacket& packet, const PacketFacts& facts) {
  const Bytes content = wire::LastBytes(packet.content, facts.content).value_or(Bytes());
  std::optional<uint64_t> time = facts.timestamp;
  switch (facts.content) {
    case proto::TracePacket::kTraceConfig: {
      session_.AddConfig(content);
      const std::string config(wire::AsText(content));
      uint64_t kept = config.size();
      for (const std::string& other : configs_) kept += other.size();
      const bool is_new = std::find(configs_.begin(), configs_.end(), config) == configs_.end();
      if (is_new && kept <= kMaxConfigBytes) configs_.push_back(config);
      return {};
    }
    case proto::TracePacket::kTraceStats:
      session_.AddStats(content);
      return {};
    case proto::TracePacket::kTraceProvenance:
      session_.AddListing(content);
      listed_.Add(content);
      return {};
    case proto::TracePacket::kProtoVms:
      AddPrograms(content);
      return {};
    case proto::TracePacket::kClockSnapshot:
      clocks_.Of(packet.machine).AddSnapshot(content, packet.sequence_id);
      if (const auto taken = BootTimeOf(content)) time = taken;
      break;
    case proto::TracePacket::kRemoteClockSync:
      clocks_.AddSync(packet.machine, content);
      LeaveOut(facts.content);
      return {};
    case proto::TracePacket::kServiceEvent: {
      const std::optional<uint32_t> event = ServiceEventIn(content);
      disabled_ |= event == proto::ServiceEvent::kTracingDisabled;
      reads_during_ |= event == proto::ServiceEvent::kReadTracingBuffersCompleted && !disabled_;
      if (event == proto::ServiceEvent::kReadTracingBuffersCompleted && time)
        RS_RETURN_IF_ERROR(NoteRead(*time));
      break;
    }
    default:
      LeaveOut(facts.content);
      return {};
  }
  if (time) NoteTime(*time);
  if (packet.content.size() > kMaxConfigBytes) {
    LeaveOut(facts.content);
    return {};
  }
  RS_ASSIGN_OR_RETURN(const StoredPlace place, sorter_.Store(packet.content));
  return sorter_.Add({.time_ns = time.value_or(latest_ns_.value_or(0)),
                      .sequence = kServiceSlot,
                      .dropped = 0,
                      .place = place});
}

/// The programs and the states that the trace begins with.
void TraceImport::AddPrograms(Bytes protovms) {
  constexpr size_t kMaxPrograms = 1024;
  wire::FieldReader instances(protovms);
  while (const auto instance = instances.Next()) {
    if (instance->number != proto::ProtoVms::kInstance || instance->type != wire::Type::kBytes)
      continue;
    const protovm::TracedProgram read = protovm::ReadTracedProgram(instance->bytes);
    program_bytes_ += read.program.size() + read.state.size();
    if (programs_.size() == kMaxPrograms || program_bytes_ > kMaxConfigBytes)
      return LeaveOut(proto::TracePacket::kProtoVms);
    Program& program = programs_.emplace_back(Program{std::string(wire::AsText(read.program)),
                                                      std::string(wire::AsText(read.state)),
                                                      read.memory_limit_kb,
                                                      {}});
    for (const int32_t producer : read.producers)
      if (const std::vector<uint32_t>* listed = listed_.Of(producer))
        program.sequences.insert(program.sequences.end(), listed->begin(), listed->end());
  }
}

void TraceImport::LeaveOut(uint32_t content) {
  constexpr size_t kMaxKinds = 1000;  // more are no trace's
  if (report_.left_out.size() < kMaxKinds || report_.left_out.contains(content))
    ++report_.left_out[content];
}

/// Packets before the event in the file were returned by that read, those after it were not.
Status TraceImport::NoteRead(uint64_t time_ns) {
  RS_RETURN_IF_ERROR(EndAllDrains());
  RS_RETURN_IF_ERROR(ReleaseAllHeld(std::min(first_ns_.value_or(time_ns), time_ns)));
  read_ns_ = std::max(read_ns_.value_or(time_ns), time_ns);
  return {};
}

uint32_t TraceImport::NotePacket(Sequence& sequence, size_t bytes, uint32_t dropped) {
  ++report_.packets;
  report_.packet_bytes += bytes;
  // A buffer of version 1 marks the first packet of every sequence, which is no loss.
  const bool is_first = !std::exchange(sequence.has_packet, true);
  return is_first && dropped == kLossPresent ? 0 : dropped;
}

Status TraceImport::AddAt(Sequence& sequence, std::optional<uint64_t> time, uint32_t dropped,
                          const StoredPlace& place) {
  if (!sequence.drain.bundles.empty()) RS_RETURN_IF_ERROR(EndDrain(sequence));
  if (time) {
    NoteTime(*time);
    if (!sequence.held.empty()) RS_RETURN_IF_ERROR(ReleaseHeld(sequence, *time));
    if (*time < sequence.own_ns) ++report_.late;
    sequence.own_ns = *time;
  } else {
    ++report_.untimed;
  }
  // Never earlier than the preceding packet, nor than a read that precedes it in the file.
  for (const std::optional<uint64_t> bound : {time, read_ns_})
    if (bound) sequence.last_ns = std::max(sequence.last_ns.value_or(*bound), *bound);
  if (sequence.last_ns) return Sort(sequence, *sequence.last_ns, dropped, place);
  // It goes with the sequence's first packet that has a time.
  sequence.held.push_back({report_.packets, dropped, place});
  if (++held_ > kMaxHeld) return ReleaseAllHeld(latest_ns_.value_or(0));
  return {};
}

/// When the packet can have been committed: after the last event in it, on the trace's clock. A
/// bundle of ftrace events, which is written when the kernel's buffer is drained, has many.
/// @return nullopt: it has no time, or its clock is not known
std::optional<uint64_t> TraceImport::TimeOf(const TracePacketView& view, Sequence& sequence) {
  sequence.state.Add(view.clears_state, view.dropped != 0);
  if (view.content == proto::TracePacket::kClockSnapshot)
    clocks_.Of(view.machine).AddSnapshot(view.content_bytes, view.sequence_id);
  sequence.time.Update(view);
  // Where packets before are lost, another default may have been set.
  if (view.needs_state && !sequence.state.valid() && !view.timestamp_clock) return std::nullopt;
  std::optional<uint64_t> latest;
  const auto add = [&](const EventTimes::Time& time) {
    const auto ns = clocks_.ToTraceTime(view.machine, time.clock, time.time);
    if (ns && *ns >= 0) latest = std::max(latest.value_or(0), static_cast<uint64_t>(*ns));
  };
  ReadEventTimes(view, sequence.time, clocks_.Of(view.machine), event_times_);
  if (event_times_.times.empty()) {
    // It is of no use to trace processor, but its own time is when it was written.
    if (const auto own = OwnTime(view, sequence.time, clocks_.Of(view.machine))) add(*own);
    return latest;
  }
  for (const EventTimes::Time& time : event_times_.times) add(time);
  return latest;
}

/// Returns when a packet that has its own time, and no other, can have been committed.
/// @param dropped that are a loss
std::optional<uint64_t> TraceImport::TimeOf(const BriefPacket& packet, uint32_t dropped,
                                            Sequence& sequence) {
  sequence.state.Add(packet.clears_state, dropped != 0);
  if (dropped != 0 || packet.clears_state) {
    TracePacketView view = packet.View();
    view.dropped = dropped;
    sequence.time.Update(view);
  }
  if (!packet.has_timestamp ||
      (packet.needs_state && !sequence.state.valid() && !packet.has_timestamp_clock))
    return std::nullopt;
  TraceClocks& clocks = clocks_.Of(packet.machine);
  std::optional<ClockKey> clock;
  if (packet.has_timestamp_clock)
    clock = ClockKey::Of(packet.sequence_id, packet.timestamp_clock);
  else if (sequence.time.default_clock)
    clock = ClockKey::Of(packet.sequence_id, *sequence.time.default_clock);
  else
    clock = clocks.default_clock();
  const auto ns = clocks_.ToTraceTime(packet.machine, clock, packet.timestamp);
  return ns && *ns >= 0 ? std::optional(static_cast<uint64_t>(*ns)) : std::nullopt;
}

void TraceImport::NoteTime(uint64_t time_ns) {
  first_ns_ = std::min(first_ns_.value_or(time_ns), time_ns);
  latest_ns_ = time_ns;
}

/// @return nullptr: the packet has to be left out
TraceImport::Sequence* TraceImport::SequenceOf(uint32_t id, Identity identity) {
  const auto found = slots_.find(id);
  if (found != slots_.end()) return &sequences_[found->second];
  const std::optional<size_t> producer = ProducerOf(identity);
  if (!producer || sequences_.size() == kMaxSequences) {
    ++report_.beyond_limits;
    return nullptr;
  }
  slots_.emplace(id, static_cast<uint32_t>(sequences_.size()));
  Sequence& sequence = sequences_.emplace_back();
  sequence.id = id;
  sequence.producer = *producer;
  sequence.writer = WriterId{static_cast<uint16_t>(++producers_[*producer].writers)};
  sequence.packer.emplace(sequence.writer);
  ++report_.sequences;
  return &sequence;
}

/// The producer of an identity that can take another writer; nullopt: there are too many.
std::optional<size_t> TraceImport::ProducerOf(Identity identity) {
  const auto [place, is_new] =
      producer_of_.try_emplace({identity.uid, identity.pid}, producers_.size());
  if (!is_new && producers_[place->second].writers < kMaxWriters) return place->second;
  if (producers_.size() == kMaxProducers) {
    if (is_new) producer_of_.erase(place);
    return std::nullopt;
  }
  place->second = producers_.size();
  producers_.push_back({.identity = identity, .name = {}});
  ++report_.producers;
  return place->second;
}

/// A process that describes itself gives its producer a name.
void TraceImport::NoteProcessName(Bytes content, const Sequence& sequence) {
  constexpr size_t kMaxName = 256;
  const auto descriptor = wire::LastBytes(content, proto::TracePacket::kTrackDescriptor);
  const auto process =
      wire::LastBytes(descriptor.value_or(Bytes()), proto::TrackDescriptor::kProcess);
  if (!process) return;
  Producer& producer = producers_[sequence.producer];
  std::optional<int32_t> pid;
  wire::FieldReader fields(*process);
  while (const auto field = fields.Next())
    if (field->IsVarint(proto::ProcessDescriptor::kPid)) pid = static_cast<int32_t>(field->value);
  const auto name = wire::LastBytes(*process, proto::ProcessDescriptor::kProcessName);
  if (name && pid == producer.identity.pid)
    producer.name = wire::AsText(name->first(std::min(name->size(), kMaxName)));
}

}  // namespace ringscope
