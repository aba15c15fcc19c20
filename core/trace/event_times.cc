#include <algorithm>
#include <array>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

using proto::TracePacket;
using EventClock = std::optional<ClockKey>;

constexpr ClockKey kRealTime = {0, proto::BuiltinClock::kBuiltinClockRealtime},
                   kMonotonic = {0, proto::BuiltinClock::kBuiltinClockMonotonic},
                   kMonotonicCoarse = {0, proto::BuiltinClock::kBuiltinClockMonotonicCoarse},
                   kMonotonicRaw = {0, proto::BuiltinClock::kBuiltinClockMonotonicRaw},
                   kBoot = {0, kBootTime};
constexpr uint64_t kNsPerUs = 1000;
constexpr uint64_t kNsPerMs = 1'000'000;

/// Content that trace processor uses when it is read, whatever its time; 0: none.
constexpr auto kTimeless = std::to_array<uint32_t>(
    {0, TracePacket::kTraceConfig, TracePacket::kTraceStats, TracePacket::kSynchronizationMarker,
     TracePacket::kSystemInfo, TracePacket::kPackagesList, TracePacket::kChromeMetadata,
     TracePacket::kClockSnapshot, TracePacket::kServiceEvent, TracePacket::kCpuInfo,
     TracePacket::kExtensionDescriptor, TracePacket::kUiState, TracePacket::kTranslationTable,
     TracePacket::kTraceUuid, TracePacket::kPixelModemTokenDatabase, TracePacket::kTraceProvenance,
     TracePacket::kGpuInfo});

/// Content whose events are messages in one of its fields, each with its time in another one.
struct NestedEvents {
  uint32_t content, event, time;
  EventClock clock;
  uint64_t unit_ns = 1;
  bool own_time_without = false;  // an event without a time has the packet's
};
constexpr NestedEvents kNestedEvents[] = {
    {TracePacket::kAndroidLog, 1, 5, kRealTime},
    {TracePacket::kPowerRails, 2, 2, kBoot, kNsPerMs, true},
    {TracePacket::kEtwEvents, 2, 1, {}},
    {TracePacket::kProfilePacket, 5, 9, kMonotonicCoarse},
};

/// Timestamp of an FtraceEvent: its field 1, nearly always the first.
std::optional<uint64_t> TimeOfEvent(Bytes event) {
  constexpr uint8_t kTimestampTag = 1 << 3;
  if (!event.empty() && event.front() == kTimestampTag) {
    const wire::Varint time = wire::ReadVarint(event.subspan(1));
    if (time.size > 0) return time.value;
  }
  return wire::FirstVarint(event, 1);
}

/// Columns of one kind of compact event: FtraceEventBundle.CompactSched.
struct Columns {
  Bytes steps;                    // of time, each from the event before
  Bytes indexes;                  // of names
  std::array<size_t, 5> sizes{};  // all columns'; what a kind does not have has the first one's

  /// Adds the times of the events whose columns are whole.
  /// @return false: some are not
  bool AddTimes(ClockKey clock, size_t names, EventTimes& out) const {
    const size_t events = *std::ranges::min_element(sizes);
    Bytes steps_left = steps, indexes_left = indexes;
    uint64_t now = 0;
    for (size_t i = 0; i < events; ++i) {
      const wire::Varint step = wire::ReadVarint(steps_left);
      const wire::Varint index = wire::ReadVarint(indexes_left);
      if (step.size == 0 || index.size == 0 || index.value >= names) return false;
      out.Add(clock, now += step.value);
      steps_left = steps_left.subspan(step.size);
      indexes_left = indexes_left.subspan(index.size);
    }
    return events == *std::ranges::max_element(sizes);
  }
};

/// @return false: some events are not whole
bool AddCompact(Bytes compact, ClockKey clock, EventTimes& out) {
  constexpr uint32_t kNames = 5, kSwitchNames = 6, kWakings = 7, kWakingNames = 11;
  Columns switches, wakings;
  size_t names = 0;
  for (const wire::Field& field : wire::FieldReader(compact)) {
    const uint32_t number = field.number;
    if (field.type != wire::Type::kBytes || number > kWakingNames) continue;
    if (number == kNames) {
      ++names;
      continue;
    }
    Columns& columns = number <= kSwitchNames ? switches : wakings;
    if (number == 1 || number == kWakings) columns.steps = field.bytes;
    if (number == kSwitchNames || number == kWakingNames) columns.indexes = field.bytes;
    columns.sizes[number == kSwitchNames ? 4 : number - (number < kWakings ? 1 : kWakings)] =
        static_cast<size_t>(
            std::ranges::count_if(field.bytes, [](uint8_t byte) { return byte < 0x80; }));
  }
  const bool has_switches = switches.AddTimes(clock, names, out);
  return wakings.AddTimes(clock, names, out) && has_switches;
}

