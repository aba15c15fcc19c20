#include "formats/descriptors/described_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

// Numbers of fields that are needed for each packet; a test compares them with the descriptors.
enum InternedDataField : uint32_t { kEventCategories = 1, kEventNames = 2 };
enum InternedField : uint32_t { kIid = 1, kInternedName = 2 };
enum TrackEventField : uint32_t {
  kCategoryIids = 3,
  kEventType = 9,
  kNameIid = 10,
  kCategoryText = 22,
  kEventName = 23,
};
enum TrackEventType : uint64_t { kEndOfSlice = 2, kCounter = 4 };
enum FtraceField : uint32_t { kEvent = 2, kCompactSched = 4 };
/// Returns true for fields of every FtraceEvent: timestamp, pid, common_flags.
bool IsOfEveryEvent(uint32_t field) { return field == 1 || field == 2 || field == 5; }

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
      case kCategoryIids:
        if (names.category_iid == 0) names.category_iid = FirstOf(*field);
        break;
      case kEventType:
        names.type = field->value;
        break;
      case kNameIid:
        names.name_iid = field->value;
        break;
      case kCategoryText:
        if (names.category.empty()) names.category = wire::AsText(field->bytes);
        break;
      case kEventName:
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
  Sequence& sequence = Of({buffer, chunk.sequence});
  const bool follows = !sequence.chunk || *sequence.chunk == chunk.chunk ||
                       Successor(*sequence.chunk) == chunk.chunk;
  sequence.chunk = chunk.chunk;
  if (!follows || facts.clears_state) Clear(sequence);
  if (facts.has_interned_data) InternAll(sequence, packet);
  if (facts.content == proto::TracePacket::kTrackEvent) return OfTrackEvent(sequence, content);
  if (facts.content == proto::TracePacket::kProcessTree) return OfProcessTree(content);
  return facts.content == proto::TracePacket::kFtraceEvents ? OfFtrace(content) : 0;
}

DescribedKinds::Sequence& DescribedKinds::Of(const std::pair<BufferId, SequenceKey>& key) {
  if (last_ == nullptr || last_key_ != key) {
    last_ = &sequences_[key];
    last_key_ = key;
  }
  return *last_;
}

void DescribedKinds::Clear(Sequence& sequence) {
  interned_ -= sequence.categories.size() + sequence.events.size();
  sequence.categories.clear();
  sequence.events.clear();
  sequence.kinds.clear();
}

void DescribedKinds::InternAll(Sequence& sequence, Bytes packet) {
  wire::FieldReader fields(packet);
  while (const std::optional<wire::Field> field = fields.Next())
    if (field->number == proto::TracePacket::kInternedData) Intern(sequence, field->bytes);
}

void DescribedKinds::Intern(Sequence& sequence, Bytes interned_data) {
  wire::FieldReader entries(interned_data);
  while (const std::optional<wire::Field> entry = entries.Next()) {
    const bool is_event = entry->number == kEventNames;
    if ((!is_event && entry->number != kEventCategories) || entry->type != wire::Type::kBytes)
      continue;
    uint64_t iid = 0;
    std::string_view name;
    wire::FieldReader fields(entry->bytes);
    while (const std::optional<wire::Field> field = fields.Next()) {
      if (field->number == kIid) iid = field->value;
      if (field->number == kInternedName) name = wire::AsText(field->bytes);
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
    const auto known = sequence.kinds.find({category_iid, name_iid});
    if (known != sequence.kinds.end()) return known->second;
  }
  if (!whole && name.empty() && name_iid == 0) return 0;  // in another fragment
  // The name of an end or a counter is elsewhere: at the beginning, or the track.
  const bool is_end = type == kEndOfSlice;
  const bool is_nameless = (is_end || type == kCounter) && name.empty() && name_iid == 0;
  const bool is_bare = is_nameless && category.empty() && category_iid == 0;
  uint32_t& of_bare = is_end ? end_of_slice_ : counter_;
  if (is_bare && of_bare != 0) return of_bare;
  const auto look_up = [](const Interned& names, uint64_t iid, std::string_view& text) {
    const auto found = names.find(iid);
    if (text.empty() && found != names.end()) text = found->second;
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
  std::vector<std::pair<uint32_t, size_t>> counts;  // of the events by kind
  size_t events = 0;
  bool has_compact = false;
  wire::FieldReader fields(bundle);
  while (const std::optional<wire::Field> field = fields.Next()) {
    has_compact |= field->number == kCompactSched;
    if (!field->IsBytes(kEvent)) continue;
    if (events++ == kEventsRead) break;
    wire::FieldReader of_event(field->bytes);
    while (const std::optional<wire::Field> part = of_event.Next()) {
      if (IsOfEveryEvent(part->number)) continue;
      const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& count) {
        return count.first == part->number;
      });
      if (known == counts.end())
        counts.emplace_back(part->number, 1);
      else
        ++known->second;
    }
  }
  if (counts.empty()) return has_compact ? Number("compact_sched") : 0;
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::pair key{most->first, counts.size() > 1 || has_compact};
  const auto known = of_ftrace_.find(key);
  if (known != of_ftrace_.end()) return known->second;
  std::string name = descriptors::FieldName("FtraceEvent", key.first);
  if (name.empty()) name = fmt::format("event {}", key.first);
  const uint32_t kind = Number(key.second ? name + " and others" : name);
  if (of_ftrace_.size() < kMaxKinds) of_ftrace_[key] = kind;
  return kind;
}

/// "pid 610 /system/bin/surfaceflinger and others"
uint32_t DescribedKinds::OfProcessTree(Bytes tree) {
  constexpr uint32_t kProcesses = 1, kPid = 1, kCommandLine = 3;
  std::string name;
  size_t processes = 0;
  wire::ForEachMessage(tree, kProcesses, [&](Bytes process) {
    if (processes++ > 0) return;
    name = fmt::format("pid {}", wire::LastVarint(process, kPid).value_or(0));
    wire::FieldReader fields(process);
    while (const std::optional<wire::Field> field = fields.Next()) {
      if (!field->IsBytes(kCommandLine)) continue;
      name += ' ';
      name += wire::AsText(field->bytes).substr(0, kLongestName);
      break;
    }
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
