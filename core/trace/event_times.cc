#include "core/trace/event_times.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

constexpr ClockKey kRealTime = {0, proto::BuiltinClock::kRealTime},
                   kMonotonic = {0, proto::BuiltinClock::kMonotonic},
                   kMonotonicCoarse = {0, proto::BuiltinClock::kMonotonicCoarse};
constexpr uint64_t kNsPerUs = 1000;
constexpr uint32_t kDeltaUs = 1, kAbsoluteUs = 16;  // of TrackEvent

std::optional<uint64_t> FirstNumber(Bytes message, uint32_t number) {
  wire::FieldReader fields(message);
  while (const auto field = fields.Next())
    if (field->IsVarint(number)) return field->value;
  return std::nullopt;
}

/// Calls `visit(Bytes)` for each message in a field.
template <typename Visit>
void ForEachMessage(Bytes message, uint32_t number, Visit visit) {
  wire::FieldReader fields(message);
  while (const auto field = fields.Next())
    if (field->IsBytes(number)) visit(field->bytes);
}

/// Calls `visit(uint64_t)` for each number of a repeated field, packed or not.
template <typename Visit>
void ForEachNumber(Bytes message, uint32_t number, Visit visit) {
  wire::FieldReader fields(message);
  while (const auto field = fields.Next()) {
    if (field->number != number) continue;
    if (field->type == wire::Type::kVarint) visit(field->value);
    if (field->type != wire::Type::kBytes) continue;
    for (Bytes rest = field->bytes; !rest.empty();) {
      const wire::Varint value = wire::ReadVarint(rest);
      if (value.size == 0) break;
      visit(value.value);
      rest = rest.subspan(value.size);
    }
  }
}

/// Content that trace processor uses when it is read, whatever its time.
bool NeedsNoTime(uint32_t content) {
  static constexpr std::array<uint32_t, 17> kTimeless = {0,  // none
                                                         TracePacket::kTraceConfig,
                                                         TracePacket::kTraceStats,
                                                         TracePacket::kSynchronizationMarker,
                                                         TracePacket::kSystemInfo,
                                                         TracePacket::kPackagesList,
                                                         TracePacket::kChromeMetadata,
                                                         TracePacket::kClockSnapshot,
                                                         TracePacket::kServiceEvent,
                                                         TracePacket::kCpuInfo,
                                                         TracePacket::kExtensionDescriptor,
                                                         TracePacket::kUiState,
                                                         TracePacket::kTranslationTable,
                                                         TracePacket::kTraceUuid,
                                                         TracePacket::kPixelModemTokenDatabase,
                                                         TracePacket::kTraceProvenance,
                                                         TracePacket::kGpuInfo};
  return std::ranges::find(kTimeless, content) != kTimeless.end();
}

/// Adds the time of the packet itself, if it has one.
bool AddOwn(const TracePacketView& packet, const SequenceTime& sequence, const TraceClocks& clocks,
            EventTimes& out, uint64_t steps = 0) {
  std::optional<EventTimes::Time> time = OwnTime(packet, sequence, clocks);
  if (!time) return false;
  time->time += steps;
  out.Add(time->clock, time->time);
  return true;
}

void AddTrackEvent(const TracePacketView& packet, SequenceTime& sequence, const TraceClocks& clocks,
                   EventTimes& out) {
  std::optional<uint64_t> delta, absolute;
  wire::ForEachField(packet.content_bytes, [&](const wire::VisitedField& field) {
    if (field.number == kDeltaUs) delta = field.value;
    if (field.number == kAbsoluteUs) absolute = field.value;
  });
  if (delta) {
    if (!sequence.running_us) return;  // skipped: it needs what is lost
    sequence.running_us =
        static_cast<int64_t>(static_cast<uint64_t>(*sequence.running_us) + *delta);
    out.Add(kMonotonic, static_cast<uint64_t>(*sequence.running_us) * kNsPerUs);
  } else if (absolute) {
    out.Add(kMonotonic, *absolute * kNsPerUs);
  } else {
    out.track_event_without_time = !AddOwn(packet, sequence, clocks, out);
  }
}

void AddAtoms(const TracePacketView& packet, const SequenceTime& sequence,
              const TraceClocks& clocks, EventTimes& out) {
  constexpr uint32_t kAtom = 1, kTimestamp = 2;
  size_t atoms = 0;
  ForEachMessage(packet.content_bytes, kAtom, [&](Bytes) {
    if (atoms < EventTimes::kMaxTimes)
      ++atoms;
    else
      ++out.left_out;
  });
  ForEachNumber(packet.content_bytes, kTimestamp, [&](uint64_t ns) {
    if (out.times.size() < atoms) out.Add(std::nullopt, ns);
  });
  out.atom_without_time = out.times.size() < atoms;
  while (out.times.size() < atoms && AddOwn(packet, sequence, clocks, out)) {
  }
}

void AddProfile(Bytes profile, EventTimes& out) {
  constexpr uint32_t kDumps = 5, kTimestamp = 9;
  ForEachMessage(profile, kDumps, [&](Bytes dump) {
    if (const auto ns = FirstNumber(dump, kTimestamp)) out.Add(kMonotonicCoarse, *ns);
  });
}

