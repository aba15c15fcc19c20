#include "core/trace/trace_clocks.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// Sums and products of what a file has: modulo 2^64, as nothing is promised of them.
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }
int64_t Between(int64_t ns, int64_t from, int64_t to) {
  return Wrapped(static_cast<uint64_t>(ns) - static_cast<uint64_t>(from) +
                 static_cast<uint64_t>(to));
}

/// ns of each clock of a ClockSnapshot message.
std::map<uint32_t, int64_t> TimesOf(Bytes snapshot) {
  std::map<uint32_t, int64_t> times;
  constexpr size_t kMostClocks = 64;
  for (const ClockReading& reading : ReadClockSnapshot(snapshot).clocks)
    if (times.size() < kMostClocks) times[reading.id] = static_cast<int64_t>(reading.ns());
  return times;
}

int64_t Less(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

TraceClocks::TraceClocks(size_t max_readings)
    : max_readings_(max_readings), trace_clock_{0, kBootTime} {}

void TraceClocks::AddSnapshot(Bytes snapshot, uint32_t sequence_id) {
  ++snapshots_;
  static_assert(kMaxClocksOfSnapshot < ClockReadings::kMaxClocks);
  const ClockReadings found = ReadClockSnapshot(snapshot);
  std::vector<Reading> readings;
  bool is_valid = true;
  bool has_boot_time = false;
  for (const ClockReading& clock : found.clocks) {
    is_valid &= readings.size() < kMaxClocksOfSnapshot;
    if (!is_valid) break;
    const ClockKey key = ClockKey::Of(sequence_id, clock.id);
    const Clock read{
        .unit_ns = clock.unit_ns, .is_incremental = clock.is_incremental, .last = clock.time};
    has_boot_time |= key == ClockKey{0, kBootTime};
    if (clocks_.size() == kMaxClocks && !clocks_.contains(key)) {
      ++left_out_;
      return;
    }
    const auto [known, is_new] = clocks_.try_emplace(key, read);
    const bool is_twice =
        std::ranges::any_of(readings, [&](const Reading& other) { return other.clock == key; });
    is_valid = !is_twice && known->second.unit_ns == read.unit_ns &&
               known->second.is_incremental == read.is_incremental;
    if (!is_valid) continue;
    known->second.last = read.last;
    readings.push_back({key, Wrapped(clock.ns())});
  }
  if (!is_valid || SetsTraceClockBack(readings)) {
    ++invalid_snapshots_;
    return;
  }
  std::optional<ClockKey> primary;
  if (found.primary || has_boot_time) primary = ClockKey{0, found.primary.value_or(kBootTime)};
  if (primary) {
    default_clock_ = primary;
    if (!has_converted_ && *primary != trace_clock_) {
      trace_clock_ = *primary;
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

/// Whether the trace's clock shows less than in the snapshot of the same clocks before.
bool TraceClocks::SetsTraceClockBack(const std::vector<Reading>& readings) const {
  const auto reading = std::ranges::find(readings, trace_clock_, &Reading::clock);
  if (reading == readings.end()) return false;
  const auto series = series_.find(ClocksOf(readings));
  if (series == series_.end()) return false;
  const auto column = std::ranges::lower_bound(series->second.clocks, trace_clock_);
  const auto place = static_cast<size_t>(column - series->second.clocks.begin());
  return series->second.times[place].back() > reading->ns;
}

/// Sorted.
std::vector<ClockKey> TraceClocks::ClocksOf(const std::vector<Reading>& readings) {
  std::vector<ClockKey> clocks;
  for (const Reading& reading : readings) clocks.push_back(reading.clock);
  std::ranges::sort(clocks);
  return clocks;
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

bool TraceClocks::FindAndConvert(ClockKey key, uint64_t time, int64_t& ns) {
  has_converted_ = true;
  const auto known = clocks_.find(key);
  if (known == clocks_.end()) {
    ns = Wrapped(time);
    return key == trace_clock_;
  }
  last_ = {key, &known->second, key == trace_clock_ ? nullptr : PathFrom(key)};
  return ConvertLast(time, ns);
}

bool TraceClocks::ConvertLast(uint64_t time, int64_t& ns) {
  Clock& clock = *last_.clock;
  if (clock.is_incremental) time = clock.last += time;
  ns = Wrapped(time * clock.unit_ns);
  if (last_.path == nullptr) return true;
  for (const Step& step : *last_.path) ns = Moved(step, ns);
  return !last_.path->empty();
}

int64_t TraceClocks::Moved(const Step& step, int64_t ns) {
  Series& series = *step.series;
  const std::vector<int64_t>& from = series.times[step.from];
  size_t at = series.last_used;
  const bool fits = from[at] <= ns && (at + 1 == from.size() || ns < from[at + 1]);
  if (!fits) {
    const auto after = std::ranges::upper_bound(from, ns);
    at = after == from.begin() ? 0 : static_cast<size_t>(after - from.begin()) - 1;
    series.last_used = at;
  }
  return Between(ns, from[at], series.times[step.to][at]);
}

std::optional<ClockFailure> TraceClocks::FailureOf(ClockKey clock) {
  if (clock == trace_clock_) return std::nullopt;
  if (!clocks_.contains(clock)) return ClockFailure::kUnknownSource;
  if (!clocks_.contains(trace_clock_)) return ClockFailure::kUnknownTarget;
  const std::vector<Step>* const path = PathFrom(clock);
  return path == nullptr || path->empty() ? std::optional(ClockFailure::kNoPath) : std::nullopt;
}

/// The shortest chain of series to the trace's clock; nullptr: the clock is in no snapshot.
auto TraceClocks::PathFrom(ClockKey clock) -> const std::vector<Step>* {
  if (!clocks_.contains(clock)) return nullptr;
  const auto known = paths_.find(clock);
  if (known != paths_.end()) return &known->second;
  std::map<ClockKey, std::pair<ClockKey, Step>> reached;  // from where, and how
  std::deque<ClockKey> next = {clock};
  while (!next.empty() && !reached.contains(trace_clock_)) {
    const ClockKey at = next.front();
    next.pop_front();
    if (clocks_[at].runs_back) continue;
    for (auto& [key, series] : series_) {
      const auto column = std::ranges::lower_bound(series.clocks, at);
      if (column == series.clocks.end() || *column != at) continue;
      const auto from = static_cast<size_t>(column - series.clocks.begin());
      for (size_t to = 0; to < series.clocks.size(); ++to) {
        const ClockKey other = series.clocks[to];
        if (other == clock || reached.contains(other)) continue;
        reached.emplace(other, std::pair(at, Step{&series, from, to}));
        next.push_back(other);
      }
    }
  }
  std::vector<Step> path;
  if (reached.contains(trace_clock_)) {
    for (ClockKey at = trace_clock_; at != clock; at = reached.at(at).first)
      path.push_back(reached.at(at).second);
    std::ranges::reverse(path);
  }
  return &paths_.emplace(clock, std::move(path)).first->second;
}

TraceClocks& MachineClocks::Of(uint32_t machine) {
  if (machine == 0) return host_;
  const auto known = remotes_.find(machine);
  if (known != remotes_.end()) return known->second.clocks;
  return remotes_.size() < kMaxMachines ? remotes_[machine].clocks : others_;
}

void MachineClocks::AddSync(uint32_t machine, Bytes sync) {
  constexpr uint32_t kSynced = 1, kClient = 2, kHost = 3;
  if (machine == 0 || &Of(machine) == &others_) return;
  // The mean of all moments: each has the delay of a message, which is small beside it.
  std::map<uint32_t, std::pair<double, uint64_t>> sums;
  wire::FieldReader fields(sync);
  while (const auto field = fields.Next()) {
    if (field->number != kSynced) continue;
    std::map<uint32_t, int64_t> client, host;
    wire::FieldReader sides(field->bytes);
    while (const auto side = sides.Next()) {
      if (side->number == kClient) client = TimesOf(side->bytes);
      if (side->number == kHost) host = TimesOf(side->bytes);
    }
    for (const auto& [id, ns] : client) {
      const auto other = host.find(id);
      constexpr size_t kMaxClocks = 256;
      if (other == host.end() || (sums.size() == kMaxClocks && !sums.contains(id))) continue;
      auto& [sum, count] = sums[id];
      sum += static_cast<double>(Less(ns, other->second));
      ++count;
    }
  }
  constexpr double kMost = 9e18;
  for (const auto& [id, sum] : sums) {
    const double mean = sum.first / static_cast<double>(sum.second);
    if (mean > -kMost && mean < kMost) remotes_[machine].ahead_ns[id] = static_cast<int64_t>(mean);
  }
}

std::optional<int64_t> MachineClocks::ToTraceTime(uint32_t machine, std::optional<ClockKey> clock,
                                                  uint64_t time) {
  TraceClocks& clocks = machine == 0 ? host_ : Of(machine);
  const std::optional<int64_t> ns =
      clock ? clocks.ToTraceTime(*clock, time) : static_cast<int64_t>(time);
  if (machine == 0) return ns;
  const auto remote = remotes_.find(machine);
  if (!ns || remote == remotes_.end()) return ns;
  const auto ahead = remote->second.ahead_ns.find(clocks.trace_clock().id);
  return ahead == remote->second.ahead_ns.end() ? ns : Less(*ns, ahead->second);
}

uint64_t MachineClocks::invalid_snapshots() const {
  uint64_t sum = host_.invalid_snapshots();
  for (const auto& [machine, remote] : remotes_) sum += remote.clocks.invalid_snapshots();
  return sum;
}

}  // namespace ringscope
