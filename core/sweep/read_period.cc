#include "core/sweep/read_period.h"

#include <algorithm>
#include <vector>

#include "core/sweep/sweep_run.h"

namespace ringscope {
namespace {

uint64_t WholeMs(uint64_t ns) {
  constexpr uint64_t kMillisecond = 1'000'000;
  return ns / kMillisecond * kMillisecond;
}

uint64_t FullPackets(const std::vector<SweepRow>& rows) {
  uint64_t packets = 0;
  for (const SweepRow& row : rows) packets += row.full_packets();
  return packets;
}

}  // namespace

TriedOutcome TriedPeriod::sum() const {
  TriedOutcome sum;
  for (const auto& [id, outcome] : outcomes) sum += outcome;
  return sum;
}

std::optional<uint64_t> LongestReadPeriod(const GapReport& report) {
  std::optional<uint64_t> longest;
  for (const BufferGaps& buffer : report.buffers) {
    for (const SequenceGaps& sequence : buffer.sequences) {
      for (const Gap& gap : sequence.gaps) {
        const std::optional<uint64_t> period = gap.remedies.read_period_ns;
        if (!period && gap.remedies.buffer_size) return std::nullopt;
        if (period) longest = std::min(longest.value_or(UINT64_MAX), *period);
      }
    }
  }
  // A read at the end of the period is too late for what is evicted right then.
  if (longest) *longest = WholeMs(*longest - std::min<uint64_t>(*longest, 1));
  return longest < kShortestReadPeriodNs ? std::nullopt : longest;
}

GapNeeds NeedsOf(const GapReport& report) {
  return {.sizes = NeededSizes(report), .read_period_ns = LongestReadPeriod(report)};
}

Result<TriedPeriod> TryReadPeriods(const SweepInput& input, const ReplayOptions& config,
                                   uint64_t longest_ns) {
  // A period that loses is too long: what was read shortly before its end is evicted then, too.
  constexpr size_t kTries = 8;
  std::vector<ReplayOptions> configs;
  for (uint64_t period_ns = longest_ns;
       configs.size() < kTries && period_ns >= kShortestReadPeriodNs;
       period_ns = WholeMs(period_ns / 16 * 15))
    configs.emplace_back(config).reads = {ReadsMode::kStreamed, period_ns, {}};
  RS_ASSIGN_OR_RETURN(const SweepResult result, RunSweep(input, configs));
  const auto best = std::ranges::min_element(result.rows, {}, FullPackets);
  const ReplayOptions& chosen = configs[static_cast<size_t>(best - result.rows.begin())];
  TriedPeriod tried;
  tried.period_ns = chosen.reads.every_ns;
  RS_ASSIGN_OR_RETURN(tried.outcomes, ReplayForOutcomes(input, chosen));
  return tried;
}

}  // namespace ringscope
