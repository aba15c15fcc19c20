#include "core/perfetto/clocks.h"

#include "core/base/lookup.h"

namespace ringscope {

ClockReadings ReadClockSnapshot(Bytes snapshot) {
  using Clock = proto::ClockSnapshot::Clock;
  ClockReadings readings;
  for (const wire::Field& field : wire::FieldReader(snapshot)) {
    if (field.number == proto::ClockSnapshot::kPrimaryTraceClock)
      readings.primary = static_cast<uint32_t>(field.value);
    if (field.number != proto::ClockSnapshot::kClocks ||
        readings.clocks.size() == ClockReadings::kMaxClocks)
      continue;
    ClockReading& reading = readings.clocks.emplace_back();
    for (const wire::Field& part : wire::FieldReader(field.bytes)) {
      if (part.number == Clock::kClockId) reading.id = static_cast<uint32_t>(part.value);
      if (part.number == Clock::kTimestamp) reading.time = part.value;
      if (part.number == Clock::kIsIncremental) reading.is_incremental = part.value != 0;
      if (part.number == Clock::kUnitMultiplierNs && part.value != 0) reading.unit_ns = part.value;
    }
  }
  return readings;
}

void Clocks::AddSnapshot(Bytes snapshot, const Clocks* outer) {
  constexpr size_t kMaxClocks = 128;  // the built-in ones and 64 of a sequence's own are less
  const std::vector<ClockReading> readings = ReadClockSnapshot(snapshot).clocks;
  std::optional<uint64_t> boot_ns;
  for (const ClockReading& reading : readings)
    if (reading.id == kBootTime) boot_ns = reading.ns();
  for (const ClockReading& reading : readings) {
    if (boot_ns || outer == nullptr) break;
    const Clock* const known = FindIn(outer->clocks_, reading.id);
    if (known != nullptr && !known->is_incremental)
      boot_ns = reading.time * known->unit_ns + known->offset_ns;
  }
  if (!boot_ns) return;
  for (const ClockReading& reading : readings) {
    if (reading.id == kBootTime) continue;
    if (clocks_.size() == kMaxClocks && !clocks_.contains(reading.id)) continue;
    clocks_[reading.id] = {reading, *boot_ns - reading.ns()};
  }
}

std::optional<uint64_t> Clocks::Resolve(uint32_t clock, uint64_t time) {
  if (clock == kBootTime) return time;
  Clock* const known = FindIn(clocks_, clock);
  if (known == nullptr) return std::nullopt;
  if (known->is_incremental) time = known->time += time;
  return time * known->unit_ns + known->offset_ns;
}

std::optional<uint64_t> SequenceClocks::TimeOf(const PacketFacts& facts, Bytes packet,
                                               Clocks& global) {
  if (facts.content == proto::TracePacket::kClockSnapshot)
    wire::ForEachMessage(packet, proto::TracePacket::kClockSnapshot,
                         [&](Bytes snapshot) { own_.AddSnapshot(snapshot, &global); });
  state_.Add(facts.clears_state, /*lost=*/false);
  if (facts.clears_state) default_clock_.reset();
  if (facts.default_clock) default_clock_ = facts.default_clock;
  if (!facts.timestamp) return std::nullopt;
  const uint32_t clock = facts.timestamp_clock.value_or(default_clock_.value_or(kBootTime));
  // Where packets before are lost, another default may have been set.
  if (facts.needs_state && !state_.valid() && !facts.timestamp_clock) return std::nullopt;
  return (own_.Knows(clock) ? own_ : global).Resolve(clock, *facts.timestamp);
}

}  // namespace ringscope
