// The gaps of one buffer: runs of lost packets of a sequence between packets that were read, each
// with its causes, how the trace shows it, and what would have kept the packets.
//
//     fates, in any order    track of a sequence    detail of a run    report
//     #3 read                [ #0 .. #3  read ]
//     #5 lost        ──►     [ #4 .. #5  lost ] ──► OpenGap       ──►  Gap
//     #4 lost                [ #6        read ] ──► FalseFlag     ──►  Gap::next, or FalseFlag
//     commits        ──►     ids committed, and jumps of ids      ──►  MissingChunks
//     buffer events  ──►     BufferHistory, SequenceStalls        ──►  GapRemedies, GapBlame
//
// It holds for each sequence a GapTrack, in which runs of packets are in the order of their chunks,
// whatever the order of their fates; the ids committed; its stalls; and the validity of its
// incremental state. A run of lost packets has an OpenGap, a flagged packet a FalseFlag. Both lists
// are of the whole buffer and limited (Unused): what is not listed is counted.
//
// Calls of a commit come in this order: OnChunk, the engine's OnEvent, OnPacketFate of what it
// decided. In a read: OnEvent, OnPacketFate and, if the packet is valid, OnPacket, for each packet;
// OnReadLimited if the pass stopped at a limit; OnReadDone. Fates of evicted packets come late,
// when their chunk cannot be re-committed any more; at the log's end come all that are left; then
// Finish, once.
//
// Between the calls:
// - Runs of a track do not overlap. Two runs of lost packets may be neighbours while a packet
//   between them is undecided; Finish joins them, and their gaps.
// - Each lost packet is in the gap of its run, unless the gap is unlisted. The report's counts by
//   fate and stage have every packet.
// - `needed` of a gap is a number of bytes that the buffer must hold for its packets, from the
//   chunk of the first one to the read that would have returned it. If no read has followed yet,
//   the gap is in waiting_, and the next OnReadDone sets it. A pass that stops at its limit counts
//   for nothing: it might not have returned the packet.
// - A flag refers to what precedes its packet only after Finish: a run of lost packets makes it the
//   sign of that gap, anything else makes it a FalseFlag, which Explain names.

#ifndef RINGSCOPE_CORE_GAPS_GAP_FINDER_H_
#define RINGSCOPE_CORE_GAPS_GAP_FINDER_H_

#include "core/base/interval_set.h"
#include "core/gaps/gap_report.h"
#include "core/session/session.h"

namespace ringscope::gaps {

/// The chunks that were written to one buffer lately, in order, and the bytes between two moments.
/// Includes what a buffer that discards would have been written, had it been larger.
/// Memory: O(chunks held by the buffer + kLateness).
class BufferHistory {
 public:
  /// How many chunks may leave the buffer before one that left is forgotten: as many as the ledger
  /// waits for.
  static constexpr size_t kLateness = 8192;

  struct Entry {
    uint64_t record = 0;
    uint64_t start = 0;  // bytes before it
    ChunkName chunk;
    uint32_t outer = 0;  // bytes that it occupies in the buffer

    uint64_t end() const { return start + outer; }
  };

  /// @param outer bytes that the chunk occupies in the buffer
  void AddCommit(uint64_t record, ChunkName chunk, uint32_t outer) {
    most_held_ = std::max(most_held_, ++held_);
    Add(record, chunk, outer);
  }
  /// Adds a chunk that a full buffer discards. A scraped chunk that is re-committed takes no space
  /// of its own.
  void AddDiscard(uint64_t record, ChunkName chunk, uint32_t outer) {
    const Entry* const before = Find(chunk);
    if (before == nullptr || before->outer < outer) Add(record, chunk, outer);
  }
  void AddErase() { held_ -= held_ > 0 ? 1 : 0; }
  void AddRead(uint64_t record) {
    // Of reads with nothing in between, the last record is the one that later questions ask for.
    if (!reads_.empty() && reads_.back().bytes == bytes_)
      reads_.back().record = record;
    else
      reads_.push_back({.record = record, .bytes = bytes_});
  }

  /// Bytes of all chunks so far, one after the other as in an endless buffer.
  uint64_t bytes() const { return bytes_; }
  /// Bytes of the largest chunk so far: a ring may leave nearly as much unused where it wraps.
  uint32_t largest() const { return largest_; }
  /// Returns the newest commit of a chunk, valid until the next Add; nullptr if it is forgotten.
  const Entry* Find(ChunkName chunk) const {
    const uint64_t* const number = numbers_.Find(chunk);
    return number == nullptr ? nullptr : &entries_[*number - first_number_];
  }
  /// Notes whose data is newer than the chunk of a stall, unless that takes too many visits.
  /// @param evictor the commit that needs the chunk's space, which is not in the history yet
  void AddNewerData(const SequenceShare& evictor, Stall& stall);
  /// Returns the bytes before the first read that began at this record or later, if one did.
  std::optional<uint64_t> BytesAtReadFrom(uint64_t record) const {
    const auto at = std::ranges::lower_bound(reads_, record, {}, &ReadEntry::record);
    return at == reads_.end() ? std::nullopt : std::optional(at->bytes);
  }

