#include "core/gaps/gap_finder.h"

namespace ringscope::gaps {
namespace {

ChunkName NameOf(SequenceKey sequence, uint64_t chunk) { return {sequence, IdOf(chunk)}; }

/// Adds a packet to what waits when the log ends.
void AddStalled(SequenceGaps& sequence, const PacketAccount& account) {
  OpenStall& stall = sequence.stall ? *sequence.stall : sequence.stall.emplace();
  stall.count += {1, account.size};
  if (stall.at || !account.waits_for) return;
  stall.cause = account.cause;
  stall.at = account.waits_for;
  stall.since = account.decided;
}

/// Returns true if the sequence waited for a patch.
bool IsStalled(Cause cause) {
  return cause == Cause::kAwaitedPatch || cause == Cause::kBehindStall;
}

bool IsFull(Cause cause) { return cause == Cause::kSealed || cause == Cause::kFull; }

constexpr size_t kMaxKinds = 32;  // of a gap's content, or packets, that are kept one by one

/// Adds to the entry with the same key(), or as a new entry if there are less than `most`.
/// @return the entry, or nullptr
template <typename T>
T* AddCount(std::vector<T>& list, const T& more, size_t most = SIZE_MAX) {
  for (T& entry : list) {
    if (entry.key() != more.key()) continue;
    entry.count += more.count;
    return &entry;
  }
  return list.size() < most ? &list.emplace_back(more) : nullptr;
}

/// Packets of kinds that are too many count as of the last one.
void AddContent(std::vector<ContentCount>& list, const ContentCount& more) {
  if (AddCount(list, more, kMaxKinds) == nullptr) list.back().count += more.count;
}

/// Adds an entry to a list, unless that is full. @return its number, or kNoDetail
template <typename T>
uint32_t AddListed(std::vector<T>& list, T entry, size_t& unused, uint64_t& unlisted) {
  if (unused == 0) {
    ++unlisted;
    return GapTrack::kNoDetail;
  }
  --unused;
  list.push_back(std::move(entry));
  return static_cast<uint32_t>(list.size() - 1);
}

template <typename T>
void SortBySize(std::vector<T>& counts) {
  std::ranges::stable_sort(counts, std::ranges::greater(),
                           [](const T& each) { return each.count.packets; });
}

/// Returns true if the buffer forgot the sequence before one of these chunks.
bool ForgottenIn(const std::vector<uint64_t>& forgotten_at, uint64_t first, uint64_t last) {
  return std::ranges::any_of(forgotten_at,
                             [&](uint64_t chunk) { return first <= chunk && chunk <= last; });
}

/// Returns true if packets of the sequence waited for a patch that could not be applied.
bool LacksPatch(const SequenceGaps& sequence) {
  return sequence.unlisted_gaps > 0 ||
         (sequence.stall && sequence.stall->cause == Cause::kWaitsForPatch) ||
         std::ranges::any_of(sequence.gaps, [](const Gap& gap) {
           return gap.Has(Cause::kAwaitedPatch) || gap.Has(Cause::kBehindStall);
         });
}

void Extend(GapTrack::Run& run, const PacketAccount& account) {
  run.first = std::min(run.first, GapPlace::Of(account));
  run.last = std::max(run.last, GapPlace::Of(account));
  run.last_chunk = std::max(run.last_chunk, account.last_chunk);
}

/// Returns true for a packet whose fate was decided with its commit. It is reported at once: the
/// fates of packets before it may still be open. A read or an eviction decides after these.
bool IsDecidedWhenWritten(const PacketAccount& account) {
  return account.decided.record == account.written.record && account.fate != Fate::kOverwritten;
}

/// Returns true if no packet whose fate is reported later can come between the run's last packet
/// and this lost one.
bool IsNextTo(const GapTrack::Run& run, const PacketAccount& account) {
  if (!IsDecidedWhenWritten(account)) return true;
  // A buffer that discards a chunk discards all of it.
  if (account.fate == Fate::kDiscarded) return account.first_chunk <= run.last_chunk + 1;
  return account.first_chunk == run.last.chunk && account.fragment <= run.last.fragment + 1;
}

}  // namespace

void GapFinder::OnEvent(const BufferEvent& event) {
  Sequence* const sequence = sequences_.Find(event.chunk.sequence);
  if (sequence != nullptr) sequence->stalls.OnEvent(event);
  if (const auto* missed = event.As<BufferEvent::PatchMissed>()) {
    ++(sequence == nullptr ? unneeded_patches_ : sequence->missed_patches);
    if (missed->reason != PatchMiss::kNoSuchChunk || missed->sent.more || sequence == nullptr)
      return;
    Stall* const stall = sequence->stalls.FindLossy(event.chunk);
    if (stall == nullptr || stall->patched) return;
    const BufferHistory::Entry* const entry = history_.Find(event.chunk);
    stall->patched = event.at;
    stall->held_size = entry == nullptr ? 0 : history_.bytes() - entry->start;
  } else if (sequence == nullptr) {
    return;  // of no chunk that was committed
  } else if (const auto* committed = event.As<BufferEvent::Committed>()) {
    const ObservedChunk& state = committed->state;
    history_.AddCommit(*event.at.record, event.chunk, state.outer_size);
    sequence->written_bytes += state.outer_size;
    written_bytes_ += state.outer_size;
    ++sequence->held;
    if (sequence->recommits) {
      sequence->taken_again = event.chunk.chunk;
      sequence->readmitted = state.consumed() > 0;
    }
  } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
    history_.AddErase();
    if (erased->why == Erasure::kOverwritten && erased->state.needs_patch() && under_way_)
      if (Stall* const stall = sequence->stalls.FindLossy(event.chunk); stall && !stall->newer_size)
        history_.AddNewerData({under_way_->sequence, info_.SpaceOf(*under_way_, written_)}, *stall);
    if (sequence->held > 0 && --sequence->held == 0) {
      sequence->emptied = ++emptied_;
      sequence->emptied_by_loss = erased->why != Erasure::kConsumed;
    }
  } else if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
    if (discarded->reason <= DiscardReason::kTooLarge)  // sealed, full, too large
      history_.AddDiscard(*event.at.record, event.chunk, info_.SpaceOf(*under_way_, written_));
  }
}

