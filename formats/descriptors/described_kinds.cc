#include "formats/descriptors/described_kinds.h"

#include <fmt/format.h>

#include "core/base/lookup.h"
#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

using proto::TrackEvent;

/// Returns true for fields of every FtraceEvent.
bool IsOfEveryEvent(uint32_t field) {
  using Event = proto::FtraceEvent;
  return field == Event::kTimestamp || field == Event::kPid || field == Event::kCommonFlags;
}

/// The first number of a list, which may be packed.
uint64_t FirstOf(const wire::Field& field) {
  return field.type == wire::Type::kVarint ? field.value : wire::ReadVarint(field.bytes).value;
}

/// The parts of a track event's kind.
struct EventNames {
  uint64_t category_iid = 0;
  uint64_t name_iid = 0;
  uint64_t type = 0;
  std::string_view category;
  std::string_view name;
  bool whole = true;  // false: the rest is in another fragment, or malformed
};

/// Reads each packet: with all that it calls inlined, it takes less than half.
[[gnu::flatten]] EventNames ReadEvent(Bytes event) {
  EventNames names;
  wire::FieldReader fields(event);
  while (names.category_iid == 0 || names.name_iid == 0) {
    const std::optional<wire::Field> field = fields.Next();
    if (!field) break;
    switch (field->number) {
      case TrackEvent::kCategoryIids:
        if (names.category_iid == 0) names.category_iid = FirstOf(*field);
        break;
      case TrackEvent::kType:
        names.type = field->value;
        break;
      case TrackEvent::kNameIid:
        names.name_iid = field->value;
        break;
      case TrackEvent::kCategories:
        if (names.category.empty()) names.category = wire::AsText(field->bytes);
        break;
      case TrackEvent::kName:
        names.name = wire::AsText(field->bytes);
        break;
      default:
        break;
    }
  }
  names.whole = fields.ok();
  return names;
}

}  // namespace

uint32_t DescribedKinds::Add(BufferId buffer, ChunkName chunk, const PacketFacts& facts,
                             Bytes content, Bytes packet) {
  const std::pair key(buffer, chunk.sequence);
  if (last_ == nullptr || last_key_ != key) last_ = &sequences_[last_key_ = key];
  Sequence& sequence = *last_;
  const bool follows = !sequence.chunk || *sequence.chunk == chunk.chunk ||
                       Successor(*sequence.chunk) == chunk.chunk;
  if (!follows || facts.clears_state) {
    interned_ -= sequence.categories.size() + sequence.events.size();
    sequence = {};
  }
  sequence.chunk = chunk.chunk;
  if (facts.has_interned_data)
    wire::ForEachMessage(packet, proto::TracePacket::kInternedData,
                         [&](Bytes interned_data) { Intern(sequence, interned_data); });
  if (facts.content == proto::TracePacket::kTrackEvent) return OfTrackEvent(sequence, content);
  if (facts.content == proto::TracePacket::kProcessTree) return OfProcessTree(content);
  return facts.content == proto::TracePacket::kFtraceEvents ? OfFtrace(content) : 0;
}

void DescribedKinds::Intern(Sequence& sequence, Bytes interned_data) {
  using Data = proto::InternedData;
  for (const wire::Field& entry : wire::FieldReader(interned_data)) {
    const bool is_event = entry.IsBytes(Data::kEventNames);
    if (!is_event && !entry.IsBytes(Data::kEventCategories)) continue;
    uint64_t iid = 0;
    std::string_view name;
    for (const wire::Field& field : wire::FieldReader(entry.bytes)) {
      if (field.number == proto::EventName::kIid) iid = field.value;
      if (field.number == proto::EventName::kName) name = wire::AsText(field.bytes);
    }
    if (interned_ >= kMaxInterned) return;
    Interned& names = is_event ? sequence.events : sequence.categories;
    // Readers keep the first of several names with one number.
    if (!names.try_emplace(iid, name.substr(0, kLongestName)).second) continue;
    ++interned_;
    sequence.kinds.clear();  // what lacked the name has it now
  }
}

