#ifndef RINGSCOPE_CORE_GAPS_BUFFER_GAPS_H_
#define RINGSCOPE_CORE_GAPS_BUFFER_GAPS_H_

#include <optional>
#include <vector>

#include "core/base/interval_set.h"
#include "core/base/sequence_map.h"
#include "core/gaps/buffer_history.h"
#include "core/gaps/gap_report.h"
#include "core/gaps/gap_track.h"
#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/incremental_state.h"
#include "core/session/buffer_event.h"
#include "core/session/session.h"

namespace ringscope::gaps {

/// A gap in the making.
struct OpenGap {
  Gap gap;
  // Chunks of the buffer's history that were written between the packets and their eviction, and
  // their bytes up to `counted`; the rest is counted in blocks at the end.
  uint64_t window_first = 0;
  uint64_t window_end = 0;
  uint64_t counted = 0;
  uint64_t exact_chunks = 0;  // how many are counted one by one
  ShareList pushed;
  uint64_t needed = 0;                    // bytes that the buffer must hold, as far as known
  std::optional<uint64_t> waiting_start;  // of the oldest chunk that no read has followed yet
  bool counts_needed = false;
  bool filled = false;  // lost as the buffer was full: what it holds is the culprit
  std::optional<uint64_t> residence_ns;  // shortest time that a packet was in the buffer
  bool read_in_vain = false;             // some would not have been read however often
};

/// The gaps of one buffer in the making.
class GapBuffer {
 public:
  /// How many more may be listed.
  struct Unused {
    size_t gaps = 0;
    size_t flags = 0;
  };

  /// @param now the record under way; must outlive this, like `unused`
  GapBuffer(BufferId id, const LogMoment& now, Unused& unused)
      : id_(id), now_(now), unused_(unused) {}

  void SetEngine(const EngineInfo& info) { info_ = info; }
  void OnEvent(const BufferEvent& event);
  void OnChunk(const ChunkCommit& commit);
  void OnReadBegun();
  void OnPacketFate(const PacketAccount& account);
  /// The packet of the last account (or duplicate) that was reported as read; `facts` of all its
  /// bytes.
  void OnPacket(const PacketAccount& account, const PacketFacts& facts);

  /// All that is known, by sequence key.
  std::vector<SequenceGaps> Finish();

 private:
  struct Sequence {
    SequenceGaps report;  // but for the lists
    GapTrack track;
    ChunkIdUnwrapper ids;
    IntervalSet committed;               // chunk ids, unwrapped, to know those that were not
    bool recommits = false;              // the chunk under way was committed before
    std::optional<ChunkId> taken_again;  // the last chunk that entered the buffer again
    bool readmitted = false;             // it did so as a chunk read in part
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

  uint32_t AddFlag(Sequence& sequence, const PacketAccount& account);
  uint32_t GapOf(Sequence& sequence, const PacketAccount& account);
  void Fill(uint32_t index, const PacketAccount& account);
  void FillEvicted(uint32_t index, const PacketAccount& account);

  // gap_finish.cc
  static void Merge(OpenGap& open, const OpenGap& other);
  SequenceGaps FinishSequence(SequenceKey key, Sequence& sequence);
  void FinishGap(OpenGap& open);
  void Remedy(OpenGap& open) const;
  FalseFlag Explain(const Sequence& sequence, const OpenFlag& flag,
                    const GapTrack::Run* before) const;

  const BufferId id_;
  const LogMoment& now_;
  Unused& unused_;
  EngineInfo info_;  // a copy: the session's own does not live as long
  const ChunkCommit* under_way_ = nullptr;
  WrittenChunk written_;  // scratch
  BufferHistory history_;
  BytesBySequence written_by_;
  SequenceMap<Sequence> sequences_;
  std::vector<OpenGap> gaps_;
  std::vector<OpenFlag> flags_;
  std::vector<uint32_t> waiting_;  // gaps whose size is not known before the next read
};

void AddCount(std::vector<CauseCount>& list, const CauseCount& more);
void AddCount(std::vector<ContentCount>& list, const ContentCount& more);

}  // namespace ringscope::gaps

#endif  // RINGSCOPE_CORE_GAPS_BUFFER_GAPS_H_