void GapFinder::OnChunk(const ChunkCommit& commit, const std::optional<AbortFacts>& abort) {
  constexpr size_t kMaxJumps = 4096;
  under_way_ = &commit;
  if (buffer_ != nullptr) violations_before_ = buffer_->engine->stats().abi_violations;
  Sequence& sequence = sequences_[commit.sequence];
  if (sequence.dropping_since_ns && now_.time_ns)
    sequence.report.dropped_ns =
        std::max(sequence.report.dropped_ns,
                 *now_.time_ns - std::min(*now_.time_ns, *sequence.dropping_since_ns));
  sequence.dropping_since_ns.reset();
  if (abort) {
    sequence.abort = abort;
    // A packet larger than the memory does not find space whenever it is written.
    if (abort->reason != AbortReason::kLargePacket) sequence.dropping_since_ns = now_.time_ns;
  }
  const uint64_t id = sequence.ids.Of(commit.chunk);
  const bool is_first = sequence.committed.runs() == 0;
  const bool jumps = !is_first && id > sequence.ids.newest() + 1;
  if (jumps && sequence.jumps.size() < kMaxJumps)
    sequence.jumps.push_back({.next = id, .before = sequence.newest_at, .at = now_});
  if (is_first || id > sequence.ids.newest()) sequence.newest_at = now_;
  uint64_t& first_chunk = sequence.report.first_chunk;
  first_chunk = is_first ? id : std::min(first_chunk, id);
  if ((jumps || sequence.emptied_by_loss) && sequence.forgotten_at.size() < kMaxJumps &&
      IsForgotten(sequence))
    sequence.forgotten_at.push_back(id);
  sequence.ids.AddNumber(id);
  sequence.recommits = sequence.committed.Contains(id);
  sequence.committed.Insert(id);
  if (!commit.complete) sequence.scraped.Insert(id);
}

