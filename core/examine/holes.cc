#include "core/examine/examination.h"
#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

/// "overwritten by RenderThread", "discarded: the buffer was already full".
std::string CauseOf(const Gap& gap, const SessionNotes& notes) {
  if (gap.causes.empty()) return "the cause is unknown";
  const CauseCount& main = gap.causes.front();
  if (main.cause != Cause::kEvicted || main.own_fault || gap.evicted_by.empty())
    return CauseText(main);
  const SequenceKey evictor = gap.evicted_by.front().sequence;
  const bool has_others = gap.evicted_by.size() > 1 || gap.evicted_by_others > 0;
  std::string name = evictor == gap.sequence ? "itself" : notes.WriterOf(evictor);
  if (name.empty()) name = notes.NameOf(evictor);
  return fmt::format("overwritten by {}{}", name, has_others ? " and others" : "");
}

std::string UnusableText(uint64_t packets) {
  return fmt::format("unusable: {} whose names were lost", Count(packets, "packet"));
}

/// The holes of one sequence of a log.
/// @param index of the sequence in the account
std::vector<Hole> HolesOf(const Examination& examination, size_t index, const SequenceGaps& gaps,
                          const ReplayedPackets::Sequence& packets) {
  const SessionNotes& notes = examination.log->notes;
  std::vector<Hole> holes;
  /// From the packet before the first place to that at the second one, or after it.
  const auto add = [&](const GapPlace& first, const GapPlace& after) -> Hole& {
    const int64_t first_ns = packets.TimeBefore(first);
    return holes.emplace_back(
        Hole{.sequence = index,
             .where = notes.NameOf(gaps.buffer),
             .span = {first_ns, std::max(first_ns, packets.TimeFrom(after))}});
  };
  const auto add_unusable = [&](const UnusablePackets& unusable) {
    if (unusable.from_ns && unusable.to_ns)
      holes.push_back({.stage = Stage::kLeft,
                       .sequence = index,
                       .span = {SignedNs(*unusable.from_ns), SignedNs(*unusable.to_ns)},
                       .is_unusable = true,
                       .packets = unusable.count.packets,
                       .what = UnusableText(unusable.count.packets)});
  };
  for (const Gap& gap : gaps.gaps) {
    Hole& hole = add(gap.first, gap.last);
    if (!gap.causes.empty())
      hole.stage = StageOf(gap.causes.front().fate, gap.causes.front().cause);
    if (gap.lost.packets > 0) hole.packets = gap.lost.packets;
    hole.bytes = gap.lost.bytes;
    hole.places = std::max<uint64_t>(gap.places, 1);
    hole.what = fmt::format("lost: {}, {}",
                            hole.packets ? Count(*hole.packets, "packet") : "an unknown number",
                            CauseOf(gap, notes));
    hole.loss_bits = gap.next ? gap.next->loss_bits : gap.lost_bits;
    hole.remedy = RemedyOf(gap, examination.remedies);
    hole.gap = &gap;
    if (gap.next) add_unusable(gap.next->unusable);
  }
  for (const FalseFlag& flag : gaps.false_flags) add_unusable(flag.packet.unusable);
  for (const MissingChunks& missing : gaps.missing) {
    Hole& hole = add({missing.first, 0, 0}, {missing.last, UINT32_MAX, UINT32_MAX});
    hole.stage = missing.reported ? Stage::kUnknown : Stage::kSharedMemory;
    hole.what = missing.reported ? "unknown: the log is not complete here"
                                 : "lost: chunks that were never committed";
    hole.loss_bits = missing.loss_bits;
    hole.missing = &missing;
  }
  for (const ReplayedPackets::Flagged& flagged : packets.flagged) {
    // After a gap with an aborted packet, the flag is of that.
    const int64_t at_ns = packets.TimeFrom(flagged.place);
    if (std::ranges::any_of(holes, [&](const Hole& hole) {
          return !hole.is_unusable && hole.span.last_ns == at_ns;
        }))
      continue;
    Hole& hole = add(flagged.place, flagged.place);
    hole.stage = Stage::kSharedMemory;
    hole.what = (flagged.loss_bits & kLossSmbFull) != 0 ? "lost: shared memory full"
                                                        : "lost: packets that the producer dropped";
    hole.loss_bits = flagged.loss_bits;
    hole.remedy = "a larger shm_size_kb of the producer";
  }
  std::ranges::stable_sort(holes, {}, [](const Hole& hole) { return hole.span.first_ns; });
  return holes;
}

/// "overwrite", by the flag of the packet after a hole.
std::string FlagText(uint32_t loss_bits) {
  const std::string cause = LossBitsText(loss_bits);
  return cause == "present" ? "lost: packets, the trace does not show why" : "lost: " + cause;
}