/// The times of one packet, by the kinds of content that have rules of their own.
struct TimesOfPacket {
  const TracePacketView& packet;
  SequenceTime& sequence;
  TraceClocks& clocks;
  MachineFacts& facts;
  EventTimes& out;

  void Read() {
    const Bytes content = packet.content_bytes;
    for (const NestedEvents& nested : kNestedEvents)
      if (nested.content == packet.content) return AddNested(nested);
    switch (packet.content) {
      case TracePacket::kFtraceEvents:
        return AddFtrace();
      case TracePacket::kTrackEvent:
        return AddTrackEvent();
      case TracePacket::kStatsdAtom:
        return AddAtoms();
      case TracePacket::kNetworkPacketBundle:
        wire::ForEachNumber(content, /*timestamps*/ 3, [&](uint64_t step) { AddOwn(step); });
        if (out.times.empty()) AddOwn();
        return;
      case TracePacket::kPixelModemEvents: {
        uint64_t sum = 0;
        return wire::ForEachNumber(content, 2, [&](uint64_t ns) {
          if (static_cast<int64_t>(sum += ns) < 0)
            facts.content.Add("pixel_modem_negative_timestamp"_stat);
          else
            out.Add({}, sum);
        });
      }
      case TracePacket::kStreamingProfilePacket:
        return AddStreamingProfile();
      case TracePacket::kChromeEvents:
        if (packet.timestamp && !packet.timestamp_clock && !sequence.default_clock)
          return out.Add(kMonotonic, *packet.timestamp);
        break;
      default:
        if (Contains(kTimeless, packet.content)) return;
    }
    AddOwn();
  }

  /// Adds the time of the packet itself. @return false: it has none
  bool AddOwn(uint64_t steps = 0) {
    if (!packet.timestamp) return false;
    out.Add(OwnClockOf(packet, sequence, clocks), *packet.timestamp + steps);
    return true;
  }

  void AddNested(const NestedEvents& nested) {
    wire::ForEachMessage(packet.content_bytes, nested.event, [&](Bytes event) {
      if (const auto time = wire::FirstVarint(event, nested.time))
        out.Add(nested.clock, *time * nested.unit_ns);
      else if (nested.own_time_without)
        AddOwn();
    });
  }

  /// Adds the times of all events in an FtraceEventBundle, compact ones too.
  void AddFtrace() {
    constexpr uint32_t kEvent = 2, kCompactSched = 4, kClock = 5, kFtraceTime = 6, kBootNs = 7;
    constexpr uint64_t kGlobalClock = 2, kLocalClock = 3, kRawClock = 4;  // FtraceClock
    constexpr uint32_t kOwnClock = 64;
    bool has_cpu = false;
    uint64_t kind = 0;
    std::optional<uint64_t> ftrace_ns, boot_ns;
    wire::ForEachField(packet.content_bytes, [&](const wire::VisitedField& field) {
      if (field.number == proto::FtraceEventBundle::kCpu) has_cpu = true;
      if (field.number == kClock) kind = field.value;
      if (field.number == kFtraceTime) ftrace_ns = field.value;
      if (field.number == kBootNs) boot_ns = field.value;
    });
    if (!has_cpu) return facts.content.Add("ftrace_bundle_tokenizer_errors"_stat);
    ClockKey clock = kind == kRawClock ? kMonotonicRaw : kBoot;
    if (kind == kGlobalClock || kind == kLocalClock) {
      // A clock of the kernel's that no other packet has.
      clock = ClockKey::Of(packet.sequence_id, kOwnClock);
      if (ftrace_ns && boot_ns)
        clocks.Relate(clock, static_cast<int64_t>(*ftrace_ns), kBoot,
                      static_cast<int64_t>(*boot_ns));
    }
    wire::ForEachField(packet.content_bytes, [&](const wire::VisitedField& field) {
      if (field.type != wire::Type::kBytes) return;
      if (field.number == kCompactSched && !AddCompact(field.bytes, clock, out))
        facts.content.Set("compact_sched_has_parse_errors"_stat, 1);
      if (field.number != kEvent) return;
      if (const auto time = TimeOfEvent(field.bytes)) {
        out.Add(clock, *time);
        AddFtraceEvent(field.bytes, facts.content);
      } else {
        facts.content.Add("ftrace_bundle_tokenizer_errors"_stat);
      }
    });
  }

