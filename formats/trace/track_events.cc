#include "formats/trace/track_events.h"

#include <fmt/format.h>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// trusted_packet_sequence_id of packets that ringscope itself writes: far from those that a
/// service assigns, which count from 1.
constexpr uint32_t kOwnSequenceId = 0x52530000;
/// Numbers of tracks and flows count from here, so that they differ from others' in the trace.
constexpr uint64_t kFirstNumber = 0x72696E6700000000;

enum EventType : uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterEvent = 4 };

/// Joins neighbours until there are at most so many.
void JoinSlices(std::vector<TrackSlice>& slices, size_t most) {
  while (slices.size() > std::max(most, size_t{1})) {
    for (size_t i = 0; i < slices.size(); i += 2) {
      if (i + 1 < slices.size()) slices[i].Join(slices[i + 1]);
      if (i > 0) slices[i / 2] = std::move(slices[i]);
    }
    slices.resize((slices.size() + 1) / 2);
  }
}

/// Leaves out every other value but the last.
template <typename Sample>
void Thin(std::vector<Sample>& samples) {
  for (size_t i = 0; i < samples.size() / 2; ++i) samples[i] = samples[2 * i + 1];
  if (samples.size() % 2 == 1) samples[samples.size() / 2] = samples.back();
  samples.resize((samples.size() + 1) / 2);
}

}  // namespace

void TrackSlice::Join(const TrackSlice& next) {
  to_ns = std::max(to_ns, next.to_ns);
  joined += next.joined;
  if (name != next.name) name = name.substr(0, name.find_first_of(":,"));
  std::erase_if(args, [&](EventArg& arg) {
    const std::string_view of = arg.name;
    const EventArg* const same = FindBy(next.args, of, &EventArg::name);
    if (same == nullptr) return true;
    auto* const sum = std::get_if<uint64_t>(&arg.value);
    const auto* const more = std::get_if<uint64_t>(&same->value);
    if (sum == nullptr || more == nullptr || (of != "packets" && of != "bytes"))
      return arg.value != same->value;
    *sum += *more;
    return false;
  });
}

EventTrack& EventTrack::Add(std::string name, Unit unit) {
  EventTrack& track = *children_.emplace_back(std::make_unique<EventTrack>(std::move(name)));
  track.unit_ = unit;
  return track;
}

EventTrack& EventTrack::AddKnown(uint64_t uuid) {
  EventTrack& track = Add("");
  track.known_uuid_ = uuid;
  return track;
}

EventTrack& EventTrack::OfProcess(int32_t pid, const std::string& name) {
  EventTrack*& track = processes_[std::max(pid, 0)];
  if (track != nullptr) return *track;
  track = &Add(pid < 1 ? "ringscope: what is missing" : name);
  if (pid > 0) track->pid_ = pid;
  return *track;
}

void EventTrack::AddSlice(TrackSlice slice) {
  if (slices_.size() == kMost) JoinSlices(slices_, kMost / 2);
  // Slices of one track do not overlap; packets of the same time can be on both sides of a hole.
  if (!slices_.empty()) slice.from_ns = std::max(slice.from_ns, slices_.back().to_ns);
  slice.to_ns = std::max(slice.from_ns, slice.to_ns);
  slices_.push_back(std::move(slice));
}

void EventTrack::AddSample(int64_t ns, uint64_t value) {
  if (!samples_.empty() && samples_.back().value == value) return;
  const bool replaces = !samples_.empty() &&
                        (ns <= samples_.back().ns ||
                         (samples_.size() > 1 && ns - samples_[samples_.size() - 2].ns < step_ns_));
  if (replaces) {
    samples_.back() = {std::max(ns, samples_.back().ns), value};
    return;
  }
  if (samples_.size() == kMost) {
    step_ns_ = std::max(2 * step_ns_, 2 * (ns - samples_.front().ns) / static_cast<int64_t>(kMost));
    Thin(samples_);
  }
  samples_.push_back({ns, value});
}

bool IsOwnSequence(uint32_t id) { return id >> 16 == kOwnSequenceId >> 16; }

/// Appends the packets of tracks.
class TrackEncoder {
 public:
  /// @param most slices of each track @param most_samples of a counter
  TrackEncoder(const TrackOptions& options, size_t most, size_t most_samples)
      : options_(options), most_(most), most_samples_(most_samples) {}

  void AddChildren(const EventTrack& track, uint64_t uuid) {
    for (const auto& child : track.children_) AddTrack(*child, uuid);
  }
  EncodedTracks& out() { return out_; }

 private:
  void AddTrack(const EventTrack& track, uint64_t parent) {
    if (track.slices_.empty() && track.samples_.empty() && track.children_.empty()) return;
    const size_t start = out_.packets.size();
    if (most_ <= 1 && start > options_.most_bytes) {
      out_.left_out += track.slices_.size();
      return;
    }
    const uint64_t uuid = track.known_uuid_ != 0 ? track.known_uuid_ : Describe(track, parent);
    const size_t described = out_.packets.size();
    AddChildren(track, uuid);
    std::vector<TrackSlice> slices = track.slices_;
    JoinSlices(slices, most_);
    for (TrackSlice& slice : slices) AddSlice(slice, uuid);
    std::vector<EventTrack::Sample> samples = track.samples_;
    while (samples.size() > most_samples_) Thin(samples);
    for (const EventTrack::Sample& sample : samples) {
      if (sample.ns < options_.after_ns) continue;
      std::string value;
      wire::AppendUint(value, proto::TrackEvent::kCounterValue, sample.value);
      AddEvent(kCounterEvent, sample.ns, uuid, value);
    }
    if (out_.packets.size() == described) out_.packets.resize(start);
  }

