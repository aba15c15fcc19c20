// The gaps of one buffer: runs of lost packets of a sequence between packets that were read, each
// with its causes, how the trace shows it, and what would have kept the packets.
//
//     fates, in any order    track of a sequence    detail of a run    report
//     #3 read                [ #0 .. #3  read ]
//     #5 lost        ──►     [ #4 .. #5  lost ] ──► OpenGap       ──►  Gap
//     #4 lost                [ #6        read ] ──► OpenFlag      ──►  Gap::next, or FalseFlag
//     commits        ──►     ids committed, and jumps of ids      ──►  MissingChunks
//     buffer events  ──►     BufferHistory, SequenceStalls        ──►  GapRemedies, GapBlame
//
// It holds for each sequence a GapTrack, in which runs of packets are in the order of their chunks,
// whatever the order of their fates; the ids committed; its stalls; and the validity of its
// incremental state. A run of lost packets has an OpenGap, a flagged packet an OpenFlag. Both lists
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

#include <optional>
#include <vector>

#include "core/base/interval_set.h"
#include "core/base/sequence_map.h"
#include "core/gaps/buffer_history.h"
#include "core/gaps/gap_report.h"
#include "core/gaps/gap_track.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope::gaps {

class GapFinder {
 public:
  /// How many more may be listed.
  struct Unused {
    size_t gaps = 0;
    size_t flags = 0;
    size_t producer_flags = 0;  // a gap before an unlisted flag counts as not flagged
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
  void OnRepeatedCommit();
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
    uint64_t needed = 0;                    // bytes that the buffer must hold, as far as known
    std::optional<uint64_t> waiting_start;  // of the oldest chunk that no read has followed yet
    bool counts_needed = false;
    bool filled = false;                   // lost as the buffer was full
    std::optional<uint64_t> residence_ns;  // shortest time that a packet was in the buffer
    bool read_in_vain = false;             // some would not have been read however often
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
    IntervalSet committed;                     // chunk ids, unwrapped
    IntervalSet scraped;                       // of these, committed while their writer had them
    std::optional<uint64_t> first_chunk;       // the lowest one
    LogMoment newest_at;                       // commit of the newest one
    std::vector<Jump> jumps;                   // where ids were left out, at least at first
    std::vector<uint64_t> forgotten_at;        // chunks before which the buffer forgot the sequence
    IntervalSet folded;                        // chunks in which packets begin that programs folded
    std::vector<GapTrack::Point> by_producer;  // packets that the producer itself flagged
    size_t held = 0;                           // chunks in the buffer
    uint64_t emptied = 0;             // number of the last time that it had none left; 0: never
    bool emptied_by_loss = false;     // the last one was evicted
    std::optional<AbortFacts> abort;  // the last one
    std::optional<uint64_t> dropping_since_ns;  // its commit: no chunk followed yet
    bool recommits = false;                     // the chunk under way was committed before
    std::optional<ChunkId> taken_again;         // the last chunk that entered the buffer again
    bool readmitted = false;                    // it did so as a chunk read in part
    SequenceStalls stalls;
    // Incremental state.
    bool any_read = false;
    IncrementalState state;
    bool in_unusable = false;                // the last packets could not be used
    uint32_t flagged = GapTrack::kNoDetail;  // the packet since which state may be missing
  };
  /// A flagged packet, and what was known when it was read.
  struct OpenFlag {
    FlaggedPacket packet;
    bool readmitted = false;
    bool recommitted = false;
  };

  void NoteIds(Sequence& sequence, uint64_t chunk);
  bool IsForgotten(const Sequence& sequence) const;
  uint32_t AddFlag(Sequence& sequence, const PacketAccount& account);
  uint32_t GapOf(Sequence& sequence, const PacketAccount& account);
  void Fill(uint32_t index, const PacketAccount& account, uint32_t kind);
  void FillEvicted(uint32_t index, const PacketAccount& account);
  static void Merge(OpenGap& open, const OpenGap& other);
  SequenceGaps FinishSequence(SequenceKey key, Sequence& sequence);
  void FinishGap(const Sequence& sequence, OpenGap& open);
  void FindMissing(const Sequence& sequence, SequenceGaps& result) const;
  const std::vector<SequenceShare>& FilledBy();
  std::optional<SequenceKey> SequenceToSeparate(const OpenGap& open);
  void AddRemedies(const Sequence& sequence, OpenGap& open);
  FalseFlag Explain(SequenceKey key, const Sequence& sequence, const OpenFlag& flag,
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
  SequenceMap<uint64_t> written_by_;      // bytes
  uint64_t written_bytes_ = 0;            // of all
  std::vector<SequenceShare> filled_by_;  // the same, largest first, once it is needed
  SequenceMap<Sequence> sequences_;
  SequenceMap<uint64_t> missed_patches_;
  uint64_t violations_before_ = 0;  // abi_violations before the chunk under way
  uint64_t harmless_recommits_ = 0;
  std::vector<OpenGap> gaps_;
  std::vector<OpenFlag> flags_;
  std::vector<uint32_t> waiting_;  // gaps whose size is not known before the next read
};

}  // namespace ringscope::gaps

#endif  // RINGSCOPE_CORE_GAPS_GAP_FINDER_H_
