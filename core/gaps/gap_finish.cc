// What a report adds to gaps: culprits, signs, remedies.

#include <algorithm>
#include <utility>

#include "core/gaps/gap_finder.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/page.h"

namespace ringscope::gaps {
namespace {

/// Kinds of content that are kept one by one.
constexpr size_t kMaxContents = 32;
constexpr size_t kMaxKinds = 32;

template <typename T>
void SortBySize(std::vector<T>& counts) {
  std::stable_sort(counts.begin(), counts.end(),
                   [](const T& a, const T& b) { return a.count.packets > b.count.packets; });
}

/// Whether the buffer forgot the sequence before one of these chunks.
bool ForgottenIn(const std::vector<uint64_t>& forgotten_at, uint64_t first, uint64_t last) {
  return std::any_of(forgotten_at.begin(), forgotten_at.end(),
                     [&](uint64_t chunk) { return first <= chunk && chunk <= last; });
}

bool Has(const Gap& gap, Cause cause) {
  return std::any_of(gap.causes.begin(), gap.causes.end(),
                     [&](const CauseCount& count) { return count.cause == cause; });
}

}  // namespace

void AddCount(std::vector<CauseCount>& list, const CauseCount& more) {
  for (CauseCount& entry : list) {
    if (entry.fate != more.fate || entry.cause != more.cause || entry.own_fault != more.own_fault ||
        entry.loss_bits != more.loss_bits)
      continue;
    entry.count += more.count;
    return;
  }
  list.push_back(more);
}

void AddCount(std::vector<ContentCount>& list, const ContentCount& more) {
  for (ContentCount& entry : list) {
    if (entry.content != more.content) continue;
    entry.count += more.count;
    return;
  }
  if (list.size() < kMaxContents)
    list.push_back(more);
  else
    list.back().count += more.count;
}

void AddCount(std::vector<KindCount>& list, const KindCount& more) {
  for (KindCount& entry : list) {
    if (entry.kind != more.kind || entry.content != more.content) continue;
    entry.count += more.count;
    return;
  }
  if (list.size() < kMaxKinds) list.push_back(more);
}

/// The two gaps are really one.
void GapFinder::Merge(OpenGap& open, const OpenGap& other) {
  Gap& gap = open.gap;
  const Gap& more = other.gap;
  gap.last = more.last;
  gap.last_chunk = std::max(gap.last_chunk, more.last_chunk);
  gap.lost += more.lost;
  gap.own_fault += more.own_fault;
  for (const CauseCount& cause : more.causes) AddCount(gap.causes, cause);
  for (const ContentCount& content : more.contents) AddCount(gap.contents, content);
  for (const KindCount& kind : more.kinds) AddCount(gap.kinds, kind);
  for (const LogMoment& moment : {more.written.first, more.written.last}) gap.written.Add(moment);
  for (const LogMoment& moment : {more.decided.first, more.decided.last}) gap.decided.Add(moment);
  for (const EvictorCount& evictor : more.evicted_by) gap.AddEvicted(evictor);
  gap.evicted_by_others += more.evicted_by_others;
  gap.state_packets += more.state_packets;
  gap.lost_bits |= more.lost_bits;
  if (!gap.abort) gap.abort = more.abort;
  for (const GapBlame& blame : more.blamed) {
    const auto same = std::find_if(gap.blamed.begin(), gap.blamed.end(), [&](const GapBlame& one) {
      return one.cause == blame.cause && one.chunk == blame.chunk && one.at == blame.at;
    });
    if (same != gap.blamed.end())
      same->count += blame.count;
    else if (gap.blamed.size() < Gap::kMaxBlamed)
      gap.blamed.push_back(blame);
  }
  // What the windows have in common counts once.
  const uint64_t length = other.window_end - other.window_first;
  const uint64_t from = std::clamp(open.window_end, other.window_first, other.window_end);
  if (open.window_first == open.window_end) {
    open.window_first = other.window_first;
    open.pushed.Add(other.pushed);
  } else if (length > 0) {
    open.pushed.AddPart(other.pushed, other.window_end - from, length);
  }
  open.window_end = std::max(open.window_end, other.window_end);
  open.needed = std::max(open.needed, other.needed);
  open.counts_needed |= other.counts_needed;
  open.filled |= other.filled;
  open.read_in_vain |= other.read_in_vain;
  if (other.residence_ns)
    open.residence_ns = std::min(open.residence_ns.value_or(UINT64_MAX), *other.residence_ns);
}

std::vector<SequenceGaps> GapFinder::Finish() {
  OnReadDone();  // as if all were read now
  std::vector<SequenceGaps> finished;
  finished.reserve(sequences_.size());
  for (size_t i = 0; i < sequences_.size(); ++i)
    finished.push_back(FinishSequence(sequences_.At(i).key, sequences_.At(i).value));
  std::sort(finished.begin(), finished.end(),
            [](const SequenceGaps& a, const SequenceGaps& b) { return a.sequence < b.sequence; });
  return finished;
}

SequenceGaps GapFinder::FinishSequence(SequenceKey key, Sequence& sequence) {
  SequenceGaps result = std::move(sequence.report);
  result.buffer = id_;
  result.sequence = key;
  for (const GapTrack::Run& run : sequence.track.runs()) {
    if (run.kind != GapTrack::Kind::kLost || run.detail == GapTrack::kNoDetail) continue;
    OpenGap& open = gaps_[run.detail];
    if (open.counted < open.window_end)
      open.pushed.Add(history_.BlocksBetween(open.counted, open.window_end));
  }
  sequence.track.Join([&](uint32_t detail, uint32_t other) { Merge(gaps_[detail], gaps_[other]); });
  std::ranges::sort(sequence.by_producer);
  const std::vector<GapTrack::Run>& runs = sequence.track.runs();
  const GapTrack::Run* before = nullptr;
  for (size_t i = 0; i < runs.size(); before = &runs[i++]) {
    const GapTrack::Run& run = runs[i];
    if (run.detail == GapTrack::kNoDetail) continue;
    if (run.kind == GapTrack::Kind::kRead) {
      if (before == nullptr || before->kind != GapTrack::Kind::kLost)
        result.false_flags.push_back(Explain(key, sequence, flags_[run.detail], before));
      continue;
    }
    OpenGap& open = gaps_[run.detail];
    FinishGap(open);
    const bool is_read = i + 1 < runs.size() && runs[i + 1].kind == GapTrack::Kind::kRead;
    const bool reported =
        is_read && std::ranges::binary_search(sequence.by_producer, runs[i + 1].first);
    if (reported && open.gap.abort) ++result.flags_after_abort;
    if (is_read && runs[i + 1].detail != GapTrack::kNoDetail) {
      open.gap.next = flags_[runs[i + 1].detail].packet;
      const bool is_first = open.gap.next->first_of_sequence;
      open.gap.sign = !is_first                       ? GapSign::kFlagged
                      : info_.flags_first_of_sequence ? GapSign::kV1First
                                                      : GapSign::kFlaggedFirst;
    } else if (reported) {
      open.gap.sign = GapSign::kFlaggedByWriter;
    } else if (is_read) {
      open.gap.sign = open.gap.lost_bits != 0 ? GapSign::kFlagInvalid : GapSign::kNotFlagged;
      open.gap.forgotten =
          ForgottenIn(sequence.forgotten_at, open.gap.first.chunk + 1, runs[i + 1].first.chunk);
    }
    result.gaps.push_back(std::move(open.gap));
  }
  FindMissing(sequence, result);
  return result;
}

/// Which chunk ids no record commits, and whether the trace shows it.
void GapFinder::FindMissing(const Sequence& sequence, SequenceGaps& result) const {
  constexpr size_t kMaxMissing = 4096;
  result.first_chunk = sequence.first_chunk.value_or(0);
  const std::vector<GapTrack::Run>& runs = sequence.track.runs();
  sequence.committed.VisitHoles([&](uint64_t first, uint64_t last) {
    MissingChunks missing{.first = first, .last = last};
    result.missing_chunks += missing.count();
    if (result.missing.size() == kMaxMissing) {
      ++result.unlisted_missing;
      return;
    }
    const auto jump = std::find_if(sequence.jumps.begin(), sequence.jumps.end(),
                                   [&](const Jump& one) { return one.next > last; });
    if (jump != sequence.jumps.end()) {
      missing.before = jump->before;
      missing.after = jump->at;
      missing.reported = reported_.Between(jump->before, jump->at, result.sequence);
    }
    const auto next = std::find_if(runs.begin(), runs.end(), [&](const GapTrack::Run& run) {
      return run.kind == GapTrack::Kind::kRead && run.first.chunk > last;
    });
    if (next != runs.end()) {
      missing.sign = info_.flags_first_of_sequence ? GapSign::kV1First : GapSign::kNotFlagged;
      missing.forgotten = ForgottenIn(sequence.forgotten_at, last + 1, next->first.chunk);
      if (next->detail != GapTrack::kNoDetail) {
        const FlaggedPacket& packet = flags_[next->detail].packet;
        missing.loss_bits = packet.loss_bits;
        if (!info_.flags_first_of_sequence)
          missing.sign = packet.first_of_sequence ? GapSign::kFlaggedFirst : GapSign::kFlagged;
      }
    }
    result.missing.push_back(missing);
  });
}

void GapFinder::FinishGap(OpenGap& open) {
  if (open.filled) open.pushed.Add(written_by_);
  open.pushed.Sort();
  open.gap.culprits = open.pushed.shares();
  open.gap.other_bytes = open.pushed.other_bytes();
  std::ranges::stable_sort(open.gap.evicted_by, std::ranges::greater(), &EvictorCount::packets);
  SortBySize(open.gap.causes);
  std::stable_partition(open.gap.causes.begin(), open.gap.causes.end(),
                        [](const CauseCount& cause) { return cause.own_fault; });
  SortBySize(open.gap.contents);
  SortBySize(open.gap.kinds);
  std::stable_sort(open.gap.blamed.begin(), open.gap.blamed.end(),
                   [](const GapBlame& a, const GapBlame& b) {
                     return std::pair(a.at.record, a.cause) < std::pair(b.at.record, b.cause);
                   });
  Remedy(open);
}

void GapFinder::Remedy(OpenGap& open) const {
  Gap& gap = open.gap;
  GapRemedies& remedies = gap.remedies;
  if (open.counts_needed) {
    // Where a ring wraps it may leave nearly as much as its largest chunk unused.
    const uint64_t size = open.needed + (Has(gap, Cause::kEvicted) ? history_.largest() : 0);
    remedies.buffer_size = PagesUp(size);
    remedies.held_size = open.needed;
  }
  if (open.residence_ns && !open.read_in_vain) remedies.read_period_ns = open.residence_ns;
  if (!gap.culprits.empty()) {
    const SequenceShare& largest = gap.culprits.front();
    if (largest.sequence != gap.sequence && largest.bytes * 3 >= gap.pushed_bytes())
      remedies.separate = largest;
  }
  remedies.no_size_helps = Has(gap, Cause::kNeverPatched) || Has(gap, Cause::kBehindStall);
  if (remedies.no_size_helps) {
    remedies.buffer_size.reset();
    remedies.read_period_ns.reset();
    remedies.separate.reset();
  }
  // Of chunks that were committed after their successors a flush changes nothing.
  const bool scraped_before =
      std::any_of(gap.blamed.begin(), gap.blamed.end(), [&](const GapBlame& blame) {
        return blame.cause == Cause::kAlreadyConsumed && blame.chunk &&
               blame.chunk->chunk == IdOf(gap.first.chunk);
      });
  remedies.flush = Has(gap, Cause::kNeverCommitted) || scraped_before;
  remedies.larger_smb = Has(gap, Cause::kAborted);
}

/// Why a packet is flagged that nothing is missing before.
/// @param before what precedes it in its sequence; nullptr: nothing
FalseFlag GapFinder::Explain(SequenceKey key, const Sequence& sequence, const OpenFlag& flag,
                             const GapTrack::Run* before) const {
  FalseFlag result{.packet = flag.packet};
  if (info_.flags_first_of_sequence) {
    result.rule = flag.packet.first_of_sequence ? FlagRule::kV1First : FlagRule::kV1Again;
    return result;
  }
  if (flag.readmitted && info_.flags_readmitted) {
    result.rule = FlagRule::kReadmitted;
    return result;
  }
  if (sequence.folded.ContainsAny(before == nullptr ? 0 : before->last_chunk,
                                  flag.packet.place.chunk)) {
    result.rule = FlagRule::kFolded;
    return result;
  }
  if (before != nullptr && before->last_chunk + 1 < flag.packet.place.chunk) {
    const uint64_t first = before->last_chunk + 1, last = flag.packet.place.chunk - 1;
    result.missing_chunks = last - first + 1;
    result.rule =
        sequence.committed.ContainsAll(first, last) ? FlagRule::kNoPackets : FlagRule::kNotInLog;
    const auto jump = std::find_if(sequence.jumps.begin(), sequence.jumps.end(),
                                   [&](const Jump& one) { return one.next > last; });
    if (result.rule == FlagRule::kNotInLog && jump != sequence.jumps.end() &&
        reported_.Between(jump->before, jump->at, key))
      result.rule = FlagRule::kRecorderGap;
    return result;
  }
  if (flag.recommitted)
    result.rule = FlagRule::kCameAgain;
  else if ((flag.packet.loss_bits & kLossWriterAbort) != 0)
    result.rule = FlagRule::kAbortAhead;
  else if ((flag.packet.loss_bits & kLossReassemblyGap) != 0)
    result.rule = FlagRule::kRememberedGap;
  return result;
}

}  // namespace ringscope::gaps
