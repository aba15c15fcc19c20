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

/// The gaps of one buffer in the making.
class GapFinder {
 public:
  /// How many more may be listed.
  struct Unused {
    size_t gaps = 0;
    size_t flags = 0;
    size_t producer_flags = 0;  // gaps before further ones count as not flagged
  };

  /// @param now the record under way; must outlive this, like `unused` and `reported`
  GapFinder(BufferId id, const LogMoment& now, Unused& unused, const ReportedLosses& reported)
      : id_(id), now_(now), unused_(unused), reported_(reported) {}

  void SetEngine(const EngineInfo& info) { info_ = info; }
  void OnEvent(const BufferEvent& event);
  /// @param abort what the commit shows of a packet that its writer aborted
  void OnChunk(const ChunkCommit& commit, const std::optional<AbortFacts>& abort = {});
  void OnReadLimited() { limited_ = true; }
  /// Ends a pass. One that stops at its limit may not return what is lost later, so packets need
  /// not have waited for it.
  void OnReadDone();
  /// @param kind of the packet, see PacketKinds
  void OnPacketFate(const PacketAccount& account, uint32_t kind);
  /// Adds the packet of the last account (or duplicate) that was reported as read.
  /// @param facts of all its bytes
  void OnPacket(const PacketAccount& account, const PacketFacts& facts);

  /// Adds what is known to the buffer's gaps, by sequence key. Once.
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
    SequenceGaps report;  // but for the lists
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
  bool limited_ = false;  // the read under way
  uint64_t emptied_ = 0;  // how often a sequence had no chunk left
  EngineInfo info_;       // a copy: the session's own does not live as long
  const ChunkCommit* under_way_ = nullptr;
  WrittenChunk written_;  // scratch
  BufferHistory history_;
  SequenceMap<uint64_t> written_by_;      // bytes
  uint64_t written_bytes_ = 0;            // of all
  std::vector<SequenceShare> filled_by_;  // the same, largest first, once it is needed
  SequenceMap<Sequence> sequences_;
  std::vector<OpenGap> gaps_;
  std::vector<OpenFlag> flags_;
  std::vector<uint32_t> waiting_;  // gaps whose size is not known before the next read
};

}  // namespace ringscope::gaps

#endif  // RINGSCOPE_CORE_GAPS_GAP_FINDER_H_
