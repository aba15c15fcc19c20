#include "formats/trace/track_events.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// trusted_packet_sequence_id of packets that ringscope itself writes: far from those that a
/// service assigns, which count from 1.
constexpr uint32_t kOwnSequenceId = 0x52530000;
/// Numbers of tracks count from here, so that they differ from others' in a joined trace.
constexpr uint64_t kFirstTrack = 0x72696E6700000000;

enum EventType : uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterEvent = 4 };

constexpr uint64_t kStateCleared = 1;  // of sequence_flags
constexpr const char* kCategory = "ringscope";

void AppendFixed64(std::string& out, uint32_t number, uint64_t value) {
  wire::AppendTag(out, number, wire::Type::kFixed64);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

auto TrackEventWriter::AddTrack(std::string_view name, Track parent) -> Track {
  return AddDescriptor(name, parent, 0, {});
}

auto TrackEventWriter::AddProcess(const Process& process) -> Track {
  std::string content;
  wire::AppendUint(content, proto::ProcessDescriptor::kPid,
                   static_cast<uint64_t>(int64_t{process.pid}));
  wire::AppendBytes(content, proto::ProcessDescriptor::kProcessName, wire::AsBytes(process.name));
  return AddDescriptor({}, Track::kNone, proto::TrackDescriptor::kProcess, content);
}

auto TrackEventWriter::AddCounter(std::string_view name, Unit unit, Track parent) -> Track {
  std::string content;
  if (unit != Unit::kNone)
    wire::AppendUint(content, proto::CounterDescriptor::kUnit, static_cast<uint64_t>(unit));
  return AddDescriptor(name, parent, proto::TrackDescriptor::kCounter, content);
}

auto TrackEventWriter::AddDescriptor(std::string_view name, Track parent, uint32_t field,
                                     const std::string& content) -> Track {
  const uint64_t uuid = kFirstTrack + ++tracks_;
  event_.clear();
  wire::AppendUint(event_, proto::TrackDescriptor::kUuid, uuid);
  if (!name.empty()) wire::AppendBytes(event_, proto::TrackDescriptor::kName, wire::AsBytes(name));
  if (field != 0) wire::AppendBytes(event_, field, wire::AsBytes(content));
  if (parent != Track::kNone)
    wire::AppendUint(event_, proto::TrackDescriptor::kParentUuid, static_cast<uint64_t>(parent));
  Write(std::nullopt, proto::TracePacket::kTrackDescriptor, event_);
  return Track{uuid};
}

void TrackEventWriter::Begin(Track track, uint64_t time_ns, std::string_view name, Args args) {
  StartEvent(kSliceBegin, track);
  wire::AppendBytes(event_, proto::TrackEvent::kName, wire::AsBytes(name));
  AddArgs(args);
  WriteEvent(time_ns);
}

void TrackEventWriter::End(Track track, uint64_t time_ns, Args args) {
  StartEvent(kSliceEnd, track);
  AddArgs(args);
  WriteEvent(time_ns);
}

void TrackEventWriter::Instant(Track track, uint64_t time_ns, std::string_view name, Args args,
                               uint64_t flow_out, uint64_t flow_in) {
  StartEvent(kInstant, track);
  wire::AppendBytes(event_, proto::TrackEvent::kName, wire::AsBytes(name));
  AddArgs(args);
  if (flow_out != 0) AppendFixed64(event_, proto::TrackEvent::kFlowIds, flow_out);
  if (flow_in != 0) AppendFixed64(event_, proto::TrackEvent::kTerminatingFlowIds, flow_in);
  WriteEvent(time_ns);
}

void TrackEventWriter::Counter(Track track, uint64_t time_ns, uint64_t value) {
  StartEvent(kCounterEvent, track);
  wire::AppendUint(event_, proto::TrackEvent::kCounterValue, value);
  WriteEvent(time_ns);
}

void TrackEventWriter::StartEvent(uint64_t type, Track track) {
  event_.clear();
  wire::AppendUint(event_, proto::TrackEvent::kType, type);
  wire::AppendUint(event_, proto::TrackEvent::kTrackUuid, static_cast<uint64_t>(track));
  if (type == kSliceBegin || type == kInstant)
    wire::AppendBytes(event_, proto::TrackEvent::kCategories, wire::AsBytes(kCategory));
}

void TrackEventWriter::AddArgs(Args args) {
  for (const Arg& arg : args) {
    scratch_.clear();
    wire::AppendBytes(scratch_, proto::DebugAnnotation::kName, wire::AsBytes(arg.name));
    std::visit(Overloaded{[&](uint64_t value) {
                            wire::AppendUint(scratch_, proto::DebugAnnotation::kUintValue, value);
                          },
                          [&](bool value) {
                            wire::AppendUint(scratch_, proto::DebugAnnotation::kBoolValue,
                                             value ? 1 : 0);
                          },
                          [&](std::string_view text) {
                            wire::AppendBytes(scratch_, proto::DebugAnnotation::kStringValue,
                                              wire::AsBytes(text));
                          }},
               arg.value);
    wire::AppendBytes(event_, proto::TrackEvent::kDebugAnnotations, wire::AsBytes(scratch_));
  }
}

void TrackEventWriter::WriteEvent(uint64_t time_ns) {
  Write(time_ns, proto::TracePacket::kTrackEvent, event_);
}

void TrackEventWriter::Write(std::optional<uint64_t> time_ns, uint32_t field,
                             const std::string& content) {
  packet_.clear();
  if (time_ns) wire::AppendUint(packet_, proto::TracePacket::kTimestamp, *time_ns);
  wire::AppendBytes(packet_, field, wire::AsBytes(content));
  wire::AppendUint(packet_, proto::TracePacket::kTrustedPacketSequenceId, kOwnSequenceId);
  if (!std::exchange(started_, true))
    wire::AppendUint(packet_, proto::TracePacket::kSequenceFlags, kStateCleared);
  if (status_) status_ = trace_.AddRawPacket(wire::AsBytes(packet_));
}

}  // namespace ringscope