/// Returns true if the buffer forgot the sequence: so many others had no chunk left since.
bool GapFinder::IsForgotten(const Sequence& sequence) const {
  if (info_.flags_first_of_sequence || sequence.held > 0 || sequence.emptied == 0) return false;
  if (emptied_ - sequence.emptied < kForgets) return false;
  size_t later = 0;
  for (size_t i = sequences_.size(); i-- > 0 && later < kForgets;) {
    const Sequence& other = sequences_.At(i).value;
    later += other.held == 0 && other.emptied > sequence.emptied ? 1 : 0;
  }
  return later == kForgets;
}

void GapFinder::OnReadDone() {
  if (std::exchange(limited_, false)) return;
  history_.AddRead(now_.record.value_or(0));
  for (const uint32_t index : waiting_) {
    OpenGap& open = gaps_[index];
    open.Need(history_.bytes() - *open.waiting_start);
    open.waiting_start.reset();
  }
  waiting_.clear();
}

void GapFinder::OnPacketFate(const PacketAccount& account, uint32_t kind) {
  Sequence& sequence = sequences_[account.sequence];
  const FateCount count{1, account.size};
  sequence.report.by_fate[account.fate] += count;
  StageCount& stage = sequence.report.stages[StageOf(account.fate, account.cause)];
  if (account.fate == Fate::kWriterDropped)
    ++stage.places;  // each stands for an unknown number of packets
  else
    stage.count += count;
  sequence.report.stages.waiting += account.fate == Fate::kStalled ? 1 : 0;
  if (account.own_fault) sequence.report.own_fault += count;
  if (account.cause == Cause::kScraped) {
    sequence.report.scraped += count;
    if (IdOf(sequence.ids.newest()) != IdOf(account.last_chunk))
      sequence.report.scraped_before += count;
  }
  sequence.stalls.OnPacketFate(account);
  if (account.fate == Fate::kRead) {
    uint32_t flag = GapTrack::kNoDetail;
    if (account.loss_bits != 0)
      flag = sequence.flagged = AddListed(flags_, FlagOf(sequence, account), unused_.flags,
                                          sequence.report.unlisted_flags);
    sequence.track.AddKept(account, GapTrack::Kind::kRead, flag);
    sequence.any_read = true;
  } else if (account.fate == Fate::kFolded) {
    // Neither read nor missing: a gap may have such packets in it.
    sequence.folded.Insert(account.first_chunk);
  } else if (!IsLoss(account.fate)) {
    sequence.track.AddKept(account, GapTrack::Kind::kPending, GapTrack::kNoDetail);
    if (account.fate == Fate::kStalled) AddStalled(sequence.report, account);
  } else {
    uint32_t& gap = sequence.track.AddLost(account).detail;
    if (gap == GapTrack::kNoDetail)
      gap = AddListed(gaps_, {}, unused_.gaps, sequence.report.unlisted_gaps);
    if (gap == GapTrack::kNoDetail) return;
    Fill(gap, account, kind);
    if (account.cause == Cause::kAborted && !gaps_[gap].gap.abort)
      gaps_[gap].gap.abort = sequence.abort;
  }
}

/// Returns a flagged packet, and why it is flagged unless what precedes it in the log says more.
FalseFlag GapFinder::FlagOf(const Sequence& sequence, const PacketAccount& account) const {
  const bool recommitted = sequence.taken_again == IdOf(account.first_chunk);
  FalseFlag flag;
  flag.packet = {.place = GapPlace::Of(account),
                 .loss_bits = account.loss_bits,
                 .pass = account.pass,
                 .read = account.decided,
                 .first_of_sequence = !sequence.any_read,
                 .unusable = {}};
  if (info_.flags_first_of_sequence)
    flag.rule = sequence.any_read ? FlagRule::kV1Again : FlagRule::kV1First;
  else if (recommitted)
    flag.rule = sequence.readmitted && info_.flags_readmitted ? FlagRule::kReadmitted
                                                              : FlagRule::kCameAgain;
  else if ((account.loss_bits & kLossWriterAbort) != 0)
    flag.rule = FlagRule::kAbortAhead;
  else if ((account.loss_bits & kLossReassemblyGap) != 0)
    flag.rule = FlagRule::kRememberedGap;
  return flag;
}

