#include "core/trace/machine_clocks.h"

#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/clocks.h"

namespace ringscope {
namespace {

/// ns of each clock of a ClockSnapshot message.
std::map<uint32_t, int64_t> TimesOf(Bytes snapshot) {
  std::map<uint32_t, int64_t> times;
  constexpr size_t kMaxClocks = 64;
  for (const ClockReading& reading : ReadClockSnapshot(snapshot).clocks)
    if (times.size() < kMaxClocks) times[reading.id] = static_cast<int64_t>(reading.ns());
  return times;
}

int64_t Less(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

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
