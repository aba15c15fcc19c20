#include <algorithm>
#include <bit>
#include <string>

#include "core/base/text.h"
#include "core/examine/examination.h"
#include "core/findings/finding.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

StageAccounts AccountOf(const std::vector<const SequenceGaps*>& sequences,
                        const SessionNotes& notes, const ReplayOutcome& outcome, uint64_t reports) {
  StageAccounts accounts;
  for (const SequenceGaps* sequence : sequences)
    accounts.sequences.push_back(
        {{sequence->stages},
         {Printable(notes.ProducerOf(sequence->sequence)), notes.PidOf(sequence->sequence), 0},
         Printable(notes.ThreadOf(sequence->sequence)),
         notes.TraceIdOf(sequence->sequence),
         0,
         ToString(sequence->sequence),
         notes.NameOf(sequence->buffer),
         Printable(notes.SourceOf(sequence->sequence, sequence->buffer))});
  accounts.Sum();
  accounts.all[Stage::kKernel] = KernelLosses(outcome.ftrace);
  accounts.all[Stage::kUnknown].places += reports;
  // A session that is read once is sorted as a whole.
  accounts.all[Stage::kImport].is_known = outcome.read_passes <= 1;
  return accounts;
}

StageAccounts AccountOf(const TraceFacts& facts, const TraceConfigFacts& config) {
  using enum Stage;
  StageAccounts accounts;
  StageAccount& all = accounts.all;
  all[kSharedMemory].is_known = all[kFile].is_known = false;
  all[kCommit].chunks = facts.RiseOf(&ServiceStats::chunks_discarded).value_or(0);
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    const BufferStats& stats = facts.buffers[i].stats;
    all[kCommit].places += stats.abi_violations;
    accounts.buffers[BufferName(config, i)][kBuffer] = {
        {0, stats.bytes_overwritten},
        0,
        stats.chunks_discarded,
        facts.buffers[i].has_stats && stats.bytes_overwritten + stats.chunks_discarded == 0 &&
            stats.unread_bytes() == 0};
  }
  for (const TraceSequence& sequence : facts.sequences) {
    if (!sequence.is_of_producer()) continue;
    SequenceStages stages = TitleOf(facts, config, sequence);
    LossCounts losses = sequence.losses;
    if (sequence.lost_beginning()) losses.Add(sequence.first_loss_bits);
    const auto places = [&](LossBit bit) {
      return losses.by_bit[static_cast<size_t>(std::countr_zero<uint32_t>(bit)) - 1];
    };
    stages[kSharedMemory].places = places(kLossSmbFull) + places(kLossWriterAbort);
    stages[kBuffer].places = places(kLossOverwrite);
    const uint64_t known = stages[kSharedMemory].places + stages[kBuffer].places;
    stages[kUnknown].places =
        losses.sequence_packet_loss - std::min(losses.sequence_packet_loss, known);
    const auto buffer = accounts.buffers.find(stages.buffer);
    stages[kBuffer].is_known = buffer != accounts.buffers.end() && buffer->second[kBuffer].is_known;
    stages[kSharedMemory].is_known = stages[kFile].is_known = false;
    stages[kLeft].count = {sequence.all.packets, sequence.all.bytes};
    stages.unusable = sequence.skipped;
    // A trace can be made of sequences: not all are listed.
    if (accounts.sequences.size() == 10'000)
      all += stages;
    else
      accounts.sequences.push_back(std::move(stages));
  }
  accounts.Sum();
  all[kCommit].is_known =
      facts.stats_packets > 0 && all[kCommit].places == 0 && all[kCommit].chunks == 0;
  all[kKernel] = KernelLosses(facts.ftrace);
  all[kImport].count.packets = facts.late_events;
  return accounts;
}

}  // namespace ringscope
