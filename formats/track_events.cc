#include "formats/track_events.h"

#include "core/wire.h"

namespace ringscope {
namespace {

/// trusted_packet_sequence_id of what ringscope itself has to say: far from those that a service
/// gives out, which count from 1.
constexpr uint32_t kOwnSequenceId = 0x52530000;
/// Numbers of tracks count from here, so that they meet no other's in a trace that is joined.
constexpr uint64_t kFirstTrack = 0x72696E6700000000;

// Field numbers. Source: Perfetto's trace format.
enum PacketField : uint32_t {
  kTimestamp = 8,
  kSequenceFlags = 13,
  kTrackEvent = 11,
  kTrackDescriptor = 60,
};
enum DescriptorField : uint32_t {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kParentUuid = 5,
  kCounter = 8
};
enum ProcessField : uint32_t { kPid = 1, kProcessName = 6 };
enum CounterField : uint32_t { kUnit = 3 };
enum EventField : uint32_t {
  kDebugAnnotations = 4,
  kType = 9,
  kTrackUuid = 11,
  kCategories = 22,
  kEventName = 23,
  kCounterValue = 30,
  kFlowIds = 47,
  kTerminatingFlowIds = 48,
};
enum EventType : uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterEvent = 4 };
enum AnnotationField : uint32_t { kBool = 2, kUint = 3, kString = 6, kAnnotationName = 10 };

constexpr uint64_t kStateCleared = 1;
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
  wire::AppendUint(content, kPid, static_cast<uint64_t>(int64_t{process.pid}));
  wire::AppendBytes(content, kProcessName, wire::AsBytes(process.name));
  return AddDescriptor({}, Track::kNone, kProcess, content);
}

auto TrackEventWriter::AddCounter(std::string_view name, Unit unit, Track parent) -> Track {
  std::string content;
  if (unit != Unit::kNone) wire::AppendUint(content, kUnit, static_cast<uint64_t>(unit));
  return AddDescriptor(name, parent, kCounter, content);
}

auto TrackEventWriter::AddDescriptor(std::string_view name, Track parent, uint32_t field,
                                     const std::string& content) -> Track {
  const uint64_t uuid = kFirstTrack + ++tracks_;
  event_.clear();
  wire::AppendUint(event_, kUuid, uuid);
  if (!name.empty()) wire::AppendBytes(event_, kName, wire::AsBytes(name));
  if (field != 0) wire::AppendBytes(event_, field, wire::AsBytes(content));
  if (parent != Track::kNone) wire::AppendUint(event_, kParentUuid, static_cast<uint64_t>(parent));
  Write(std::nullopt, kTrackDescriptor, event_);
  return Track{uuid};
}

void TrackEventWriter::Begin(Track track, uint64_t time_ns, std::string_view name, Args args) {
  StartEvent(kSliceBegin, track);
  wire::AppendBytes(event_, kEventName, wire::AsBytes(name));
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
  wire::AppendBytes(event_, kEventName, wire::AsBytes(name));
  AddArgs(args);
  if (flow_out != 0) AppendFixed64(event_, kFlowIds, flow_out);
  if (flow_in != 0) AppendFixed64(event_, kTerminatingFlowIds, flow_in);
  WriteEvent(time_ns);
}

void TrackEventWriter::Counter(Track track, uint64_t time_ns, uint64_t value) {
  StartEvent(kCounterEvent, track);
  wire::AppendUint(event_, kCounterValue, value);
  WriteEvent(time_ns);
}

void TrackEventWriter::StartEvent(uint64_t type, Track track) {
  event_.clear();
  wire::AppendUint(event_, kType, type);
  wire::AppendUint(event_, kTrackUuid, static_cast<uint64_t>(track));
  if (type == kSliceBegin || type == kInstant)
    wire::AppendBytes(event_, kCategories, wire::AsBytes(kCategory));
}

void TrackEventWriter::AddArgs(Args args) {
  for (const Arg& arg : args) {
    scratch_.clear();
    wire::AppendBytes(scratch_, kAnnotationName, wire::AsBytes(arg.name));
    std::visit(Overloaded{[&](uint64_t value) { wire::AppendUint(scratch_, kUint, value); },
                          [&](bool value) { wire::AppendUint(scratch_, kBool, value ? 1 : 0); },
                          [&](std::string_view text) {
                            wire::AppendBytes(scratch_, kString, wire::AsBytes(text));
                          }},
               arg.value);
    wire::AppendBytes(event_, kDebugAnnotations, wire::AsBytes(scratch_));
  }
}

void TrackEventWriter::WriteEvent(uint64_t time_ns) { Write(time_ns, kTrackEvent, event_); }

void TrackEventWriter::Write(std::optional<uint64_t> time_ns, uint32_t field,
                             const std::string& content) {
  packet_.clear();
  if (time_ns) wire::AppendUint(packet_, kTimestamp, *time_ns);
  wire::AppendBytes(packet_, field, wire::AsBytes(content));
  wire::AppendUint(packet_, kTrustedSequenceId, kOwnSequenceId);
  if (!std::exchange(started_, true)) wire::AppendUint(packet_, kSequenceFlags, kStateCleared);
  if (status_) status_ = trace_.AddRawPacket(wire::AsBytes(packet_));
}

}  // namespace ringscope