/// The stage that the flag of the packet after a hole names.
Stage StageOfFlag(uint32_t loss_bits) {
  if ((loss_bits & (kLossSmbFull | kLossWriterAbort)) != 0) return Stage::kSharedMemory;
  return (loss_bits & kLossOverwrite) != 0 ? Stage::kBuffer : Stage::kUnknown;
}

/// Adds the holes of one sequence of a trace.
/// @param index of the sequence in the account
void AddHoles(const Examination& examination, const TimeSpan& session,
              const TraceSequence& sequence, size_t index, std::vector<Hole>& holes) {
  const auto add = [&](TimeSpan span, uint32_t loss_bits, uint64_t places, const char* when) {
    holes.push_back({.stage = StageOfFlag(loss_bits),
                     .sequence = index,
                     .where = examination.account.sequences[index].buffer,
                     .span = span,
                     .places = places,
                     .what = FlagText(loss_bits) + when,
                     .loss_bits = loss_bits});
  };
  const std::optional<TimeSpan>& seen =
      sequence.all.span ? sequence.all.span : sequence.skipped_span;
  if (sequence.lost_beginning() && seen)
    add({session.first_ns, seen->first_ns}, sequence.first_loss_bits, 1,
        " (before its first packet)");
  for (const TraceHole& hole : sequence.holes) add(hole.span, hole.loss_bits, hole.places, "");
  // Without their state, the times of most packets are not known.
  const uint64_t all = sequence.losses.sequence_packet_loss + (sequence.lost_beginning() ? 1 : 0);
  if (!seen && all > 0)
    add(session, sequence.first_loss_bits | kLossPresent, all, ", at an unknown time");
  if (sequence.skipped > 0)
    holes.push_back({.stage = Stage::kLeft,
                     .sequence = index,
                     .span = sequence.skipped_span.value_or(session),
                     .is_unusable = true,
                     .packets = sequence.skipped,
                     .what = UnusableText(sequence.skipped) +
                             (sequence.skipped_span ? "" : ", written at an unknown time")});
}

}  // namespace

std::vector<Hole> HolesOfLog(const Examination& examination) {
  std::vector<Hole> holes;
  size_t index = 0;  // of the account's sequence: in the same order
  for (const BufferGaps& buffer : examination.log->gaps.buffers)
    for (const SequenceGaps& sequence : buffer.sequences) {
      if (const auto* const packets = examination.log->packets.Find(sequence.sequence))
        for (Hole& hole : HolesOf(examination, index, sequence, *packets))
          holes.push_back(std::move(hole));
      ++index;
    }
  return holes;
}