/// Counts a lost packet into its gap.
void GapFinder::Fill(uint32_t index, const PacketAccount& account, uint32_t kind) {
  OpenGap& open = gaps_[index];
  Gap& gap = open.gap;
  const FateCount count{1, account.size};
  const GapPlace place = GapPlace::Of(account);
  const bool is_first = gap.lost.packets + gap.places == 0;
  gap.buffer = id_;
  gap.sequence = account.sequence;
  gap.first = is_first ? place : std::min(gap.first, place);
  gap.last = std::max(gap.last, place);
  if (account.fate == Fate::kInvalid) gap.lost_bits |= account.loss_bits;
  gap.last_chunk = std::max(gap.last_chunk, account.last_chunk);
  if (account.fate == Fate::kWriterDropped) {
    ++gap.places;
  } else {
    gap.lost += count;
    AddContent(gap.contents, {account.facts.content, 0, count});
  }
  if (account.own_fault) gap.own_fault += count;
  AddCount(gap.causes, {account.fate, account.cause, account.own_fault,
                        account.fate == Fate::kCut ? account.loss_bits : 0, count});
  if (kind != 0) AddCount(gap.kinds, {account.facts.content, kind, count}, kMaxKinds);
  gap.written.Add(account.written);
  gap.decided.Add(account.decided);
  if (account.facts.has_interned_data || account.facts.clears_state) ++gap.state_packets;

  const ChunkName last = NameOf(account.sequence, account.last_chunk);
  if (account.blamed.record || account.waits_for)
    AddCount(gap.blamed,
             {account.cause, account.waits_for ? account.waits_for : account.culprit,
              account.blamed, count},
             Gap::kMaxBlamed);
  if (account.fate == Fate::kOverwritten) {
    FillEvicted(index, account);
  } else if (IsFull(account.cause) || account.cause == Cause::kTooLarge) {
    open.filled |= IsFull(account.cause);
    const BufferHistory::Entry* entry = history_.Find(last);
    open.Need(entry == nullptr ? history_.bytes() : entry->end());
  }
}

/// Counts whom the packet was overwritten for, and how long it would have had to stay.
void GapFinder::FillEvicted(uint32_t index, const PacketAccount& account) {
  OpenGap& open = gaps_[index];
  if (account.culprit) open.gap.AddEvicted({account.culprit->sequence, 1});
  const ChunkName name = NameOf(account.sequence, account.first_chunk);
  const bool in_vain = account.cause != Cause::kEvicted;  // it waited for a patch
  if (account.written.time_ns && account.decided.time_ns) {
    const uint64_t written = *account.written.time_ns, lost = *account.decided.time_ns;
    if (lost > written && !in_vain)
      open.residence_ns = std::min(open.residence_ns.value_or(UINT64_MAX), lost - written);
    else
      open.read_in_vain = true;
  }
  const BufferHistory::Entry* chunk = history_.Find(name);
  if (chunk == nullptr || in_vain) return;
  const uint64_t whole = std::max(account.decided.record, account.written.record).value_or(0);
  if (const std::optional<uint64_t> bytes = history_.BytesAtReadFrom(whole))
    return open.Need(*bytes - std::min(*bytes, chunk->start));
  if (!open.waiting_start) waiting_.push_back(index);
  open.waiting_start = std::min(open.waiting_start.value_or(UINT64_MAX), chunk->start);
}

