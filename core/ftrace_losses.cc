#include "core/ftrace_losses.h"

#include "core/wire.h"

namespace ringscope {
namespace {

// Field numbers. Source: Perfetto's trace format.
enum BundleField : uint32_t { kBundleCpu = 1, kLostEvents = 3 };
enum StatsField : uint32_t { kPhase = 1, kCpuStats = 2 };
enum CpuStatsField : uint32_t { kCpu = 1, kOverrun = 3, kCommitOverrun = 4, kDroppedEvents = 8 };
constexpr uint64_t kStartOfTrace = 1;

uint64_t Since(uint64_t end, uint64_t start) { return end > start ? end - start : 0; }

}  // namespace

void FtraceLosses::AddPacket(Bytes packet, uint32_t content) {
  if (content != kEventBundle && content != kStats) return;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (field->number == kEventBundle) AddBundle(field->bytes);
    if (field->number == kStats) AddStats(field->bytes);
  }
}

void FtraceLosses::AddBundle(Bytes bundle) {
  uint32_t cpu = 0;
  bool lost = false;
  wire::FieldReader fields(bundle);
  while (const auto field = fields.Next()) {
    if (field->number == kBundleCpu) cpu = static_cast<uint32_t>(field->value);
    if (field->number == kLostEvents) lost = field->value != 0;
  }
  FtraceCpuLosses& losses = cpus_[cpu].losses;
  ++losses.bundles;
  if (lost) ++losses.bundles_after_loss;
}

void FtraceLosses::AddStats(Bytes stats) {
  uint64_t phase = 0;
  wire::FieldReader fields(stats);
  while (const auto field = fields.Next())
    if (field->number == kPhase) phase = field->value;
  wire::FieldReader again(stats);
  while (const auto field = again.Next()) {
    if (field->number != kCpuStats) continue;
    uint32_t cpu = 0;
    Counters counters;
    wire::FieldReader values(field->bytes);
    while (const auto value = values.Next()) {
      if (value->number == kCpu) cpu = static_cast<uint32_t>(value->value);
      if (value->number == kOverrun) counters.overrun = value->value;
      if (value->number == kCommitOverrun) counters.commit_overrun = value->value;
      if (value->number == kDroppedEvents) counters.dropped_events = value->value;
    }
    (phase == kStartOfTrace ? cpus_[cpu].start : cpus_[cpu].end) = counters;
  }
}

std::vector<FtraceCpuLosses> FtraceLosses::Result() const {
  std::vector<FtraceCpuLosses> result;
  for (const auto& [number, cpu] : cpus_) {
    FtraceCpuLosses losses = cpu.losses;
    losses.cpu = number;
    if (cpu.end) {
      // The kernel's counters go on from session to session.
      const Counters start = cpu.start.value_or(Counters{});
      losses.overrun = Since(cpu.end->overrun, start.overrun);
      losses.commit_overrun = Since(cpu.end->commit_overrun, start.commit_overrun);
      losses.dropped_events = Since(cpu.end->dropped_events, start.dropped_events);
    }
    if (losses.any()) result.push_back(losses);
  }
  return result;
}

}  // namespace ringscope