uint32_t DescribedKinds::OfTrackEvent(Sequence& sequence, Bytes event) {
  auto [category_iid, name_iid, type, category, name, whole] = ReadEvent(event);
  const bool interned = category.empty() && name.empty() && name_iid != 0;
  if (interned) {
    if (const uint32_t* const known = FindIn(sequence.kinds, {category_iid, name_iid}))
      return *known;
  }
  if (!whole && name.empty() && name_iid == 0) return 0;  // in another fragment
  // The name of an end or a counter is elsewhere: at the beginning, or the track.
  const bool is_end = type == TrackEvent::Type::kTypeSliceEnd;
  const bool is_nameless =
      (is_end || type == TrackEvent::Type::kTypeCounter) && name.empty() && name_iid == 0;
  const bool is_bare = is_nameless && category.empty() && category_iid == 0;
  uint32_t& of_bare = is_end ? end_of_slice_ : counter_;
  if (is_bare && of_bare != 0) return of_bare;
  const auto look_up = [](const Interned& names, uint64_t iid, std::string_view& text) {
    const std::string* const found = FindIn(names, iid);
    if (text.empty() && found != nullptr) text = *found;
  };
  look_up(sequence.categories, category_iid, category);
  look_up(sequence.events, name_iid, name);
  if (is_nameless) name = is_end ? "end of slice" : "counter";
  category = category.substr(0, kLongestName);
  name = name.substr(0, kLongestName);
  name_ = category;
  if (!category.empty() && !name.empty()) name_ += '/';
  name_ += name;
  const uint32_t kind = Number(name_);
  if (is_bare) of_bare = kind;
  if (interned && sequence.kinds.size() < kMaxKinds)
    sequence.kinds[{category_iid, name_iid}] = kind;
  return kind;
}

uint32_t DescribedKinds::OfFtrace(Bytes bundle) {
  using Bundle = proto::FtraceEventBundle;
  std::vector<std::pair<uint32_t, size_t>> counts;  // of the events by kind
  size_t events = 0;
  bool has_compact = false;
  for (const wire::Field& field : wire::FieldReader(bundle)) {
    has_compact |= field.number == Bundle::kCompactSched;
    if (!field.IsBytes(Bundle::kEvent)) continue;
    if (events++ == kEventsRead) break;
    for (const wire::Field& part : wire::FieldReader(field.bytes)) {
      if (IsOfEveryEvent(part.number)) continue;
      auto* count = FindBy(counts, part.number, &std::pair<uint32_t, size_t>::first);
      if (count == nullptr) count = &counts.emplace_back(part.number, 0);
      ++count->second;
    }
  }
  if (counts.empty()) return has_compact ? Number("compact_sched") : 0;
  const auto most = std::ranges::max_element(counts, {}, &std::pair<uint32_t, size_t>::second);
  const std::pair key{most->first, counts.size() > 1 || has_compact};
  if (const uint32_t* const known = FindIn(of_ftrace_, key)) return *known;
  std::string name = descriptors::FieldName("FtraceEvent", key.first);
  if (name.empty()) name = fmt::format("event {}", key.first);
  const uint32_t kind = Number(key.second ? name + " and others" : name);
  if (of_ftrace_.size() < kMaxKinds) of_ftrace_[key] = kind;
  return kind;
}

/// "pid 610 /system/bin/surfaceflinger and others"
uint32_t DescribedKinds::OfProcessTree(Bytes tree) {
  using Process = proto::ProcessTree::Process;
  std::string name;
  size_t processes = 0;
  wire::ForEachMessage(tree, proto::ProcessTree::kProcesses, [&](Bytes process) {
    if (processes++ > 0) return;
    name = fmt::format("pid {}", wire::NumberIn(process, Process::kPid));
    size_t arguments = 0;
    wire::ForEachMessage(process, Process::kCmdline, [&](Bytes argument) {
      if (arguments++ == 0) name.append(" ").append(wire::AsText(argument).substr(0, kLongestName));
    });
  });
  return Number(processes > 1 ? name + " and others" : name);
}

uint32_t DescribedKinds::Number(std::string_view name) {
  if (name.empty()) return 0;
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  if (names_.size() > kMaxKinds) return 0;
  const auto number = static_cast<uint32_t>(names_.size());
  names_.push_back(Printable(name));
  numbers_.emplace(name, number);
  return number;
}

}  // namespace ringscope
