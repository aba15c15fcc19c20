#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/examine/examination.h"
#include "core/examine/loss_words.h"
#include "core/examine/remedies.h"
#include "core/examine/replayed_packets.h"
#include "core/findings/finding.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"

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
class SequenceHoles {
 public:
  SequenceHoles(const Examination& examination, size_t index, const SequenceGaps& gaps,
                const ReplayedPackets::Sequence& packets)
      : examination_(examination), index_(index), gaps_(gaps), packets_(packets) {}

  std::vector<Hole> Find() {
    for (const Gap& gap : gaps_.gaps) {
      Hole& hole = Add(gap.first, gap.last);
      hole.stage = gap.causes.empty() ? Stage::kUnknown
                                      : StageOf(gap.causes.front().fate, gap.causes.front().cause);
      if (gap.lost.packets > 0) hole.packets = gap.lost.packets;
      hole.bytes = gap.lost.bytes;
      hole.places = std::max<uint64_t>(gap.places, 1);
      hole.what = fmt::format("lost: {}, {}",
                              hole.packets ? Count(*hole.packets, "packet") : "an unknown number",
                              CauseOf(gap, examination_.log->notes));
      hole.loss_bits = gap.next ? gap.next->loss_bits : gap.lost_bits;
      hole.remedy = RemedyOf(gap, examination_.remedies);
      hole.gap = &gap;
      if (gap.next) AddUnusable(gap.next->unusable);
    }
    for (const FalseFlag& flag : gaps_.false_flags) AddUnusable(flag.packet.unusable);
    for (const MissingChunks& missing : gaps_.missing) {
      Hole& hole = Add({missing.first, 0, 0}, {missing.last, UINT32_MAX, UINT32_MAX});
      hole.stage = missing.reported ? Stage::kUnknown : Stage::kSharedMemory;
      hole.what = missing.reported ? "unknown: the log is not complete here"
                                   : "lost: chunks that were never committed";
      hole.loss_bits = missing.loss_bits;
      hole.missing = &missing;
    }
    for (const ReplayedPackets::Flagged& flagged : packets_.flagged) {
      // After a gap with an aborted packet, the flag is of that.
      const int64_t at_ns = packets_.TimeFrom(flagged.place);
      if (std::ranges::any_of(holes_, [&](const Hole& hole) {
            return !hole.is_unusable && hole.span.last_ns == at_ns;
          }))
        continue;
      Hole& hole = Add(flagged.place, flagged.place);
      hole.stage = Stage::kSharedMemory;
      hole.what = (flagged.loss_bits & kLossSmbFull) != 0
                      ? "lost: shared memory full"
                      : "lost: packets that the producer dropped";
      hole.loss_bits = flagged.loss_bits;
      hole.remedy = "a larger shm_size_kb of the producer";
    }
    std::ranges::stable_sort(holes_, {}, [](const Hole& hole) { return hole.span.first_ns; });
    return std::move(holes_);
  }

 private:
  /// Adds a hole from the packet before the first place to that at the second one, or after it.
  Hole& Add(const GapPlace& first, const GapPlace& after) {
    Hole& hole = holes_.emplace_back();
    hole.sequence = index_;
    hole.where = examination_.log->notes.NameOf(gaps_.buffer);
    hole.span.first_ns = packets_.TimeBefore(first);
    hole.span.last_ns = std::max(hole.span.first_ns, packets_.TimeFrom(after));
    return hole;
  }

  void AddUnusable(const UnusablePackets& unusable) {
    if (!unusable.from_ns || !unusable.to_ns) return;
    holes_.push_back({.stage = Stage::kLeft,
                      .sequence = index_,
                      .span = {SignedNs(*unusable.from_ns), SignedNs(*unusable.to_ns)},
                      .is_unusable = true,
                      .packets = unusable.count.packets,
                      .what = UnusableText(unusable.count.packets)});
  }

  const Examination& examination_;
  const size_t index_;
  const SequenceGaps& gaps_;
  const ReplayedPackets::Sequence& packets_;
  std::vector<Hole> holes_;
};

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

/// The holes of a trace.
class TraceHoles {
 public:
  explicit TraceHoles(const Examination& examination)
      : examination_(examination), facts_(*examination.trace) {}

  std::vector<Hole> Find() {
    if (!examination_.subject.time) return {};
    session_ = facts_.lifetime.value_or(*examination_.subject.time);
    size_t index = 0;
    for (const TraceSequence& sequence : facts_.sequences) {
      if (!sequence.is_of_producer()) continue;
      if (index == examination_.account.sequences.size()) break;
      AddSequence(sequence, index++);
    }
    for (const auto& [buffer, reach] : examination_.reach) AddBuffer(buffer, reach);
    for (uint32_t i = 0; i < facts_.buffers.size(); ++i) AddFull(i);
    for (const SourceAccount& source : examination_.sources) AddSource(source);
    for (const auto& [number, cpu] : facts_.ftrace.cpus())
      for (const TimeSpan& span : cpu.holes)
        holes_.push_back({.stage = Stage::kKernel,
                          .where = fmt::format("CPU {}", number),
                          .span = span,
                          .what = "lost: ftrace events, overwritten by the kernel"});
    if (facts_.late_events > 0)  // at their place a mark of it would be dropped, too
      holes_.push_back(
          {.stage = Stage::kImport,
           .span = {facts_.sorter_left_ns, facts_.sorter_left_ns},
           .packets = facts_.late_events,
           .what = fmt::format("dropped by the import: {}, older than what it sorted before",
                               Count(facts_.late_events, "event"))});
    const int64_t end_ns = facts_.all.span.value_or(session_).last_ns;
    for (const Finding& finding : examination_.findings) {
      const std::string_view id = finding.rule->id;
      if (id != "trace.cut_off" && id != "trace.file_full") continue;
      // Up to the session's end, where it is known.
      holes_.push_back({.stage = Stage::kFile,
                        .span = {end_ns, std::max(end_ns, session_.last_ns)},
                        .what = fmt::format("the file is {}: what follows is missing",
                                            id == "trace.cut_off" ? "cut off" : "full")});
    }
    // Producers may have written before the session's start: the UI begins there.
    for (Hole& hole : holes_) {
      hole.span.first_ns = std::max(hole.span.first_ns, session_.first_ns);
      hole.span.last_ns = std::max(hole.span.first_ns, hole.span.last_ns);
    }
    return std::move(holes_);
  }