  void AddStreamingProfile() {
    if (!sequence.running_us) return;
    auto now = static_cast<int64_t>(*sequence.running_us);
    bool is_valid = now >= 0;  // else the rest is lost
    wire::ForEachNumber(packet.content_bytes, /*deltas*/ 2, [&](uint64_t delta) {
      is_valid &= (now += static_cast<int64_t>(delta)) >= 0;
      if (is_valid) out.Add(kMonotonic, static_cast<uint64_t>(now) * kNsPerUs);
    });
    if (!is_valid) facts.content.Add("streaming_profile_invalid_timestamp"_stat);
  }

  void AddTrackEvent() {
    constexpr uint32_t kDeltaUs = 1, kAbsoluteUs = 16, kLegacy = 6, kType = 9, kTrack = 11,
                       kExtra = 12, kCategories = 22, kValue = 30, kDouble = 44, kExtraDouble = 46;
    std::optional<uint64_t> delta, absolute;
    TrackEventShape& event = out.event = {};
    wire::ForEachField(packet.content_bytes, [&](const wire::VisitedField& field) {
      if (field.number == kDeltaUs) delta = field.value;
      if (field.number == kAbsoluteUs) absolute = field.value;
      if (field.number == kLegacy) event.legacy = field.bytes;
      if (field.number == kType) event.type = field.value;
      if (field.number == kTrack) event.track = field.value;
      event.has_extra |= field.number == kExtra || field.number == kExtraDouble;
      event.has_value |= field.number == kValue || field.number == kDouble;
      event.has_own_categories |= field.number == kCategories;
    });
    const auto add = [&](uint64_t us) {
      event.has_negative_time = static_cast<int64_t>(us) < 0;
      if (!event.has_negative_time) out.Add(kMonotonic, us * kNsPerUs);
    };
    if (delta) {
      event.is_left_out = !sequence.running_us;
      if (sequence.running_us) add(*sequence.running_us += *delta);
    } else if (absolute) {
      add(*absolute);
    } else {
      event.has_own_time = AddOwn();
      event.is_left_out = !event.has_own_time;
      facts.content.Add("track_event_missing_timestamp"_stat, event.is_left_out ? 1 : 0);
    }
  }

  void AddAtoms() {
    constexpr uint32_t kAtom = 1, kTimestamp = 2;
    size_t atoms = 0;
    wire::ForEachMessage(packet.content_bytes, kAtom,
                         [&](Bytes) { ++(atoms < EventTimes::kMaxTimes ? atoms : out.left_out); });
    wire::ForEachNumber(packet.content_bytes, kTimestamp, [&](uint64_t ns) {
      if (out.times.size() < atoms) out.Add({}, ns);
    });
    facts.content.Add("atom_timestamp_missing"_stat, atoms - out.times.size());
    while (out.times.size() < atoms && AddOwn()) {
    }
  }
};

}  // namespace

void SequenceTime::Update(const TracePacketView& packet) {
  if (packet.clears_state) default_clock.reset();
  if (packet.clears_state || packet.dropped != 0) running_us.reset();
  if (const auto clock = wire::FirstVarint(packet.defaults.value_or(Bytes()),
                                           proto::TracePacketDefaults::kTimestampClockId))
    default_clock = static_cast<uint32_t>(*clock);
  constexpr uint32_t kThread = 4, kReferenceUs = 6;
  const auto set_running = [this](Bytes thread) {
    if (const auto us = wire::FirstVarint(thread, kReferenceUs)) running_us = us;
  };
  if (packet.content == TracePacket::kThreadDescriptor) set_running(packet.content_bytes);
  if (packet.content == TracePacket::kTrackDescriptor)
    wire::ForEachMessage(packet.content_bytes, kThread, set_running);
}

std::optional<ClockKey> OwnClockOf(const TracePacketView& packet, const SequenceTime& sequence,
                                   const TraceClocks& clocks) {
  const auto& named = packet.timestamp_clock ? packet.timestamp_clock : sequence.default_clock;
  return named ? std::optional(ClockKey::Of(packet.sequence_id, *named)) : clocks.default_clock();
}

void ReadEventTimes(const TracePacketView& packet, SequenceTime& sequence, TraceClocks& clocks,
                    MachineFacts& facts, EventTimes& out) {
  out.times.clear();
  out.left_out = 0;
  TimesOfPacket{packet, sequence, clocks, facts, out}.Read();
}

}  // namespace ringscope
