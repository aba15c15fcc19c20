#include "core/trace/ftrace_counters.h"

#include <bit>

#include "core/base/lookup.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

uint64_t NsOf(uint64_t double_bits) {
  constexpr double kNsPerSecond = 1e9, kMaxSeconds = 9e9;  // what fits into 63 bits of ns
  const auto seconds = std::bit_cast<double>(double_bits);
  return seconds > 0 ? static_cast<uint64_t>(std::min(seconds, kMaxSeconds) * kNsPerSecond) : 0;
}

}  // namespace

std::optional<FtraceMoment> FirstFtraceEvent(Bytes bundle) {
  constexpr uint32_t kEvent = 2, kCompactSched = 4, kClock = 5;
  FtraceMoment moment;
  bool has_time = false;
  const auto take = [&](uint64_t ns) {
    moment.time_ns = has_time ? std::min(moment.time_ns, ns) : ns;
    has_time = true;
  };
  bool has_event = false;
  for (const wire::Field& field : wire::FieldReader(bundle)) {
    if (field.number == proto::FtraceEventBundle::kCpu)
      moment.cpu = static_cast<uint32_t>(field.value);
    if (field.number == kClock && field.value != 0) return std::nullopt;
    if (field.IsBytes(kEvent) && !std::exchange(has_event, true))
      if (const auto time = wire::LastVarint(field.bytes, 1)) take(*time);
    if (!field.IsBytes(kCompactSched)) continue;
    constexpr uint32_t kSwitchTimes = 1, kWakingTimes = 7;
    wire::ForEachField(field.bytes, [&](const wire::VisitedField& column) {
      if (column.number != kSwitchTimes && column.number != kWakingTimes) return;
      if (const wire::Varint first = wire::ReadVarint(column.bytes); first.size > 0)
        take(first.value);
    });
  }
  return has_time ? std::optional(moment) : std::nullopt;
}

void FtraceCounters::AddPacket(uint32_t content, Bytes packet) {
  constexpr uint32_t kEvents = proto::TracePacket::kFtraceEvents;
  constexpr uint32_t kStats = proto::TracePacket::kFtraceStats;
  if (content != kEvents && content != kStats) return;
  wire::ForEachMessage(packet, kEvents, [&](Bytes bundle) { AddBundle(bundle); });
  wire::ForEachMessage(packet, kStats, [&](Bytes stats) { AddStats(stats); });
}

void FtraceCounters::AddBundle(Bytes bundle, std::optional<TimeSpan> events) {
  uint64_t number = 0;
  bool lost = false;
  std::optional<int64_t> data_from;
  for (const wire::Field& field : wire::FieldReader(bundle)) {
    if (field.number == proto::FtraceEventBundle::kCpu) number = field.value;
    if (field.number == proto::FtraceEventBundle::kLostEvents) lost = field.value != 0;
    if (field.number == proto::FtraceEventBundle::kPreviousBundleEndTimestamp ||
        (field.number == proto::FtraceEventBundle::kLastReadEventTimestamp && !data_from))
      data_from = static_cast<int64_t>(field.value);
  }
  if (number >= kMaxCpus) return;
  Cpu& cpu = cpus_[number];
  if (cpu.bundles++ == 0) cpu.data_from_ns = data_from;
  if (lost && !events)
    if (const std::optional<FtraceMoment> first = FirstFtraceEvent(bundle))
      AddTo(events, static_cast<int64_t>(first->time_ns));
  cpu.bundles_after_loss += lost ? 1 : 0;
  if (!events) return;
  if (lost) {
    cpu.last_loss_ns = static_cast<uint64_t>(events->first_ns);
    if (!cpu.first_loss_ns) cpu.first_loss_ns = cpu.last_loss_ns;
    if (cpu.holes.size() < kMaxHoles)
      cpu.holes.push_back(
          {std::min(cpu.last_ns.value_or(events->first_ns), events->first_ns), events->first_ns});
    else
      cpu.holes.back().Add(events->first_ns);
  }
  cpu.last_ns = events->last_ns;
}

std::optional<std::pair<int64_t, uint64_t>> FtraceCounters::DataFrom() const {
  std::optional<std::pair<int64_t, uint64_t>> latest;
  for (const auto& [number, cpu] : cpus_)
    if (cpu.data_from_ns && (!latest || *cpu.data_from_ns > latest->first))
      latest = {*cpu.data_from_ns, number};
  return latest;
}

uint64_t FtraceCounters::EventsBefore(int64_t time_ns) const {
  return static_cast<uint64_t>(
      std::ranges::count_if(times_, [&](int64_t event_ns) { return event_ns < time_ns; }));
}

void FtraceCounters::AddStats(Bytes stats) {
  constexpr uint32_t kKprobeStats = 10, kHits = 1, kMisses = 2;
  constexpr uint64_t kPhaseStart = 1, kPhaseEnd = 2;
  const uint64_t phase = wire::NumberIn(stats, proto::FtraceStats::kPhase);
  if (phase != kPhaseStart && phase != kPhaseEnd) return;
  const auto set = [phase](FtracePhases& counter, std::optional<uint64_t> value) {
    if (value) (phase == kPhaseStart ? counter.begin : counter.end) = value;
  };
  has_stats = true;
  for (const wire::Field& field : wire::FieldReader(stats)) {
    const auto text = [&] {
      constexpr size_t kMost = 1024;
      return std::string(wire::AsText(field.bytes).substr(0, kMost));
    };
    if (field.IsBytes(proto::FtraceStats::kAtraceErrors)) atrace_errors = text();
    if (field.IsBytes(proto::FtraceStats::kExclusiveFeatureError)) exclusive_error = text();
    if (field.IsBytes(proto::FtraceStats::kUnknownFtraceEvents) &&
        unknown_events.size() < kMaxNames)
      unknown_events.push_back(text());
    if (field.IsBytes(proto::FtraceStats::kFailedFtraceEvents) && failed_events.size() < kMaxNames)
      failed_events.push_back(text());
    if (field.IsBytes(kKprobeStats)) {
      set(kprobe_hits, wire::LastVarint(field.bytes, kHits));
      set(kprobe_misses, wire::LastVarint(field.bytes, kMisses));
    }
    const uint64_t number = wire::NumberIn(field.bytes, proto::FtraceCpuStats::kCpu);
    if (!field.IsBytes(proto::FtraceStats::kCpuStats) || number >= kMaxCpus) continue;
    Cpu& cpu = cpus_[number];
    for (const wire::Field& value : wire::FieldReader(field.bytes))
      if (const FtraceCounterRow* const row =
              FindBy(kEnumRows<FtraceCounter>, value.number, &FtraceCounterRow::field))
        set(cpu.counters[static_cast<size_t>(row->value)],
            row->is_time ? NsOf(value.value) : value.value);
  }
}

}  // namespace ringscope
