#include "core/trace/ftrace_counters.h"

#include <bit>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr uint64_t kPhaseStart = 1;
constexpr uint64_t kPhaseEnd = 2;
constexpr double kNsPerSecond = 1e9;
constexpr double kMaxSeconds = 9e9;  // what fits into 63 bits of ns

struct CounterField {
  uint32_t number;
  FtraceCounter counter;
  bool is_seconds = false;  // a double, in seconds
};
constexpr std::array<CounterField, kFtraceCounters> kCounterFields = {{
    {2, FtraceCounter::kEntries},
    {proto::FtraceCpuStats::kOverrun, FtraceCounter::kOverrun},
    {proto::FtraceCpuStats::kCommitOverrun, FtraceCounter::kCommitOverrun},
    {5, FtraceCounter::kBytes},
    {6, FtraceCounter::kOldestEventTs, true},
    {7, FtraceCounter::kNowTs, true},
    {proto::FtraceCpuStats::kDroppedEvents, FtraceCounter::kDroppedEvents},
    {9, FtraceCounter::kReadEvents},
}};

uint64_t NsOf(uint64_t double_bits) {
  const auto seconds = std::bit_cast<double>(double_bits);
  if (!(seconds > 0)) return 0;
  return static_cast<uint64_t>((seconds < kMaxSeconds ? seconds : kMaxSeconds) * kNsPerSecond);
}

void Set(FtracePhases& phases, bool at_start, uint64_t value) {
  (at_start ? phases.begin : phases.end) = value;
}

}  // namespace

bool FtraceCounters::Wants(uint32_t content) {
  return content == proto::TracePacket::kFtraceEvents ||
         content == proto::TracePacket::kFtraceStats;
}

void FtraceCounters::AddPacket(Bytes packet) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (field->type != wire::Type::kBytes) continue;
    if (field->number == proto::TracePacket::kFtraceEvents) AddBundle(field->bytes);
    if (field->number == proto::TracePacket::kFtraceStats) AddStats(field->bytes);
  }
}

auto FtraceCounters::At(uint64_t cpu) -> Cpu* { return cpu < kMaxCpus ? &cpus_[cpu] : nullptr; }

void FtraceCounters::AddBundle(Bytes bundle) {
  uint64_t number = 0;
  bool lost = false;
  wire::FieldReader fields(bundle);
  while (const auto field = fields.Next()) {
    if (field->number == proto::FtraceEventBundle::kCpu) number = field->value;
    if (field->number == proto::FtraceEventBundle::kLostEvents) lost = field->value != 0;
  }
  Cpu* const cpu = At(number);
  if (cpu == nullptr) return;
  ++cpu->bundles;
  if (lost) ++cpu->bundles_after_loss;
}

void FtraceCounters::AddStats(Bytes stats) {
  constexpr uint32_t kKprobeStats = 10, kHits = 1, kMisses = 2;
  uint64_t phase = 0;
  wire::FieldReader fields(stats);
  while (const auto field = fields.Next())
    if (field->number == proto::FtraceStats::kPhase) phase = field->value;
  if (phase != kPhaseStart && phase != kPhaseEnd) return;
  const bool at_start = phase == kPhaseStart;
  wire::FieldReader again(stats);
  while (const auto field = again.Next()) {
    if (field->type != wire::Type::kBytes) continue;
    if (field->number == proto::FtraceStats::kCpuStats) AddCpuStats(field->bytes, at_start);
    if (field->number != kKprobeStats) continue;
    wire::FieldReader values(field->bytes);
    while (const auto value = values.Next()) {
      if (value->number == kHits) Set(kprobe_hits_, at_start, value->value);
      if (value->number == kMisses) Set(kprobe_misses_, at_start, value->value);
    }
  }
}

void FtraceCounters::AddCpuStats(Bytes stats, bool at_start) {
  uint64_t number = 0;
  std::array<std::optional<uint64_t>, kFtraceCounters> found;
  wire::FieldReader values(stats);
  while (const auto value = values.Next()) {
    if (value->number == proto::FtraceCpuStats::kCpu) number = value->value;
    for (const CounterField& field : kCounterFields) {
      if (field.number != value->number) continue;
      found[static_cast<size_t>(field.counter)] =
          field.is_seconds ? NsOf(value->value) : value->value;
    }
  }
  Cpu* const cpu = At(number);
  if (cpu == nullptr) return;
  for (size_t i = 0; i < kFtraceCounters; ++i)
    if (found[i]) Set(cpu->counters[i], at_start, *found[i]);
}

}  // namespace ringscope
