#include "core/gaps/ftrace_losses.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr uint64_t kStartOfTrace = 1;

uint64_t Since(uint64_t end, uint64_t start) { return end > start ? end - start : 0; }

}  // namespace

void FtraceLosses::AddPacket(Bytes packet, uint32_t content) {
  if (content != proto::TracePacket::kFtraceEvents && content != proto::TracePacket::kFtraceStats)
    return;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (field->number == proto::TracePacket::kFtraceEvents) AddBundle(field->bytes);
    if (field->number == proto::TracePacket::kFtraceStats) AddStats(field->bytes);
  }
}

void FtraceLosses::AddBundle(Bytes bundle) {
  uint32_t cpu = 0;
  bool lost = false;
  wire::FieldReader fields(bundle);
  while (const auto field = fields.Next()) {
    if (field->number == proto::FtraceEventBundle::kCpu) cpu = static_cast<uint32_t>(field->value);
    if (field->number == proto::FtraceEventBundle::kLostEvents) lost = field->value != 0;
  }
  FtraceCpuLosses& losses = cpus_[cpu].losses;
  ++losses.bundles;
  if (lost) ++losses.bundles_after_loss;
}

void FtraceLosses::AddStats(Bytes stats) {
  uint64_t phase = 0;
  wire::FieldReader fields(stats);
  while (const auto field = fields.Next())
    if (field->number == proto::FtraceStats::kPhase) phase = field->value;
  wire::FieldReader again(stats);
  while (const auto field = again.Next()) {
    if (field->number != proto::FtraceStats::kCpuStats) continue;
    uint32_t cpu = 0;
    Counters counters;
    wire::FieldReader values(field->bytes);
    while (const auto value = values.Next()) {
      if (value->number == proto::FtraceCpuStats::kCpu) cpu = static_cast<uint32_t>(value->value);
      if (value->number == proto::FtraceCpuStats::kOverrun) counters.overrun = value->value;
      if (value->number == proto::FtraceCpuStats::kCommitOverrun)
        counters.commit_overrun = value->value;
      if (value->number == proto::FtraceCpuStats::kDroppedEvents)
        counters.dropped_events = value->value;
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
      // The kernel's counters continue from session to session.
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
