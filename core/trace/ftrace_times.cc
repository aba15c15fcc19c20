#include "core/trace/ftrace_times.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr ClockKey kBoot = {0, kBootTime}, kMonotonicRaw = {0, proto::BuiltinClock::kMonotonicRaw};
constexpr uint32_t kEvent = 2, kCompactSched = 4, kClock = 5, kFtraceTime = 6,
                   kBootTimeOfBundle = 7;
constexpr uint64_t kGlobalClock = 2, kLocalClock = 3, kMonotonicRawClock = 4;  // FtraceClock
constexpr uint32_t kOwnClock = 64;

/// Timestamp of an FtraceEvent: its field 1, nearly always the first.
std::optional<uint64_t> TimeOfEvent(Bytes event) {
  constexpr uint8_t kTimestampTag = 1 << 3;
  if (!event.empty() && event.front() == kTimestampTag) {
    const wire::Varint time = wire::ReadVarint(event.subspan(1));
    if (time.size > 0) return time.value;
  }
  wire::FieldReader fields(event);
  while (const auto field = fields.Next())
    if (field->IsVarint(1)) return field->value;
  return std::nullopt;
}

/// How many varints there are.
size_t CountOf(Bytes packed) {
  return static_cast<size_t>(
      std::ranges::count_if(packed, [](uint8_t byte) { return byte < 0x80; }));
}

/// Columns of one kind of compact event: FtraceEventBundle.CompactSched.
struct Columns {
  Bytes steps;                    // of time, each from the event before
  Bytes indexes;                  // of names
  std::array<size_t, 5> sizes{};  // all columns'; what a kind does not have has the first one's

  /// Adds the times of the events whose columns are whole.
  void AddTimes(std::optional<ClockKey> clock, size_t names, EventTimes& out) const {
    const size_t events = *std::ranges::min_element(sizes);
    bool is_whole = events == *std::ranges::max_element(sizes);
    Bytes steps_left = steps, indexes_left = indexes;
    uint64_t now = 0;
    for (size_t i = 0; i < events; ++i) {
      const wire::Varint step = wire::ReadVarint(steps_left);
      const wire::Varint index = wire::ReadVarint(indexes_left);
      is_whole &= step.size > 0 && index.size > 0 && index.value < names;
      if (step.size == 0 || index.size == 0 || index.value >= names) break;
      out.Add(clock, now += step.value);
      steps_left = steps_left.subspan(step.size);
      indexes_left = indexes_left.subspan(index.size);
    }
    out.bad_compact_sched |= !is_whole;
  }
};

void AddCompact(Bytes compact, ClockKey clock, EventTimes& out) {
  constexpr uint32_t kNames = 5, kSwitchNames = 6, kWakings = 7, kWakingNames = 11;
  Columns switches, wakings;
  size_t names = 0;
  wire::FieldReader fields(compact);
  while (const auto field = fields.Next()) {
    if (field->type != wire::Type::kBytes) continue;
    const uint32_t number = field->number;
    if (number == kNames) {
      ++names;
    } else if (number <= kSwitchNames) {
      if (number == 1) switches.steps = field->bytes;
      if (number == kSwitchNames) switches.indexes = field->bytes;
      switches.sizes[number == kSwitchNames ? 4 : number - 1] = CountOf(field->bytes);
    } else if (number <= kWakingNames) {
      if (number == kWakings) wakings.steps = field->bytes;
      if (number == kWakingNames) wakings.indexes = field->bytes;
      wakings.sizes[number - kWakings] = CountOf(field->bytes);
    }
  }
  switches.AddTimes(clock, names, out);
  wakings.AddTimes(clock, names, out);
}

}  // namespace

void ReadFtraceTimes(Bytes bundle, uint32_t sequence_id, TraceClocks& clocks, EventTimes& out) {
  bool has_cpu = false;
  uint64_t kind = 0;
  std::optional<uint64_t> ftrace_ns, boot_ns;
  wire::ForEachField(bundle, [&](const wire::VisitedField& field) {
    if (field.number == proto::FtraceEventBundle::kCpu) has_cpu = true;
    if (field.number == kClock) kind = field.value;
    if (field.number == kFtraceTime) ftrace_ns = field.value;
    if (field.number == kBootTimeOfBundle) boot_ns = field.value;
  });
  out.bundle_without_cpu = !has_cpu;
  if (!has_cpu) return;
  ClockKey clock = kBoot;
  if (kind == kMonotonicRawClock) clock = kMonotonicRaw;
  if (kind == kGlobalClock || kind == kLocalClock) {
    clock = ClockKey::Of(sequence_id, kOwnClock);
    if (ftrace_ns && boot_ns)
      clocks.Relate(clock, static_cast<int64_t>(*ftrace_ns), kBoot, static_cast<int64_t>(*boot_ns));
  }
  wire::ForEachField(bundle, [&](const wire::VisitedField& field) {
    if (field.type != wire::Type::kBytes) return;
    if (field.number == kEvent) {
      if (const auto time = TimeOfEvent(field.bytes))
        out.Add(clock, *time);
      else
        ++out.events_without_time;
    }
    if (field.number == kCompactSched) AddCompact(field.bytes, clock, out);
  });
}

}  // namespace ringscope