 private:
  void AddSequence(const TraceSequence& sequence, size_t index) {
    const auto add = [&](TimeSpan span, uint32_t loss_bits, uint64_t places, const char* when) {
      holes_.push_back({.stage = StageOfFlag(loss_bits),
                        .sequence = index,
                        .where = examination_.account.sequences[index].buffer,
                        .span = span,
                        .places = places,
                        .what = FlagText(loss_bits) + when,
                        .loss_bits = loss_bits});
    };
    const std::optional<TimeSpan>& seen =
        sequence.all.span ? sequence.all.span : sequence.skipped_span;
    if (sequence.lost_beginning() && seen)
      add({session_.first_ns, seen->first_ns}, sequence.first_loss_bits, 1,
          " (before its first packet)");
    for (const TraceHole& hole : sequence.holes) add(hole.span, hole.loss_bits, hole.places, "");
    // Without their state, the times of most packets are not known.
    const uint64_t all = sequence.losses.sequence_packet_loss + (sequence.lost_beginning() ? 1 : 0);
    if (!seen && all > 0)
      add(session_, sequence.first_loss_bits | kLossPresent, all, ", at an unknown time");
    if (sequence.skipped > 0)
      holes_.push_back({.stage = Stage::kLeft,
                        .sequence = index,
                        .span = sequence.skipped_span.value_or(session_),
                        .is_unusable = true,
                        .packets = sequence.skipped,
                        .what = UnusableText(sequence.skipped) +
                                (sequence.skipped_span ? "" : ", written at an unknown time")});
  }

  /// A ring that is read once: what it overwrote is older than all that is left.
  void AddBuffer(uint32_t index, const Reach& reach) {
    const BufferStats& stats = facts_.buffers[index].stats;
    const auto reach_ns = static_cast<int64_t>(reach.ns);
    holes_.push_back(
        {.stage = Stage::kBuffer,
         .buffer = index,
         .where = BufferName(examination_.subject.facts, index),
         .span = {session_.first_ns, session_.last_ns - reach_ns},
         .bytes = stats.overwritten_bytes(),
         .what = fmt::format("overwritten: {}{} of {}{}",
                             stats.lacks_overwritten_bytes() ? "about " : "",
                             HumanSize(stats.overwritten_bytes()), HumanSize(stats.bytes_written),
                             reach.is_estimate ? "; until when is an estimate" : "")});
  }

  /// A discarding buffer takes nothing more when it is full.
  void AddFull(uint32_t index) {
    const TraceBuffer& buffer = facts_.buffers[index];
    const auto& configs = examination_.subject.facts.buffers;
    if (buffer.stats.chunks_discarded == 0 || !buffer.span || index >= configs.size() ||
        configs[index].policy != FillPolicy::kDiscard || buffer.span->last_ns > session_.last_ns)
      return;
    holes_.push_back({.stage = Stage::kBuffer,
                      .buffer = index,
                      .where = BufferName(examination_.subject.facts, index),
                      .span = {buffer.span->last_ns, session_.last_ns},
                      .what = fmt::format("discarded: {}, the buffer was full",
                                          Count(buffer.stats.chunks_discarded, "chunk"))});
  }

  /// A data source of which nothing is in the trace.
  void AddSource(const SourceAccount& source) {
    if (source.amount.packets > 0 || source.state == SourceState::kUnknown) return;
    holes_.push_back({.stage = Stage::kUnknown,
                      .where = Printable(source.name),
                      .span = session_,
                      .what = fmt::format("nothing of {}: {}", Printable(source.name),
                                          RowOf(source.state).text)});
  }

  const Examination& examination_;
  const TraceFacts& facts_;
  TimeSpan session_;
  std::vector<Hole> holes_;
};

}  // namespace

std::vector<Hole> HolesOfLog(const Examination& examination) {
  std::vector<Hole> holes;
  size_t index = 0;  // of the account's sequence: in the same order
  for (const BufferGaps& buffer : examination.log->gaps.buffers)
    for (const SequenceGaps& sequence : buffer.sequences) {
      if (const auto* const packets = examination.log->packets.Find(sequence.sequence))
        for (Hole& hole : SequenceHoles(examination, index, sequence, *packets).Find())
          holes.push_back(std::move(hole));
      ++index;
    }
  return holes;
}

std::vector<Hole> HolesOfTrace(const Examination& examination) {
  return TraceHoles(examination).Find();
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