/// Follows incremental state through the packets that were read, by trace processor's rules.
void GapFinder::OnPacket(const PacketAccount& account, const PacketFacts& facts) {
  Sequence& sequence = sequences_[account.sequence];
  if (facts.dropped != 0) {
    ++sequence.report.producer_flags;
    sequence.report.producer_bits |= facts.dropped;
    if (account.loss_bits != 0) ++sequence.report.hidden_flags;
    if (unused_.producer_flags > 0) {
      --unused_.producer_flags;
      sequence.by_producer.push_back(GapPlace::Of(account));
    }
  }
  const bool is_flagged = account.loss_bits != 0 || facts.dropped != 0;
  // What follows a producer's own flag is not caused by a gap.
  if (facts.dropped != 0 && account.loss_bits == 0) sequence.flagged = GapTrack::kNoDetail;
  UnusablePackets* since =
      sequence.flagged == GapTrack::kNoDetail ? nullptr : &flags_[sequence.flagged].packet.unusable;
  if (facts.clears_state && sequence.in_unusable && since != nullptr) since->reset = true;
  if (facts.clears_state || is_flagged) sequence.in_unusable = false;
  sequence.state.Add(facts.clears_state, is_flagged);
  if (!facts.needs_state || sequence.state.valid()) return;
  if (!sequence.in_unusable) ++sequence.report.unusable_spans;
  sequence.in_unusable = true;
  sequence.report.unusable.Add(account.size, account.written.time_ns);
  if (since != nullptr) since->Add(account.size, account.written.time_ns);
}

/// Adds a gap to the one before it: nothing between them was read.
void GapFinder::Merge(OpenGap& open, const OpenGap& other) {
  Gap& gap = open.gap;
  const Gap& more = other.gap;
  gap.last = more.last;
  gap.last_chunk = std::max(gap.last_chunk, more.last_chunk);
  gap.lost += more.lost;
  gap.places += more.places;
  gap.own_fault += more.own_fault;
  for (const CauseCount& cause : more.causes) AddCount(gap.causes, cause);
  for (const ContentCount& content : more.contents) AddContent(gap.contents, content);
  for (const ContentCount& kind : more.kinds) AddCount(gap.kinds, kind, kMaxKinds);
  for (const LogMoment& moment : {more.written.first, more.written.last}) gap.written.Add(moment);
  for (const LogMoment& moment : {more.decided.first, more.decided.last}) gap.decided.Add(moment);
  for (const EvictorCount& evictor : more.evicted_by) gap.AddEvicted(evictor);
  gap.evicted_by_others += more.evicted_by_others;
  gap.state_packets += more.state_packets;
  gap.lost_bits |= more.lost_bits;
  if (!gap.abort) gap.abort = more.abort;
  for (const GapBlame& blame : more.blamed) AddCount(gap.blamed, blame, Gap::kMaxBlamed);
  open.needed = std::max(open.needed, other.needed);
  open.filled |= other.filled;
  open.read_in_vain |= other.read_in_vain;
  if (other.residence_ns)
    open.residence_ns = std::min(open.residence_ns.value_or(UINT64_MAX), *other.residence_ns);
}

void GapFinder::Finish(BufferGaps& buffer) {
  OnReadDone();  // as if all were read now
  const auto first = static_cast<std::ptrdiff_t>(buffer.sequences.size());
  for (size_t i = 0; i < sequences_.size(); ++i)
    buffer.sequences.push_back(FinishSequence(sequences_.At(i).key, sequences_.At(i).value));
  std::ranges::sort(buffer.sequences.begin() + first, buffer.sequences.end(), {},
                    &SequenceGaps::sequence);
  const auto without = [](uint64_t all, uint64_t some) { return all - std::min(all, some); };
  buffer.patches_failed += without(counters_.patches_failed, unneeded_patches_);
  buffer.abi_violations += without(counters_.abi_violations, harmless_recommits_);
  buffer.writer_losses += counters_.trace_writer_packet_loss;
  for (size_t i = 0; i < filled_by_.size(); ++i)
    if (i < Gap::kMaxEvictors)
      buffer.filled_by.push_back(filled_by_[i]);
    else
      buffer.filled_by_others += filled_by_[i].bytes;
}