  uint64_t Describe(const EventTrack& track, uint64_t parent) {
    using Descriptor = proto::TrackDescriptor;
    const uint64_t uuid = kFirstNumber + (uint64_t{options_.number} << 20) + ++tracks_;
    std::string message, part;
    wire::AppendUint(message, Descriptor::kUuid, uuid);
    if (track.pid_) {
      wire::AppendUint(part, proto::ProcessDescriptor::kPid, static_cast<uint64_t>(*track.pid_));
      if (!track.name_.empty())
        wire::AppendBytes(part, proto::ProcessDescriptor::kProcessName, wire::AsBytes(track.name_));
      wire::AppendBytes(message, Descriptor::kProcess, wire::AsBytes(part));
    } else {
      wire::AppendBytes(message, Descriptor::kName, wire::AsBytes(track.name_));
      if (parent != 0) wire::AppendUint(message, Descriptor::kParentUuid, parent);
    }
    if (track.unit_ != EventTrack::Unit::kNone) {
      wire::AppendUint(part, proto::CounterDescriptor::kUnit, static_cast<uint64_t>(track.unit_));
      wire::AppendBytes(message, Descriptor::kCounter, wire::AsBytes(part));
    }
    AddPacket(std::nullopt, proto::TracePacket::kTrackDescriptor, message);
    return uuid;
  }

  void AddSlice(TrackSlice& slice, uint64_t track) {
    const bool is_instant = slice.from_ns == slice.to_ns;
    if (slice.to_ns < options_.after_ns || slice.to_ns < 0 ||
        (!is_instant && slice.to_ns == options_.after_ns)) {
      out_.left_out += slice.joined;
      return;
    }
    out_.slices += 1;
    if (slice.joined > 1) {
      slice.name += fmt::format(" (joined: {})", slice.joined);
      slice.args.push_back({"joined", slice.joined});
    }
    slice.from_ns = std::max({slice.from_ns, options_.after_ns, int64_t{0}});
    AddEvent(is_instant ? kInstant : kSliceBegin, slice.from_ns, track, FieldsOf(slice));
    if (!is_instant) AddEvent(kSliceEnd, slice.to_ns, track, "");
  }

  /// The fields of a slice in the event that begins it.
  std::string FieldsOf(const TrackSlice& slice) const {
    using Event = proto::TrackEvent;
    using Annotation = proto::DebugAnnotation;
    std::string fields, part;
    wire::AppendBytes(fields, Event::kName, wire::AsBytes(slice.name));
    for (const EventArg& arg : slice.args) {
      part.clear();
      wire::AppendBytes(part, Annotation::kName, wire::AsBytes(arg.name));
      if (const auto* number = std::get_if<uint64_t>(&arg.value))
        wire::AppendUint(part, Annotation::kUintValue, *number);
      else
        wire::AppendBytes(part, Annotation::kStringValue, wire::AsBytes(std::get<1>(arg.value)));
      wire::AppendBytes(fields, Event::kDebugAnnotations, wire::AsBytes(part));
    }
    if (slice.flow != 0) {
      const uint64_t flow = kFirstNumber + (uint64_t{options_.number} << 20) + slice.flow;
      wire::AppendTag(fields, slice.ends_flow ? Event::kTerminatingFlowIds : Event::kFlowIds,
                      wire::Type::kFixed64);
      for (unsigned bit = 0; bit < 64; bit += 8) fields.push_back(static_cast<char>(flow >> bit));
    }
    return fields;
  }

  /// @param fields of its kind
  void AddEvent(EventType type, int64_t ns, uint64_t track, const std::string& fields) {
    std::string event;
    wire::AppendUint(event, proto::TrackEvent::kType, type);
    wire::AppendUint(event, proto::TrackEvent::kTrackUuid, track);
    AddPacket(ns, proto::TracePacket::kTrackEvent, event + fields);
  }

  void AddPacket(std::optional<int64_t> ns, uint32_t field, const std::string& content) {
    std::string packet;
    if (ns) wire::AppendUint(packet, proto::TracePacket::kTimestamp, static_cast<uint64_t>(*ns));
    wire::AppendBytes(packet, field, wire::AsBytes(content));
    if (ns && options_.clock != 0)
      wire::AppendUint(packet, proto::TracePacket::kTimestampClockId, options_.clock);
    wire::AppendUint(packet, proto::TracePacket::kTrustedPacketSequenceId,
                     kOwnSequenceId + options_.number);
    wire::AppendBytes(out_.packets, proto::Trace::kPacket, wire::AsBytes(packet));
  }

  const TrackOptions& options_;
  const size_t most_, most_samples_;
  uint64_t tracks_ = 0;
  EncodedTracks out_;
};

EncodedTracks EncodeTracks(const EventTrack& root, const TrackOptions& options) {
  constexpr size_t kFewSamples = 64;  // with fewer a counter shows little
  for (size_t most = EventTrack::kMost, samples = EventTrack::kMost;;) {
    TrackEncoder encoder(options, most, samples);
    encoder.AddChildren(root, 0);
    if (encoder.out().packets.size() <= options.most_bytes || (most <= 1 && samples <= 1))
      return std::move(encoder.out());
    (samples > kFewSamples || most <= 1 ? samples : most) /= 2;
  }
}

}  // namespace ringscope