std::vector<Hole> HolesOfTrace(const Examination& examination) {
  const TraceFacts& facts = *examination.trace;
  const TraceConfigFacts& config = examination.subject.facts;
  if (!examination.subject.time) return {};
  const TimeSpan session = facts.lifetime.value_or(*examination.subject.time);
  std::vector<Hole> holes;
  size_t index = 0;
  for (const TraceSequence& sequence : facts.sequences)
    if (sequence.is_of_producer() && index < examination.account.sequences.size())
      AddHoles(examination, session, sequence, index++, holes);
  // What a ring that is read once overwrote is older than all that is left.
  for (const auto& [buffer, reach] : examination.reach) {
    const BufferStats& stats = facts.buffers[buffer].stats;
    holes.push_back(
        {.stage = Stage::kBuffer,
         .buffer = buffer,
         .where = BufferName(config, buffer),
         .span = {session.first_ns, session.last_ns - static_cast<int64_t>(reach.ns)},
         .bytes = stats.overwritten_bytes(),
         .what = fmt::format("overwritten: {}{} of {}{}",
                             stats.lacks_overwritten_bytes() ? "about " : "",
                             HumanSize(stats.overwritten_bytes()), HumanSize(stats.bytes_written),
                             reach.is_estimate ? "; until when is an estimate" : "")});
  }
  // A discarding buffer takes nothing more when it is full.
  for (uint32_t i = 0; i < std::min(facts.buffers.size(), config.buffers.size()); ++i)
    if (const TraceBuffer& of = facts.buffers[i];
        of.stats.chunks_discarded > 0 && config.buffers[i].policy == FillPolicy::kDiscard &&
        of.span && of.span->last_ns <= session.last_ns)
      holes.push_back({.stage = Stage::kBuffer,
                       .buffer = i,
                       .where = BufferName(config, i),
                       .span = {of.span->last_ns, session.last_ns},
                       .what = fmt::format("discarded: {}, the buffer was full",
                                           Count(of.stats.chunks_discarded, "chunk"))});
  for (const SourceAccount& source : examination.sources)
    if (source.amount.packets == 0 && source.state != SourceState::kUnknown)
      holes.push_back({.stage = Stage::kUnknown,
                       .where = Printable(source.name),
                       .span = session,
                       .what = fmt::format("nothing of {}: {}", Printable(source.name),
                                           RowOf(source.state).text)});
  for (const auto& [number, cpu] : facts.ftrace.cpus())
    for (const TimeSpan& span : cpu.holes)
      holes.push_back({.stage = Stage::kKernel,
                       .where = fmt::format("CPU {}", number),
                       .span = span,
                       .what = "lost: ftrace events, overwritten by the kernel"});
  if (facts.late_events > 0)  // at their place a mark of it would be dropped, too
    holes.push_back({.stage = Stage::kImport,
                     .span = {facts.sorter_left_ns, facts.sorter_left_ns},
                     .packets = facts.late_events,
                     .what = fmt::format("dropped by the import: {}, older than what it sorted "
                                         "before",
                                         Count(facts.late_events, "event"))});
  const int64_t end_ns = facts.all.span.value_or(session).last_ns;
  for (const Finding& finding : examination.findings) {
    const bool is_cut = finding.rule->id == "trace.cut_off";
    if (!is_cut && finding.rule->id != "trace.file_full") continue;
    // Up to the session's end, where it is known.
    holes.push_back({.stage = Stage::kFile,
                     .span = {end_ns, std::max(end_ns, session.last_ns)},
                     .what = fmt::format("the file is {}: what follows is missing",
                                         is_cut ? "cut off" : "full")});
  }
  // Producers may have written before the session's start: the UI begins there.
  for (Hole& hole : holes) {
    hole.span.first_ns = std::max(hole.span.first_ns, session.first_ns);
    hole.span.last_ns = std::max(hole.span.first_ns, hole.span.last_ns);
  }
  return holes;
}

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
        {0, stats.overwritten_bytes()},
        0,
        stats.chunks_discarded,
        facts.buffers[i].has_stats && facts.HasFinalStats() &&
            stats.chunks_overwritten + stats.chunks_discarded + stats.patches_failed == 0 &&
            stats.unread_bytes() == 0,
        stats.lacks_overwritten_bytes()};
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
      facts.HasFinalStats() && all[kCommit].places == 0 && all[kCommit].chunks == 0;
  all[kKernel] = KernelLosses(facts.ftrace);
  all[kImport].count.packets = facts.late_events;
  return accounts;
}

void ReplayedPackets::OnPacketFate(const PacketAccount& account) {
  const GapPlace place = GapPlace::Of(account);
  const auto time_ns = SignedNs(times_->Of(account));
  Sequence::Run& all = sequences_[account.sequence].all;
  if (all.count == 0 || place < all.first) all.first = place, all.first_ns = time_ns;
  all.last_ns = all.count++ == 0 ? time_ns : std::max(all.last_ns, time_ns);
}

void ReplayedPackets::OnReturned(const PacketAccount& account, const SessionPacket& packet) {
  const GapPlace place = GapPlace::Of(account);
  const auto time_ns = SignedNs(times_->Of(account));
  Sequence& sequence = sequences_[packet.packet->sequence];
  sequence.id = {packet.machine, packet.sequence_id};
  sequence.digest.Add(Joined(packet.packet->slices, joined_));
  const bool is_flagged = account.facts.dropped != 0 && sequence.flagged.size() < kMaxFlagged;
  if (is_flagged) sequence.flagged.push_back({place, account.facts.dropped});
  if (!sequence.runs.empty() && !is_flagged) {
    Sequence::Run& run = sequence.runs.back();
    if (run.first.chunk == place.chunk && run.first.fragment + run.count == place.fragment) {
      ++run.count;
      run.last_ns = time_ns;
      return;
    }
  }
  sequence.runs.push_back({place, 1, time_ns, time_ns});
}

void ReplayedPackets::OnDrained() {
  for (size_t i = 0; i < sequences_.size(); ++i)
    std::ranges::stable_sort(sequences_.At(i).value.runs, {}, &Sequence::Run::first);
}

int64_t ReplayedPackets::Sequence::TimeBefore(GapPlace place) const {
  const auto after = std::ranges::lower_bound(runs, place, {}, &Run::first);
  return after == runs.begin() ? all.first_ns : after[-1].last_ns;
}

int64_t ReplayedPackets::Sequence::TimeFrom(GapPlace place) const {
  const auto after = std::ranges::lower_bound(runs, place, {}, &Run::first);
  return after == runs.end() ? all.last_ns : after->first_ns;
}

}  // namespace ringscope
