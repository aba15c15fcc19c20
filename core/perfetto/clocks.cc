#include "core/perfetto/clocks.h"

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// More than there can be: the built-in ones and 64 of a sequence's own.
constexpr size_t kMaxClocks = 128;

}  // namespace

ClockReadings ReadClockSnapshot(Bytes snapshot) {
  using Clock = proto::ClockSnapshot::Clock;
  ClockReadings readings;
  wire::FieldReader fields(snapshot);
  while (const auto field = fields.Next()) {
    if (field->number == proto::ClockSnapshot::kPrimaryTraceClock)
      readings.primary = static_cast<uint32_t>(field->value);
    if (field->number != proto::ClockSnapshot::kClocks ||
        readings.clocks.size() == ClockReadings::kMaxClocks)
      continue;
    ClockReading& reading = readings.clocks.emplace_back();
    wire::FieldReader values(field->bytes);
    while (const auto value = values.Next()) {
      if (value->number == Clock::kClockId) reading.id = static_cast<uint32_t>(value->value);
      if (value->number == Clock::kTimestamp) reading.time = value->value;
      if (value->number == Clock::kIsIncremental) reading.is_incremental = value->value != 0;
      if (value->number == Clock::kUnitMultiplierNs && value->value != 0)
        reading.unit_ns = value->value;
    }
  }
  return readings;
}

void Clocks::AddSnapshot(Bytes snapshot, const Clocks* outer) {
  const std::vector<ClockReading> readings = ReadClockSnapshot(snapshot).clocks;
  std::optional<uint64_t> boot_ns;
  for (const ClockReading& reading : readings)
    if (reading.id == kBootTime) boot_ns = reading.ns();
  for (const ClockReading& reading : readings) {
    if (boot_ns || outer == nullptr) break;
    const auto known = outer->clocks_.find(reading.id);
    if (known != outer->clocks_.end() && !known->second.is_incremental)
      boot_ns = reading.time * known->second.unit_ns + known->second.offset_ns;
  }
  if (!boot_ns) return;
  for (const ClockReading& reading : readings) {
    if (reading.id == kBootTime) continue;
    if (clocks_.size() == kMaxClocks && !clocks_.contains(reading.id)) continue;
    clocks_[reading.id] = {.offset_ns = *boot_ns - reading.ns(),
                           .unit_ns = reading.unit_ns,
                           .is_incremental = reading.is_incremental,
                           .last = reading.time};
  }
}

std::optional<uint64_t> Clocks::Resolve(uint32_t clock, uint64_t time) {
  if (clock == kBootTime) return time;
  const auto found = clocks_.find(clock);
  if (found == clocks_.end()) return std::nullopt;
  Clock& known = found->second;
  if (known.is_incremental) time = known.last += time;
  return time * known.unit_ns + known.offset_ns;
}

std::optional<uint64_t> SequenceClocks::TimeOf(const PacketFacts& facts, Bytes packet,
                                               Clocks& global) {
  if (facts.content == proto::TracePacket::kClockSnapshot) {
    wire::FieldReader fields(packet);
    while (const auto field = fields.Next())
      if (field->number == proto::TracePacket::kClockSnapshot)
        own_.AddSnapshot(field->bytes, &global);
  }
  state_.Add(facts.clears_state, /*lost=*/false);
  if (facts.clears_state) default_clock_.reset();
  if (facts.default_clock) default_clock_ = facts.default_clock;
  if (!facts.timestamp) return std::nullopt;
  const uint32_t clock = facts.timestamp_clock.value_or(default_clock_.value_or(kBootTime));
  // Where packets before are lost, another default may have been set.
  if (facts.needs_state && !state_.valid() && !facts.timestamp_clock) return std::nullopt;
  if (own_.Knows(clock)) return own_.Resolve(clock, *facts.timestamp);
  return global.Resolve(clock, *facts.timestamp);
}

}  // namespace ringscope
