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

// Of sequence_flags.
constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kNeedsState = 2;
/// Texts in each table; the UI and trace processor keep them all in memory.
constexpr size_t kMaxInterned = 65536;
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

auto TrackEventWriter::AddCounter(std::string_view name, Unit unit, Track parent,
                                  std::string_view unit_name) -> Track {
  std::string content;
  if (unit != Unit::kNone)
    wire::AppendUint(content, proto::CounterDescriptor::kUnit, static_cast<uint64_t>(unit));
  if (!unit_name.empty())
    wire::AppendBytes(content, proto::CounterDescriptor::kUnitName, wire::AsBytes(unit_name));
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
  StartEvent(kSliceBegin, track, name);
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
  StartEvent(kInstant, track, name);
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

void TrackEventWriter::StartEvent(uint64_t type, Track track, std::string_view name) {
  event_.clear();
  wire::AppendUint(event_, proto::TrackEvent::kType, type);
  wire::AppendUint(event_, proto::TrackEvent::kTrackUuid, static_cast<uint64_t>(track));
  if (type != kSliceBegin && type != kInstant) return;
  AddText(event_, proto::TrackEvent::kCategoryIids, proto::TrackEvent::kCategories,
          proto::InternedData::kEventCategories, categories_, kCategory);
  AddText(event_, proto::TrackEvent::kNameIid, proto::TrackEvent::kName,
          proto::InternedData::kEventNames, names_, name);
}

uint64_t TrackEventWriter::Intern(uint32_t field, Interned& table, std::string_view text) {
  const auto known = table.find(text);
  if (known != table.end()) return known->second;
  if (table.size() == kMaxInterned) return 0;
  const uint64_t iid = table.size() + 1;
  table.emplace(text, iid);
  std::string entry;
  wire::AppendUint(entry, proto::InternedEntry::kIid, iid);
  wire::AppendBytes(entry, proto::InternedEntry::kName, wire::AsBytes(text));
  wire::AppendBytes(interned_, field, wire::AsBytes(entry));
  return iid;
}

void TrackEventWriter::AddText(std::string& out, uint32_t iid_field, uint32_t text_field,
                               uint32_t table_field, Interned& table, std::string_view text) {
  if (const uint64_t iid = Intern(table_field, table, text); iid != 0)
    wire::AppendUint(out, iid_field, iid);
  else
    wire::AppendBytes(out, text_field, wire::AsBytes(text));
}

void TrackEventWriter::AddArgs(Args args) {
  using Annotation = proto::DebugAnnotation;
  for (const Arg& arg : args) {
    scratch_.clear();
    AddText(scratch_, Annotation::kNameIid, Annotation::kName,
            proto::InternedData::kDebugAnnotationNames, arg_names_, arg.name);
    std::visit(
        Overloaded{
            [&](uint64_t value) { wire::AppendUint(scratch_, Annotation::kUintValue, value); },
            [&](bool value) { wire::AppendUint(scratch_, Annotation::kBoolValue, value ? 1 : 0); },
            [&](std::string_view text) {
              AddText(scratch_, Annotation::kStringValueIid, Annotation::kStringValue,
                      proto::InternedData::kDebugAnnotationStringValues, texts_, text);
            },
            [&](const Unique& unique) {
              wire::AppendBytes(scratch_, Annotation::kStringValue, wire::AsBytes(unique.text));
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
  const bool is_first = !std::exchange(started_, true);
  wire::AppendUint(packet_, proto::TracePacket::kSequenceFlags,
                   kNeedsState | (is_first ? kStateCleared : 0));
  if (!interned_.empty())
    wire::AppendBytes(packet_, proto::TracePacket::kInternedData, wire::AsBytes(interned_));
  interned_.clear();
  if (status_) status_ = trace_.AddRawPacket(wire::AsBytes(packet_));
}

}  // namespace ringscope
