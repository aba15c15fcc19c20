#include "core/trace/trace_clocks.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr ClockKey kBootClock{0, kBootTime};

/// Sums and products of what a file has: modulo 2^64, as nothing is promised of them.
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

int64_t Less(int64_t a, int64_t b) {
  return Wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// ns of each clock of a ClockSnapshot message.
std::map<uint32_t, int64_t> TimesOf(Bytes snapshot) {
  std::map<uint32_t, int64_t> times;
  constexpr size_t kMostClocks = 64;
  for (const ClockReading& reading : ReadClockSnapshot(snapshot).clocks)
    if (times.size() < kMostClocks) times[reading.id] = Wrapped(reading.ns());
  return times;
}

}  // namespace

void TraceClocks::AddSnapshot(Bytes snapshot, uint32_t sequence_id) {
  ++snapshots_;
  static_assert(kMaxClocksOfSnapshot < ClockReadings::kMaxClocks);
  const ClockReadings found = ReadClockSnapshot(snapshot);
  Readings readings;
  bool is_valid = true, has_boot_time = false;
  for (const ClockReading& clock : found.clocks) {
    const ClockKey key = ClockKey::Of(sequence_id, clock.id);
    has_boot_time |= key == kBootClock;
    if (clocks_.size() == kMaxClocks && !clocks_.contains(key)) {
      ++left_out_;
      return;
    }
    Clock& known = clocks_
                       .try_emplace(key, Clock{.unit_ns = clock.unit_ns,
                                               .is_incremental = clock.is_incremental})
                       .first->second;
    is_valid = known.unit_ns == clock.unit_ns && known.is_incremental == clock.is_incremental &&
               readings.size() < kMaxClocksOfSnapshot &&
               readings.try_emplace(key, Wrapped(clock.ns())).second;
    if (!is_valid) break;
    known.last = clock.time;
  }
  // The trace's clock must not show less than in the snapshot of the same clocks before.
  const Series* const series = FindIn(series_, ClocksOf(readings));
  const int64_t* const now = FindIn(readings, trace_clock_);
  if (!is_valid ||
      (series != nullptr && now != nullptr && series->times.at(trace_clock_).back() > *now)) {
    ++invalid_snapshots_;
    return;
  }
  if (found.primary || has_boot_time) {
    default_clock_ = ClockKey{0, found.primary.value_or(kBootTime)};
    if (!has_converted_ && *default_clock_ != trace_clock_) {
      trace_clock_ = *default_clock_;
      ForgetPaths();
    }
  }
  Add(readings);
}

void TraceClocks::Relate(ClockKey a, int64_t a_ns, ClockKey b, int64_t b_ns) {
  if (clocks_.size() + 2 > kMaxClocks && !(clocks_.contains(a) && clocks_.contains(b))) return;
  clocks_.try_emplace(a);
  clocks_.try_emplace(b);
  Add({{a, a_ns}, {b, b_ns}});
}

std::vector<ClockKey> TraceClocks::ClocksOf(const Readings& readings) {
  std::vector<ClockKey> clocks;
  for (const auto& [clock, ns] : readings) clocks.push_back(clock);
  return clocks;
}

void TraceClocks::Add(const Readings& readings) {
  if (readings.empty()) return;
  std::vector<ClockKey> clocks = ClocksOf(readings);
  const bool is_new = !series_.contains(clocks);
  if (readings_ + readings.size() > max_readings_ || (is_new && series_.size() == kMaxSeries)) {
    ++left_out_;
    return;
  }
  readings_ += readings.size();
  if (is_new) ForgetPaths();
  Series& series = series_[std::move(clocks)];
  for (const auto& [clock, ns] : readings) {
    std::vector<int64_t>& times = series.times[clock];
    const bool runs_back = !times.empty() && times.back() > ns;
    if (runs_back && !std::exchange(clocks_[clock].runs_back, true)) ForgetPaths();
    times.push_back(ns);
  }
}

int64_t TraceClocks::Step::Convert(int64_t ns) const {
  const std::vector<int64_t>& known = *from;
  size_t& at = series->last_used;
  if (known[at] > ns || (at + 1 < known.size() && ns >= known[at + 1])) {
    const auto after = std::ranges::upper_bound(known, ns);
    at = after == known.begin() ? 0 : static_cast<size_t>(after - known.begin()) - 1;
  }
  return Less(ns, Less(known[at], (*to)[at]));
}

/// The trace's clock is fixed from here on. One that no snapshot names is taken as BOOTTIME.
void TraceClocks::BeginConversions() {
  has_converted_ = true;
  lacks_boot_time_ = default_clock_ && trace_clock_ != kBootClock &&
                     (!clocks_.contains(kBootClock) || PathFrom(kBootClock)->empty());
}

