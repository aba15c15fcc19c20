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

}  // namespace

bool TrackEventWriter::IsOwnSequence(uint32_t id) { return id >> 16 == kOwnSequenceId >> 16; }

auto TrackEventWriter::AddTrack(std::string_view name, Track parent) -> Track {
  return Describe(name, parent, nullptr);
}

auto TrackEventWriter::AddCounter(std::string_view name, Track parent) -> Track {
  constexpr uint64_t kBytes = 3;
  std::string counter;
  wire::AppendUint(counter, proto::CounterDescriptor::kUnit, kBytes);
  return Describe(name, parent, &counter);
}

auto TrackEventWriter::Describe(std::string_view name, Track parent, const std::string* counter)
    -> Track {
  const uint64_t uuid = kFirstTrack + (uint64_t{number_} << 20) + ++tracks_;
  std::string track;
  wire::AppendUint(track, proto::TrackDescriptor::kUuid, uuid);
  wire::AppendBytes(track, proto::TrackDescriptor::kName, wire::AsBytes(name));
  if (counter != nullptr)
    wire::AppendBytes(track, proto::TrackDescriptor::kCounter, wire::AsBytes(*counter));
  if (parent != Track::kNone)
    wire::AppendUint(track, proto::TrackDescriptor::kParentUuid, static_cast<uint64_t>(parent));
  Write(std::nullopt, proto::TracePacket::kTrackDescriptor, track);
  return Track{uuid};
}

void TrackEventWriter::Begin(Track track, uint64_t time_ns, std::string_view name,
                             const Args& args) {
  WriteEvent(kSliceBegin, track, time_ns, name, args);
}

void TrackEventWriter::End(Track track, uint64_t time_ns, const Args& args) {
  WriteEvent(kSliceEnd, track, time_ns, {}, args);
}

void TrackEventWriter::Instant(Track track, uint64_t time_ns, std::string_view name,
                               const Args& args) {
  WriteEvent(kInstant, track, time_ns, name, args);
}

void TrackEventWriter::Counter(Track track, uint64_t time_ns, uint64_t value) {
  WriteEvent(kCounterEvent, track, time_ns, {}, {}, value);
}

void TrackEventWriter::WriteEvent(uint64_t type, Track track, uint64_t time_ns,
                                  std::string_view name, const Args& args,
                                  std::optional<uint64_t> value) {
  using Annotation = proto::DebugAnnotation;
  std::string event, annotation;
  wire::AppendUint(event, proto::TrackEvent::kType, type);
  wire::AppendUint(event, proto::TrackEvent::kTrackUuid, static_cast<uint64_t>(track));
  if (!name.empty()) wire::AppendBytes(event, proto::TrackEvent::kName, wire::AsBytes(name));
  if (value) wire::AppendUint(event, proto::TrackEvent::kCounterValue, *value);
  for (const Arg& arg : args) {
    annotation.clear();
    wire::AppendBytes(annotation, Annotation::kName, wire::AsBytes(arg.name));
    if (const auto* number = std::get_if<uint64_t>(&arg.value))
      wire::AppendUint(annotation, Annotation::kUintValue, *number);
    else
      wire::AppendBytes(annotation, Annotation::kStringValue,
                        wire::AsBytes(std::get<std::string>(arg.value)));
    wire::AppendBytes(event, proto::TrackEvent::kDebugAnnotations, wire::AsBytes(annotation));
  }
  Write(time_ns, proto::TracePacket::kTrackEvent, event);
}

void TrackEventWriter::Write(std::optional<uint64_t> time_ns, uint32_t field,
                             const std::string& content) {
  std::string packet;
  if (time_ns) wire::AppendUint(packet, proto::TracePacket::kTimestamp, *time_ns);
  wire::AppendBytes(packet, field, wire::AsBytes(content));
  if (time_ns && clock_ != 0)
    wire::AppendUint(packet, proto::TracePacket::kTimestampClockId, clock_);
  wire::AppendUint(packet, proto::TracePacket::kTrustedPacketSequenceId, kOwnSequenceId + number_);
  if (status_) status_ = trace_.AddRawPacket(wire::AsBytes(packet));
}

}  // namespace ringscope