 private:
  struct ReadEntry {
    uint64_t record = 0;
    uint64_t bytes = 0;  // before it
  };

  void Add(uint64_t record, ChunkName chunk, uint32_t outer);

  std::deque<Entry> entries_;
  uint64_t first_number_ = 0;   // number of entries_.front(), counted from 0
  ChunkMap<uint64_t> numbers_;  // of their newest commits
  std::deque<ReadEntry> reads_;
  uint64_t bytes_ = 0;
  uint32_t largest_ = 0;
  size_t held_ = 0;
  size_t most_held_ = 0;
  size_t visits_left_ = 4'000'000;  // of entries, for AddNewerData
};

/// The order in which a sequence's packets were lost and read, as runs. Accounts come with their
/// fates, not in order; each is put where it belongs. Memory: O(runs).
class GapTrack {
 public:
  static constexpr uint32_t kNoDetail = UINT32_MAX;

  enum class Kind : uint8_t { kLost, kRead, kPending };

  /// Consecutive packets of one kind.
  struct Run {
    GapPlace first, last;     // of its packets
    uint64_t last_chunk = 0;  // where the last packet ends
    Kind kind = Kind::kLost;
    uint32_t detail = kNoDetail;  // what the caller knows of it
  };

  /// Puts in a packet that was not lost.
  /// @param detail kNoDetail: nothing special; else the packet starts a run of its own
  void AddKept(const PacketAccount& account, Kind kind, uint32_t detail);
  /// Puts in a lost packet. @return its run, to be used before the next call
  Run& AddLost(const PacketAccount& account);

  /// Once all packets are in: runs of lost packets with nothing between them become one.
  /// `merge(detail, other)`: the second run's detail goes into the first one's.
  template <typename Merge>
  void Join(Merge merge) {
    std::vector<Run> joined;
    for (const Run& run : runs_) {
      if (joined.empty() || joined.back().kind != Kind::kLost || run.kind != Kind::kLost) {
        joined.push_back(run);
        continue;
      }
      Run& before = joined.back();
      before.last = run.last;
      before.last_chunk = std::max(before.last_chunk, run.last_chunk);
      if (before.detail == kNoDetail)
        before.detail = run.detail;
      else if (run.detail != kNoDetail)
        merge(before.detail, run.detail);
    }
    runs_.swap(joined);
  }

  const std::vector<Run>& runs() const { return runs_; }

 private:
  using Iterator = std::vector<Run>::iterator;
  /// Returns the first run that begins after the place.
  Iterator FirstAfter(const GapPlace& place) {
    if (runs_.empty() || runs_.back().first <= place) return runs_.end();  // the usual case
    return std::ranges::upper_bound(runs_, place, {}, &Run::first);
  }

  std::vector<Run> runs_;  // in order, apart from each other
};

/// The stalls of one sequence that did not end by a patch or a completion. Memory: up to a limit.
class SequenceStalls {
 public:
  void OnEvent(const BufferEvent& event);
  /// A packet of the sequence has its fate.
  void OnPacketFate(const PacketAccount& account);
  /// Returns the last of these at this chunk, or nullptr.
  Stall* FindLossy(ChunkName chunk) { return FindBy(lossy_, chunk, &Stall::chunk); }

 private:
  void End(StallEnd end, const LogMoment& at);

  std::optional<Stall> open_;
  std::optional<uint64_t> last_pass_;
  std::vector<Stall> lossy_;  // the newest first
};

class GapFinder {
 public:
  /// How many more are kept one by one.
  struct Unused {
    size_t gaps = 65536, flags = 65536;
    size_t producer_flags = 65536;  // a gap before an unlisted flag counts as not flagged
  };

  /// @param now the record under way; must outlive this, like `unused` and `reported`
  GapFinder(BufferId id, const LogMoment& now, Unused& unused, const ReportedLosses& reported)
      : id_(id), now_(now), unused_(unused), reported_(reported) {}

  void SetBuffer(const SessionBuffer& buffer) {
    buffer_ = &buffer;
    info_ = *buffer.info;
  }
  void OnEvent(const BufferEvent& event);
  /// @param abort what the commit shows of a packet that its writer aborted
  void OnChunk(const ChunkCommit& commit, const std::optional<AbortFacts>& abort = {});
  /// The buffer refused the chunk, and every packet in it was known.
  void OnRepeatedCommit() {
    if (buffer_ != nullptr)
      harmless_recommits_ += buffer_->engine->stats().abi_violations - violations_before_;
  }
  void OnReadLimited() { limited_ = true; }
  /// The buffer is about to be drained, which its counters do not count.
  void OnEnd() {
    if (buffer_ != nullptr) counters_ = buffer_->stats();
  }
  void OnReadDone();
  /// @param kind of the packet, see PacketKinds
  void OnPacketFate(const PacketAccount& account, uint32_t kind);
  /// @param facts of all bytes of the packet of the last account, or duplicate
  void OnPacket(const PacketAccount& account, const PacketFacts& facts);

