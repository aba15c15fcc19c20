#include "core/gaps/gap_report.h"

#include "core/session/replay_outcome.h"

namespace ringscope {

std::optional<Reach> ReachOf(const GapReport& report, const BufferGaps& buffer,
                             const TimeSpan& session) {
  bool is_ring = false;
  for (const SequenceGaps& sequence : buffer.sequences) {
    if (sequence.by_fate[Fate::kOverwritten].packets == 0) continue;
    const Gap* gap = nullptr;
    for (const Gap& one : sequence.gaps)
      if (!one.causes.empty() && one.causes.front().fate == Fate::kOverwritten) {
        if (gap != nullptr || one.causes.front().cause != Cause::kEvicted) return std::nullopt;
        gap = &one;
      }
    if (gap == nullptr || gap->first.chunk > sequence.first_chunk || gap->first.fragment > 0)
      return std::nullopt;
    is_ring = true;
  }
  const int64_t since_ns = SignedNs(buffer.newest_overwritten_ns);
  if (!is_ring || since_ns <= 0 || since_ns > session.last_ns) return std::nullopt;
  return Reach{static_cast<uint64_t>(session.last_ns - since_ns), false,
               IdleEndOf(SignedNs(report.newest_ns), report.events, session)};
}

std::vector<SourceLosses> LossesBySource(const std::vector<const SequenceGaps*>& sequences,
                                         const SessionNotes& notes) {
  std::map<std::string, SourceLosses> sums;
  for (const SequenceGaps* sequence : sequences) {
    const std::string source = notes.SourceOf(sequence->sequence, sequence->buffer);
    if (source.empty()) continue;
    SourceLosses& sum = sums[source];
    sum.source = source;
    sum.written += sequence->written();
    sum.lost += sequence->lost();
  }
  std::vector<SourceLosses> list;
  for (auto& [source, sum] : sums) list.push_back(std::move(sum));
  std::ranges::stable_sort(list, std::ranges::greater(),
                           [](const SourceLosses& sum) { return sum.lost.packets; });
  return list;
}

std::vector<FtraceCpuLosses> FtraceLossesOf(const FtraceCounters& counters) {
  std::vector<FtraceCpuLosses> result;
  for (const auto& [number, cpu] : counters.cpus()) {
    const FtraceCpuLosses losses{{cpu}, static_cast<uint32_t>(number)};
    if (losses.lost_in_session() || losses.rose(FtraceCounter::kOverrun)) result.push_back(losses);
  }
  return result;
}

std::vector<LossCount> LossCountsOf(const ReplayOutcome& outcome, const GapReport& report) {
  BufferGaps buffers;  // the sums
  for (const BufferGaps& buffer : report.buffers) {
    buffers.patches_failed += buffer.patches_failed;
    buffers.abi_violations += buffer.abi_violations;
    buffers.writer_losses += buffer.writer_losses;
  }
  uint64_t places = 0, dropped = 0;
  for (const BufferOutcome& buffer : outcome.buffers) {
    places += buffer.losses.sequence_packet_loss;
    dropped += buffer.losses.incremental_sequences_dropped;
  }
  std::vector<LossCount> counts = {{"patches_failed", buffers.patches_failed},
                                   {"abi_violations", buffers.abi_violations},
                                   {"trace_writer_packet_loss", buffers.writer_losses},
                                   {"sequence_packet_loss", places},
                                   {"incremental_sequences_dropped", dropped},
                                   {"flushes_failed", outcome.service.flushes_failed}};
  std::erase_if(counts, [](const LossCount& each) { return each.count == 0; });
  return counts;
}

GapSelection::GapSelection(const GapReport& all, uint64_t start_ns, const LogSelection& filter)
    : report(all), is_filtered(filter.selects()), by_time(filter.selects_times()) {
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences) {
      if (!filter.Keeps(buffer.id, sequence.sequence)) continue;
      if (sequence.written().packets > 0) sequences.push_back(&sequence);
      unlisted += sequence.unlisted_gaps;
      unlisted_flags += sequence.unlisted_flags;
      for (const FalseFlag& flag : sequence.false_flags) {
        FlagCount& same = false_flags[flag.rule];
        if (same.packets++ == 0) same.first = {sequence.sequence, IdOf(flag.packet.place.chunk)};
      }
      for (const Gap& gap : sequence.gaps) {
        if (!filter.KeepsTime(gap.written.first.time_ns, gap.written.last.time_ns, start_ns))
          continue;
        any_loss = true;
        (gap.own_fault.packets > 0 ? own_fault : gaps).push_back(&gap);
      }
      if (by_time) continue;
      any_loss |= sequence.lost().packets > 0 || sequence.losses_by_flag() > 0;
      for (const MissingChunks& chunks : sequence.missing) missing.emplace_back(&sequence, &chunks);
      unlisted_missing += sequence.unlisted_missing;
      any_sign |= sequence.unlisted_flags > 0 || sequence.missing_chunks > 0 || sequence.stall ||
                  std::ranges::any_of(sequence.false_flags, [](const FalseFlag& flag) {
                    return flag.rule != FlagRule::kV1First && flag.rule != FlagRule::kFolded;
                  });
    }
  for (const StaleSequence& sequence : report.stale)
    if (filter.Keeps(sequence.buffer, sequence.sequence)) stale.push_back(sequence);
  if (by_time) return;  // such a filter selects nothing else
  // The buffer of a reported loss is not known.
  for (const ReportedLoss& loss : report.reported)
    if (!is_filtered ||
        (loss.sequence() && filter.buffers.empty() && filter.Keeps(BufferId{}, *loss.sequence())))
      reported.push_back(loss);
  if (!is_filtered) unlisted_reports = report.unlisted_reports;
  any_sign |= !reported.empty() || unlisted_reports > 0;
}

}  // namespace ringscope