void AddStreamingProfile(Bytes profile, SequenceTime& sequence, EventTimes& out) {
  constexpr uint32_t kDeltasUs = 2;
  if (!sequence.running_us) return;
  auto now = static_cast<uint64_t>(*sequence.running_us);
  ForEachNumber(profile, kDeltasUs, [&](uint64_t delta) {
    now += delta;
    out.Add(kMonotonic, now * kNsPerUs);
  });
}

void AddNetworkPackets(const TracePacketView& packet, const SequenceTime& sequence,
                       const TraceClocks& clocks, EventTimes& out) {
  constexpr uint32_t kTimestamps = 3;
  ForEachNumber(packet.content_bytes, kTimestamps,
                [&](uint64_t step) { AddOwn(packet, sequence, clocks, out, step); });
  if (out.times.empty()) AddOwn(packet, sequence, clocks, out);
}

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

void SequenceTime::Update(const TracePacketView& packet) {
  if (packet.clears_state) default_clock.reset();
  if (packet.clears_state || packet.dropped != 0) running_us.reset();
  if (packet.defaults) {
    if (const auto clock =
            FirstNumber(*packet.defaults, proto::TracePacketDefaults::kTimestampClockId))
      default_clock = static_cast<uint32_t>(*clock);
  }
  constexpr uint32_t kThread = 4, kReferenceUs = 6;
  const auto set_running = [this](Bytes thread) {
    if (const auto us = FirstNumber(thread, kReferenceUs)) running_us = static_cast<int64_t>(*us);
  };
  if (packet.content == TracePacket::kThreadDescriptor) set_running(packet.content_bytes);
  if (packet.content == TracePacket::kTrackDescriptor)
    ForEachMessage(packet.content_bytes, kThread, set_running);
}

bool IsTrackEventAtOwnTime(const TracePacketView& packet) {
  if (packet.content != TracePacket::kTrackEvent || !packet.timestamp) return false;
  bool has_other = false;
  const bool is_read =
      wire::ForEachField(packet.content_bytes, [&](const wire::VisitedField& field) {
        has_other |= field.number == kDeltaUs || field.number == kAbsoluteUs;
      });
  return is_read && !has_other;
}

bool HasOnlyOwnTime(uint32_t number, Bytes content) {
  switch (number) {
    case TracePacket::kTrackEvent: {
      bool has_other = false;  // before a malformed byte, too
      wire::ForEachField(content, [&](const wire::VisitedField& field) {
        has_other |= field.number == kDeltaUs || field.number == kAbsoluteUs;
      });
      return !has_other;
    }
    case TracePacket::kSysStats:
    case TracePacket::kProcessStats:
    case TracePacket::kPerfSample:
    case TracePacket::kForTesting:
      return true;
    default:
      return false;
  }
}

void ReadEventTimes(const TracePacketView& packet, SequenceTime& sequence, TraceClocks& clocks,
                    EventTimes& out) {
  out.Clear();
  const Bytes content = packet.content_bytes;
  switch (packet.content) {
    case TracePacket::kFtraceEvents:
      ReadFtraceTimes(content, packet.sequence_id, clocks, out);
      return;
    case TracePacket::kTrackEvent:
      AddTrackEvent(packet, sequence, clocks, out);
      return;
    case TracePacket::kAndroidLog:
      ForEachMessage(content, /*AndroidLogPacket.events*/ 1, [&](Bytes event) {
        if (const auto ns = FirstNumber(event, 5)) out.Add(kRealTime, *ns);
      });
      return;
    case TracePacket::kPowerRails:
      ForEachMessage(content, 2, [&](Bytes energy) {
        if (const auto ms = FirstNumber(energy, 2))
          out.Add(ClockKey{0, kBootTime}, *ms * kNsPerUs * kNsPerUs);
        else
          AddOwn(packet, sequence, clocks, out);
      });
      return;
    case TracePacket::kStatsdAtom:
      AddAtoms(packet, sequence, clocks, out);
      return;
    case TracePacket::kNetworkPacketBundle:
      AddNetworkPackets(packet, sequence, clocks, out);
      return;
    case TracePacket::kPixelModemEvents: {
      uint64_t sum = 0;
      ForEachNumber(content, 2, [&](uint64_t ns) { out.Add(std::nullopt, sum += ns); });
      return;
    }
    case TracePacket::kEtwEvents:
      ForEachMessage(content, 2, [&](Bytes event) {
        if (const auto ns = FirstNumber(event, 1)) out.Add(std::nullopt, *ns);
      });
      return;
    case TracePacket::kProfilePacket:
      AddProfile(content, out);
      return;
    case TracePacket::kStreamingProfilePacket:
      AddStreamingProfile(content, sequence, out);
      return;
    case TracePacket::kChromeEvents:
      if (packet.timestamp && !packet.timestamp_clock && !sequence.default_clock) {
        out.Add(kMonotonic, *packet.timestamp);
        return;
      }
      break;
    default:
      if (NeedsNoTime(packet.content)) return;
  }
  AddOwn(packet, sequence, clocks, out);
}

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