  /// Adds the sequences, by their keys, with their gaps. Once.
  void Finish(BufferGaps& buffer);

 private:
  /// A gap in the making.
  struct OpenGap {
    Gap gap;
    std::optional<uint64_t> needed;         // bytes that the buffer must hold, as far as known
    std::optional<uint64_t> waiting_start;  // of the oldest chunk that no read has followed yet
    bool filled = false;                    // lost as the buffer was full
    std::optional<uint64_t> residence_ns;   // shortest time that a packet was in the buffer
    bool read_in_vain = false;              // some would not have been read however often

    void Need(uint64_t bytes) { needed = std::max(needed.value_or(0), bytes); }
  };
  /// A chunk was committed that is not the successor of the newest one.
  struct Jump {
    uint64_t next = 0;  // its id, unwrapped
    LogMoment before;   // commit of the newest one before
    LogMoment at;
  };
  struct Sequence {
    SequenceGaps report;  // its lists are filled by FinishSequence
    GapTrack track;
    ChunkIdUnwrapper ids;
    IntervalSet committed;               // chunk ids, unwrapped
    IntervalSet scraped;                 // of these, committed while their writer had them
    LogMoment newest_at;                 // commit of the newest one
    std::vector<Jump> jumps;             // where ids were left out, at least at first
    std::vector<uint64_t> forgotten_at;  // chunks before which the buffer forgot the sequence
    IntervalSet folded;                  // chunks in which packets begin that programs folded
    std::vector<GapPlace> by_producer;   // packets that the producer itself flagged
    size_t held = 0;                     // chunks in the buffer
    uint64_t emptied = 0;                // number of the last time that it had none left; 0: never
    bool emptied_by_loss = false;        // the last one was evicted
    std::optional<AbortFacts> abort;     // the last one
    std::optional<uint64_t> dropping_since_ns;  // its commit: no chunk followed yet
    bool recommits = false;                     // the chunk under way was committed before
    std::optional<ChunkId> taken_again;         // the last chunk that entered the buffer again
    bool readmitted = false;                    // it did so as a chunk read in part
    SequenceStalls stalls;
    uint64_t missed_patches = 0, written_bytes = 0;
    // Incremental state.
    bool any_read = false;
    IncrementalState state;
    bool in_unusable = false;                // the last packets could not be used
    uint32_t flagged = GapTrack::kNoDetail;  // the packet since which state may be missing

    /// Returns the jump that left a chunk id out, or nullptr.
    const Jump* JumpOver(uint64_t chunk) const {
      const auto is_over = [&](const Jump& jump) { return jump.next > chunk; };
      const auto jump = std::ranges::find_if(jumps, is_over);
      return jump == jumps.end() ? nullptr : &*jump;
    }
  };

  bool IsForgotten(const Sequence& sequence) const;
  FalseFlag FlagOf(const Sequence& sequence, const PacketAccount& account) const;
  void Fill(uint32_t index, const PacketAccount& account, uint32_t kind);
  void FillEvicted(uint32_t index, const PacketAccount& account);
  static void Merge(OpenGap& open, const OpenGap& other);
  SequenceGaps FinishSequence(SequenceKey key, Sequence& sequence);
  void FinishGap(Sequence& sequence, OpenGap& open);
  void FindMissing(const Sequence& sequence, SequenceGaps& result) const;
  std::optional<SequenceKey> SequenceToSeparate(const OpenGap& open);
  FalseFlag Explain(SequenceKey key, const Sequence& sequence, FalseFlag flag,
                    const GapTrack::Run* before) const;

  const BufferId id_;
  const LogMoment& now_;
  Unused& unused_;
  const ReportedLosses& reported_;
  bool limited_ = false;                   // the read under way
  uint64_t emptied_ = 0;                   // how often a sequence had no chunk left
  const SessionBuffer* buffer_ = nullptr;  // nullptr before it is set up; valid until Finish
  BufferStats counters_;                   // at its end
  EngineInfo info_;                        // a copy: the session's own does not live as long
  const ChunkCommit* under_way_ = nullptr;
  WrittenChunk written_;  // scratch
  BufferHistory history_;
  uint64_t written_bytes_ = 0;            // of all sequences
  std::vector<SequenceShare> filled_by_;  // the same, largest first, once it is needed
  SequenceMap<Sequence> sequences_;
  uint64_t unneeded_patches_ = 0;   // missed patches that no packet waited for
  uint64_t violations_before_ = 0;  // abi_violations before the chunk under way
  uint64_t harmless_recommits_ = 0;
  std::vector<OpenGap> gaps_;
  std::vector<FalseFlag> flags_;   // of all flagged packets, with the rule that chunks leave open
  std::vector<uint32_t> waiting_;  // gaps whose size is not known before the next read
};

}  // namespace ringscope::gaps

#endif  // RINGSCOPE_CORE_GAPS_GAP_FINDER_H_