std::optional<int64_t> TraceClocks::ToTraceTime(ClockKey key, uint64_t time) {
  if (last_.clock == nullptr || last_.key != key) {
    if (!has_converted_) BeginConversions();
    Clock* const known = FindIn(clocks_, key);
    if (known == nullptr) return key == trace_clock_ ? std::optional(Wrapped(time)) : std::nullopt;
    last_ = {key, known, key == trace_clock_ ? nullptr : PathFrom(key)};
  }
  Clock& clock = *last_.clock;
  if (clock.is_incremental) time = clock.last += time;
  int64_t ns = Wrapped(time * clock.unit_ns);
  if (last_.path == nullptr) return ns;
  if (last_.path->empty()) return std::nullopt;
  for (const Step& step : *last_.path) ns = step.Convert(ns);
  return ns;
}

std::optional<int64_t> TraceClocks::Peek(ClockKey clock, uint64_t time) {
  const Clock* const known = FindIn(clocks_, clock);
  // The step of a packet that is not used is none of the clock's.
  const bool is_step = known != nullptr && known->is_incremental;
  const bool had_converted = has_converted_, lacked_boot_time = lacks_boot_time_;
  const std::optional<int64_t> ns = ToTraceTime(clock, is_step ? 0 : time);
  has_converted_ = had_converted;
  lacks_boot_time_ = lacked_boot_time;
  return ns;
}

std::optional<ClockFailure> TraceClocks::FailureOf(ClockKey clock) {
  if (clock == trace_clock_) return std::nullopt;
  if (!clocks_.contains(clock)) return ClockFailure::kUnknownSource;
  if (!clocks_.contains(trace_clock_)) return ClockFailure::kUnknownTarget;
  return PathFrom(clock)->empty() ? std::optional(ClockFailure::kNoPath) : std::nullopt;
}

/// The shortest chain of series to the trace's clock.
/// @param clock of a snapshot
auto TraceClocks::PathFrom(ClockKey clock) -> const Path* {
  const auto [entry, is_new] = paths_.try_emplace(clock);
  Path& path = entry->second;
  if (!is_new) return &path;
  std::map<ClockKey, std::pair<ClockKey, Step>> reached;  // from where, and how
  std::deque<ClockKey> next = {clock};
  while (!next.empty() && !reached.contains(trace_clock_)) {
    const ClockKey at = next.front();
    next.pop_front();
    if (clocks_[at].runs_back) continue;
    for (auto& [clocks, series] : series_) {
      const std::vector<int64_t>* const from = FindIn(series.times, at);
      if (from == nullptr) continue;
      for (const auto& [other, to] : series.times)
        if (other != clock && reached.try_emplace(other, at, Step{&series, from, &to}).second)
          next.push_back(other);
    }
  }
  if (reached.contains(trace_clock_)) {
    for (ClockKey at = trace_clock_; at != clock; at = reached.at(at).first)
      path.push_back(reached.at(at).second);
    std::ranges::reverse(path);
  }
  return &path;
}

TraceClocks& MachineClocks::Of(uint32_t machine) {
  if (machine == 0) return host_;
  const bool is_kept = remotes_.size() < kMaxMachines || remotes_.contains(machine);
  return is_kept ? remotes_[machine].clocks : others_;
}

void MachineClocks::AddSync(uint32_t machine, Bytes sync) {
  constexpr uint32_t kSynced = 1, kClient = 2, kHost = 3;
  constexpr size_t kMaxClocks = 256;
  if (machine == 0 || &Of(machine) == &others_) return;
  // The mean of all moments: each has the delay of a message, which is small beside it.
  std::map<uint32_t, std::pair<double, uint64_t>> sums;
  wire::ForEachMessage(sync, kSynced, [&](Bytes moment) {
    const std::map<uint32_t, int64_t> host = TimesOf(wire::BytesIn(moment, kHost));
    for (const auto& [id, ns] : TimesOf(wire::BytesIn(moment, kClient))) {
      const int64_t* const other = FindIn(host, id);
      if (other == nullptr || (sums.size() == kMaxClocks && !sums.contains(id))) continue;
      auto& [sum, count] = sums[id];
      sum += static_cast<double>(Less(ns, *other));
      ++count;
    }
  });
  constexpr double kMost = 9e18;
  for (const auto& [id, sum] : sums) {
    const double mean = sum.first / static_cast<double>(sum.second);
    if (mean > -kMost && mean < kMost) remotes_[machine].ahead_ns[id] = static_cast<int64_t>(mean);
  }
}

std::optional<int64_t> MachineClocks::ToTraceTime(uint32_t machine, std::optional<ClockKey> clock,
                                                  uint64_t time) {
  TraceClocks& clocks = Of(machine);
  const std::optional<int64_t> ns =
      clock ? clocks.ToTraceTime(*clock, time) : std::optional(Wrapped(time));
  const Remote* const remote = ns && machine != 0 ? FindIn(remotes_, machine) : nullptr;
  if (remote == nullptr) return ns;
  const int64_t* const ahead = FindIn(remote->ahead_ns, clocks.trace_clock().id);
  return ahead == nullptr ? ns : Less(*ns, *ahead);
}

uint64_t MachineClocks::invalid_snapshots() const {
  uint64_t sum = host_.invalid_snapshots();
  for (const auto& [machine, remote] : remotes_) sum += remote.clocks.invalid_snapshots();
  return sum;
}

}  // namespace ringscope