SequenceGaps GapFinder::FinishSequence(SequenceKey key, Sequence& sequence) {
  SequenceGaps result = std::move(sequence.report);
  result.buffer = id_;
  result.sequence = key;
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
    FinishGap(sequence, open);
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
  if (!LacksPatch(result)) unneeded_patches_ += sequence.missed_patches;
  if (result.stall && result.stall->at)
    result.stall->went_on = IdOf(sequence.ids.newest()) != result.stall->at->chunk;
  result.stages.unusable = result.unusable.count.packets;
  result.stages[Stage::kSharedMemory].places += result.losses_by_flag();
  return result;
}

/// Finds the chunk ids that no record commits, and how the trace shows it.
void GapFinder::FindMissing(const Sequence& sequence, SequenceGaps& result) const {
  constexpr size_t kMaxMissing = 4096;
  const std::vector<GapTrack::Run>& runs = sequence.track.runs();
  sequence.committed.VisitHoles([&](uint64_t first, uint64_t last) {
    MissingChunks missing{.first = first, .last = last};
    result.missing_chunks += missing.count();
    if (result.missing.size() == kMaxMissing) {
      ++result.unlisted_missing;
      ++result.stages[Stage::kUnknown].places;
      return;
    }
    if (const Jump* const jump = sequence.JumpOver(last)) {
      missing.before = jump->before;
      missing.after = jump->at;
      missing.reported = reported_.Between(jump->before, jump->at, result.sequence);
    }
    if (!missing.reported) ++result.stages[Stage::kUnknown].places;
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

void GapFinder::FinishGap(Sequence& sequence, OpenGap& open) {
  Gap& gap = open.gap;
  std::ranges::stable_sort(gap.evicted_by, std::ranges::greater(), &EvictorCount::packets);
  std::ranges::stable_sort(gap.causes, std::ranges::greater(), [](const CauseCount& cause) {
    return std::pair(cause.own_fault, cause.count.packets);
  });
  SortBySize(gap.contents);
  SortBySize(gap.kinds);
  std::ranges::stable_sort(gap.blamed, {}, [](const GapBlame& blame) {
    return std::pair(blame.at.record, blame.cause);
  });
  GapRemedies& remedies = gap.remedies;
  for (GapBlame& blame : gap.blamed) {
    if (!IsStalled(blame.cause)) continue;
    if (const Stall* stall = sequence.stalls.FindLossy(*blame.chunk)) blame.stall = *stall;
    remedies.no_size_helps |= !blame.stall || !blame.stall->patched;
    if (blame.stall && blame.stall->held_size > 0) open.Need(blame.stall->held_size);
  }
  if (open.needed) {
    // A ring that wraps may leave nearly as much as its largest chunk unused.
    remedies.buffer_size = PagesUp(*open.needed + (open.filled ? 0 : history_.largest()));
    remedies.held_size = *open.needed;
  }
  if (!open.read_in_vain) remedies.read_period_ns = open.residence_ns;
  remedies.separate = SequenceToSeparate(open);
  // A flush brings the rest of a chunk that its writer still had at the read. Where a commit is
  // missing, or an id was given out again, it brings nothing.
  remedies.flush = sequence.scraped.Contains(gap.first.chunk) &&
                   std::ranges::any_of(gap.blamed, [&](const GapBlame& blame) {
                     return blame.cause == Cause::kAlreadyConsumed && blame.chunk &&
                            blame.chunk->chunk == IdOf(gap.first.chunk);
                   });
}

/// Returns the sequence for which most packets were evicted, or which filled most of the buffer, if
/// that is another one and a third of all.
std::optional<SequenceKey> GapFinder::SequenceToSeparate(const OpenGap& open) {
  SequenceShare largest;
  uint64_t all = 0;
  if (!open.gap.evicted_by.empty()) {
    largest = {open.gap.evicted_by.front().sequence, open.gap.evicted_by.front().packets};
    all = open.gap.evicted();
  } else if (open.filled && written_bytes_ > 0) {
    if (filled_by_.empty()) {
      for (size_t i = 0; i < sequences_.size(); ++i)
        if (const auto& [key, writer] = sequences_.At(i); writer.written_bytes > 0)
          filled_by_.push_back({key, writer.written_bytes});
      std::ranges::sort(filled_by_, std::ranges::greater(), [](const SequenceShare& share) {
        return std::pair(share.bytes, ~share.sequence.Packed());
      });
    }
    largest = filled_by_.front();
    all = written_bytes_;
  }
  const bool helps = all > 0 && largest.sequence != open.gap.sequence && largest.bytes * 3 >= all;
  return helps ? std::optional(largest.sequence) : std::nullopt;
}

/// Explains why a packet is flagged though nothing before it is missing.
/// @param before what precedes it in its sequence, or nullptr
FalseFlag GapFinder::Explain(SequenceKey key, const Sequence& sequence, FalseFlag flag,
                             const GapTrack::Run* before) const {
  if (flag.rule <= FlagRule::kReadmitted) return flag;  // the engine's rule, whatever precedes it
  const uint64_t from = before == nullptr ? 0 : before->last_chunk, to = flag.packet.place.chunk;
  if (sequence.folded.ContainsAny(from, to)) {
    flag.rule = FlagRule::kFolded;
  } else if (before != nullptr && from + 1 < to) {
    const Jump* const jump = sequence.JumpOver(to - 1);
    flag.rule = sequence.committed.ContainsAll(from + 1, to - 1) ? FlagRule::kNoPackets
                : jump != nullptr && reported_.Between(jump->before, jump->at, key)
                    ? FlagRule::kRecorderGap
                    : FlagRule::kNotInLog;
  }
  return flag;
}

void GapTrack::AddKept(const PacketAccount& account, Kind kind, uint32_t detail) {
  const GapPlace place = GapPlace::Of(account);
  const Iterator after = FirstAfter(place);
  if (after != runs_.begin()) {
    Run& before = *std::prev(after);
    if (place <= before.last) return;  // within a run: nothing new about the order
    if (before.kind == kind && detail == kNoDetail && account.first_chunk <= before.last_chunk + 1)
      return Extend(before, account);
  }
  runs_.insert(after, {place, place, account.last_chunk, kind, detail});
}

GapTrack::Run& GapTrack::AddLost(const PacketAccount& account) {
  const GapPlace place = GapPlace::Of(account);
  Iterator after = FirstAfter(place);
  if (after != runs_.begin()) {
    Run& before = *std::prev(after);
    if (before.kind == Kind::kLost) {
      if (place <= before.last || IsNextTo(before, account)) {
        Extend(before, account);
        return before;
      }
    } else if (place <= before.last) {
      // Packets on both sides were read: their run falls into two.
      Run rest = before;
      rest.first = place;
      rest.first.offset = place.offset + 1;
      rest.detail = kNoDetail;
      before.last = place.offset > 0 ? GapPlace{place.chunk, place.fragment, place.offset - 1}
                                     : GapPlace{place.chunk - 1, UINT32_MAX, UINT32_MAX};
      before.last_chunk = account.first_chunk;
      after = runs_.insert(after, rest);
    }
  }
  // What begins before a run of lost packets that were reported first.
  if (after != runs_.end() && after->kind == Kind::kLost && !IsDecidedWhenWritten(account)) {
    Extend(*after, account);
    return *after;
  }
  return *runs_.insert(after, {place, place, account.last_chunk, Kind::kLost, kNoDetail});
}

void BufferHistory::Add(uint64_t record, ChunkName chunk, uint32_t outer) {
  numbers_.Add(chunk).first = first_number_ + entries_.size();
  entries_.push_back({record, bytes_, chunk, outer});
  bytes_ += outer;
  largest_ = std::max(largest_, outer);
  // A chunk that just left the ledger was written while at most as many others were held, and since
  // it left, kLateness more have.
  if (entries_.size() <= kLateness + 2 * most_held_ + 64) return;
  const ChunkName oldest = entries_.front().chunk;
  const uint64_t* newest = numbers_.Find(oldest);
  if (newest != nullptr && *newest == first_number_) numbers_.Erase(oldest);
  entries_.pop_front();
  ++first_number_;
  while (reads_.size() > 1 && reads_.front().record < entries_.front().record) reads_.pop_front();
}

void BufferHistory::AddNewerData(const SequenceShare& evictor, Stall& stall) {
  const uint64_t* number = numbers_.Find(stall.chunk);
  const size_t first = number == nullptr ? entries_.size() : *number - first_number_ + 1;
  if (number == nullptr || entries_.size() - first > visits_left_) return;
  visits_left_ -= entries_.size() - first;
  SequenceMap<uint64_t> bytes;
  bytes[evictor.sequence] = evictor.bytes;
  for (size_t i = first; i < entries_.size(); ++i)
    bytes[entries_[i].chunk.sequence] += entries_[i].outer;
  for (size_t i = 0; i < bytes.size(); ++i) {
    stall.newer_size += bytes.At(i).value;
    if (bytes.At(i).value <= stall.newer_by_size) continue;
    stall.newer_by = bytes.At(i).key, stall.newer_by_size = bytes.At(i).value;
  }
}

void SequenceStalls::OnEvent(const BufferEvent& event) {
  const bool is_open = open_ && open_->chunk == event.chunk;
  if (const auto* stalled = event.As<BufferEvent::Stalled>()) {
    if (open_ && !is_open) End(StallEnd::kCompleted, event.at);
    if (!open_) {
      open_ = Stall{.chunk = event.chunk, .reason = stalled->reason};
      last_pass_.reset();
    }
    if (last_pass_ == event.at.record) return;
    last_pass_ = event.at.record;
    ++open_->passes;
  } else if (const auto* patched = event.As<BufferEvent::Patched>()) {
    if (is_open && !patched->state.needs_patch()) End(StallEnd::kPatched, event.at);
  } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
    const bool is_read = erased->is_read();
    if (!open_ && !is_read && erased->state.needs_patch())
      open_ = Stall{.chunk = event.chunk, .reason = StallReason::kNeedsPatch};
    else if (!is_open)
      return;
    End(is_read                  ? StallEnd::kCompleted
        : erased->is_for_clone() ? StallEnd::kCloned
                                 : StallEnd::kOverwritten,
        event.at);
  } else if (const ObservedChunk* state = event.arrived()) {
    if (!open_ || open_->reason == StallReason::kNeedsPatch) return;
    if (open_->reason == StallReason::kMissingChunk
            ? event.chunk.chunk == Successor(open_->chunk.chunk)
            : is_open && !state->incomplete)
      End(StallEnd::kCompleted, event.at);
  }
}

void SequenceStalls::End(StallEnd end, const LogMoment& at) {
  open_->end = end;
  open_->ended = at;
  constexpr size_t kMaxLossy = 256;
  const bool is_lossy = end != StallEnd::kPatched && end != StallEnd::kCompleted;
  if (is_lossy && lossy_.size() < kMaxLossy) lossy_.insert(lossy_.begin(), *open_);
  open_.reset();
}

/// Counts the packet if it was written from a stalled chunk on, before the stall ended.
void SequenceStalls::OnPacketFate(const PacketAccount& account) {
  constexpr size_t kRecent = 4;  // that the fates of packets may still be reported for
  for (size_t i = 0; i < std::min(kRecent, lossy_.size()); ++i)
    if (!Precedes(IdOf(account.last_chunk), lossy_[i].chunk.chunk) &&
        account.written.record <= lossy_[i].ended.record) {
      ++lossy_[i].packets;
      return;
    }
}

}  // namespace ringscope::gaps
