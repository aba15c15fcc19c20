#include "commands/demo/track_packets.h"

#include <iterator>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope::demo {
namespace {

constexpr uint64_t kSliceBegin = 1, kSliceEnd = 2;
constexpr uint64_t kFirstTrack = 0x64656D6F00000000;
constexpr size_t kTimeBytes = 9, kSizeBytes = 4;

/// A varint of so many bytes, whatever the value.
void AppendWide(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i, value >>= 7)
    out += static_cast<char>((value & 0x7F) | (i + 1 < bytes ? 0x80 : 0));
}

void AppendText(std::string& out, uint32_t field, std::string_view text) {
  wire::AppendBytes(out, field, wire::AsBytes(text));
}

}  // namespace

std::string TrackPackets::State() const {
  std::string process, descriptor, interned, entry, packet;
  wire::AppendUint(process, proto::ProcessDescriptor::kPid, number_);
  AppendText(process, proto::ProcessDescriptor::kProcessName, process_);
  wire::AppendUint(descriptor, proto::TrackDescriptor::kUuid, kFirstTrack + number_);
  AppendText(descriptor, proto::TrackDescriptor::kName, track_);
  AppendText(descriptor, proto::TrackDescriptor::kProcess, process);
  wire::AppendUint(entry, proto::InternedEntry::kIid, 1);
  AppendText(entry, proto::InternedEntry::kName, "demo");
  AppendText(interned, proto::InternedData::kEventCategories, entry);
  for (size_t i = 0; i < std::size(kNames); ++i) {
    entry.clear();
    wire::AppendUint(entry, proto::InternedEntry::kIid, i + 1);
    AppendText(entry, proto::InternedEntry::kName, kNames[i]);
    AppendText(interned, proto::InternedData::kEventNames, entry);
  }
  wire::AppendUint(packet, proto::TracePacket::kSequenceFlags,
                   proto::SequenceFlag::kIncrementalStateCleared);
  AppendText(packet, proto::TracePacket::kInternedData, interned);
  AppendText(packet, proto::TracePacket::kTrackDescriptor, descriptor);
  return packet;
}

TrackPacket TrackPackets::Begin(uint64_t time_ns, uint32_t name, std::string_view detail) const {
  std::string event, annotation;
  wire::AppendUint(event, proto::TrackEvent::kCategoryIids, 1);
  AppendText(annotation, proto::DebugAnnotation::kName, "detail");
  AppendText(annotation, proto::DebugAnnotation::kStringValue, detail);
  if (!detail.empty()) AppendText(event, proto::TrackEvent::kDebugAnnotations, annotation);
  wire::AppendUint(event, proto::TrackEvent::kType, kSliceBegin);
  wire::AppendUint(event, proto::TrackEvent::kNameIid, name);
  return Event(time_ns, event);
}

TrackPacket TrackPackets::End(uint64_t time_ns) const {
  std::string event;
  wire::AppendUint(event, proto::TrackEvent::kType, kSliceEnd);
  return Event(time_ns, event);
}

TrackPacket TrackPackets::Event(uint64_t time_ns, const std::string& event) const {
  std::string content = event;
  wire::AppendUint(content, proto::TrackEvent::kTrackUuid, kFirstTrack + number_);
  TrackPacket packet;
  wire::AppendTag(packet.bytes, proto::TracePacket::kTimestamp, wire::Type::kVarint);
  AppendWide(packet.bytes, time_ns, kTimeBytes);
  wire::AppendUint(packet.bytes, proto::TracePacket::kSequenceFlags,
                   proto::SequenceFlag::kNeedsIncrementalState);
  wire::AppendTag(packet.bytes, proto::TracePacket::kTrackEvent, wire::Type::kBytes);
  packet.size_offset = packet.bytes.size();
  AppendWide(packet.bytes, content.size(), kSizeBytes);
  packet.bytes += content;
  return packet;
}

}  // namespace ringscope::demo
