#include "core/trace/trace_clocks.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

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

TraceClocks::TraceClocks(size_t max_readings)
    : max_readings_(max_readings), trace_clock_{0, kBootTime} {}

void TraceClocks::AddSnapshot(Bytes snapshot, uint32_t sequence_id) {
  ++snapshots_;
  static_assert(kMaxClocksOfSnapshot < ClockReadings::kMaxClocks);
  const ClockReadings found = ReadClockSnapshot(snapshot);
  std::vector<Reading> readings;
  bool is_valid = true, has_boot_time = false;
  for (const ClockReading& clock : found.clocks) {
    is_valid &= readings.size() < kMaxClocksOfSnapshot;
    if (!is_valid) break;
    const ClockKey key = ClockKey::Of(sequence_id, clock.id);
    has_boot_time |= key == ClockKey{0, kBootTime};
    if (clocks_.size() == kMaxClocks && !clocks_.contains(key)) {
      ++left_out_;
      return;
    }
    Clock& known = clocks_
                       .try_emplace(key, Clock{.unit_ns = clock.unit_ns,
                                               .is_incremental = clock.is_incremental})
                       .first->second;
    is_valid = known.unit_ns == clock.unit_ns && known.is_incremental == clock.is_incremental &&
               !Contains(readings, key, &Reading::clock);
    if (!is_valid) continue;
    known.last = clock.time;
    readings.push_back({key, Wrapped(clock.ns())});
  }
  if (!is_valid || SetsTraceClockBack(readings)) {
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
  Add(std::move(readings));
}

void TraceClocks::Relate(ClockKey a, int64_t a_ns, ClockKey b, int64_t b_ns) {
  if (clocks_.size() + 2 > kMaxClocks && !(clocks_.contains(a) && clocks_.contains(b))) return;
  clocks_.try_emplace(a);
  clocks_.try_emplace(b);
  Add({{a, a_ns}, {b, b_ns}});
}

/// Sorted.
std::vector<ClockKey> TraceClocks::ClocksOf(const std::vector<Reading>& readings) {
  std::vector<ClockKey> clocks;
  for (const Reading& reading : readings) clocks.push_back(reading.clock);
  std::ranges::sort(clocks);
  return clocks;
}

/// Returns true if the trace's clock shows less than in the snapshot of the same clocks before.
bool TraceClocks::SetsTraceClockBack(const std::vector<Reading>& readings) const {
  const auto reading = std::ranges::find(readings, trace_clock_, &Reading::clock);
  if (reading == readings.end()) return false;
  const auto series = series_.find(ClocksOf(readings));
  return series != series_.end() &&
         series->second.times[series->second.ColumnOf(trace_clock_)].back() > reading->ns;
}

void TraceClocks::Add(std::vector<Reading> readings) {
  if (readings.empty()) return;
  std::ranges::sort(readings, {}, &Reading::clock);
  std::vector<ClockKey> key = ClocksOf(readings);
  if (readings_ + readings.size() > max_readings_ ||
      (series_.size() == kMaxSeries && !series_.contains(key))) {
    ++left_out_;
    return;
  }
  readings_ += readings.size();
  const auto [entry, is_new] = series_.try_emplace(key);
  Series& series = entry->second;
  if (is_new) {
    series.clocks = std::move(key);
    series.times.resize(readings.size());
    ForgetPaths();
  }
  for (size_t i = 0; i < readings.size(); ++i) {
    std::vector<int64_t>& times = series.times[i];
    if (!times.empty() && times.back() > readings[i].ns) {
      Clock& clock = clocks_[readings[i].clock];
      if (!clock.runs_back) ForgetPaths();
      clock.runs_back = true;
    }
    times.push_back(readings[i].ns);
  }
}

size_t TraceClocks::Series::ColumnOf(ClockKey clock) const {
  const auto found = std::ranges::lower_bound(clocks, clock);
  return found != clocks.end() && *found == clock ? static_cast<size_t>(found - clocks.begin())
                                                  : clocks.size();
}

int64_t TraceClocks::Series::Convert(size_t from, size_t to, int64_t ns) {
  const std::vector<int64_t>& known = times[from];
  if (known[last_used] > ns || (last_used + 1 < known.size() && ns >= known[last_used + 1])) {
    const auto after = std::ranges::upper_bound(known, ns);
    last_used = after == known.begin() ? 0 : static_cast<size_t>(after - known.begin()) - 1;
  }
  return Less(ns, Less(known[last_used], times[to][last_used]));
}

/// The trace's clock is fixed from here on. One that no snapshot names is taken as BOOTTIME.
void TraceClocks::BeginConversions() {
  constexpr ClockKey kBootClock{0, kBootTime};
  has_converted_ = true;
  lacks_boot_time_ = default_clock_ && trace_clock_ != kBootClock &&
                     (!clocks_.contains(kBootClock) || PathFrom(kBootClock)->empty());
}

std::optional<int64_t> TraceClocks::ToTraceTime(ClockKey key, uint64_t time) {
  if (last_.clock == nullptr || last_.key != key) {
    if (!has_converted_) BeginConversions();
    const auto known = clocks_.find(key);
    if (known == clocks_.end())
      return key == trace_clock_ ? std::optional(Wrapped(time)) : std::nullopt;
    last_ = {key, &known->second, key == trace_clock_ ? nullptr : PathFrom(key)};
  }
  Clock& clock = *last_.clock;
  if (clock.is_incremental) time = clock.last += time;
  int64_t ns = Wrapped(time * clock.unit_ns);
  if (last_.path == nullptr) return ns;
  if (last_.path->empty()) return std::nullopt;
  for (const Step& step : *last_.path) ns = step.series->Convert(step.from, step.to, ns);
  return ns;
}

std::optional<int64_t> TraceClocks::Peek(ClockKey clock, uint64_t time) {
  const auto known = clocks_.find(clock);
  // The step of a packet that is not used is none of the clock's.
  const bool is_step = known != clocks_.end() && known->second.is_incremental;
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
    for (auto& [key, series] : series_) {
      const size_t from = series.ColumnOf(at);
      if (from == series.clocks.size()) continue;
      for (size_t to = 0; to < series.clocks.size(); ++to) {
        const ClockKey other = series.clocks[to];
        if (other != clock && reached.try_emplace(other, at, Step{&series, from, to}).second)
          next.push_back(other);
      }
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
  const auto known = remotes_.find(machine);
  if (known != remotes_.end()) return known->second.clocks;
  return remotes_.size() < kMaxMachines ? remotes_[machine].clocks : others_;
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
      const auto other = host.find(id);
      if (other == host.end() || (sums.size() == kMaxClocks && !sums.contains(id))) continue;
      auto& [sum, count] = sums[id];
      sum += static_cast<double>(Less(ns, other->second));
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
  if (machine == 0 || !ns) return ns;
  const auto remote = remotes_.find(machine);
  if (remote == remotes_.end()) return ns;
  const auto ahead = remote->second.ahead_ns.find(clocks.trace_clock().id);
  return ahead == remote->second.ahead_ns.end() ? ns : Less(*ns, ahead->second);
}

uint64_t MachineClocks::invalid_snapshots() const {
  uint64_t sum = host_.invalid_snapshots();
  for (const auto& [machine, remote] : remotes_) sum += remote.clocks.invalid_snapshots();
  return sum;
}

}  // namespace ringscope
