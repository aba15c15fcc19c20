#ifndef RINGSCOPE_CORE_GAPS_GAP_ANALYSIS_H_
#define RINGSCOPE_CORE_GAPS_GAP_ANALYSIS_H_

#include <memory>

#include "core/gaps/gap_finder.h"
#include "core/ledger/packet_values.h"
#include "core/perfetto/clocks.h"

namespace ringscope {

/// Compares the packets' own times, or those of their events of ftrace, with those of their
/// commits. Memory: O(sequences).
class StalePackets {
 public:
  void AddClocks(Bytes snapshot) { clocks_.AddSnapshot(snapshot); }
  /// A packet's first fragment: its index in its chunk, what is in it, and its time, or that of its
  /// first event of ftrace, where it is known.
  using Visitor = std::function<void(size_t fragment, const WrittenCommit::PacketBeginning& packet,
                                     std::optional<uint64_t> time_ns)>;
  /// A chunk as it is committed, in the log's order.
  /// @param start_ns of the session: what is older was not held back in it
  /// @param visit called with each packet that begins in it and was not seen before
  void AddChunk(BufferId buffer, WrittenCommit& written, uint64_t start_ns,
                std::optional<uint64_t> now_ns, const Visitor& visit = {});
  /// Sequences that have stale packets.
  std::vector<StaleSequence> Result() const;

 private:
  struct Sequence {
    StaleSequence result;
    SequenceClocks clocks;
    std::optional<ChunkId> chunk;  // the last one
    size_t fragments = 0;          // of it, that were seen
  };

  Clocks clocks_;
  std::map<std::pair<BufferId, SequenceKey>, Sequence> sequences_;
};

/// Makes the loss report: folds the ledger's entries and the replay's events into runs of missing
/// packets, with their causes and remedies. Memory: O(gaps + sequences + chunks held); the lists
/// have limits, totals are always exact.
class GapAnalysis : public LedgerSink, public ReplayListener {
 public:
  /// Reported losses, and wrong patches, that are kept one by one.
  static constexpr size_t kMaxSigns = 4096;

  /// @param kinds of the packets, for the gaps; may be nullptr
  explicit GapAnalysis(PacketKinds* kinds = nullptr) : kinds_(kinds) {}

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override;
  void OnPacketFate(const PacketAccount& account) override;
  void OnReturned(const PacketAccount& account, const SessionPacket& packet) override;
  void OnWrongPatch(BufferId buffer, ChunkName chunk) override {
    if (report_.wrong_patches.size() < kMaxSigns)
      report_.wrong_patches.push_back({buffer, chunk, now_});
  }
  void OnRepeatedCommit(BufferId buffer) override { Of(buffer).OnRepeatedCommit(); }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    kinds_.Forget(buffer, sequence, chunk);
    times_.Forget(buffer, sequence, chunk);
  }
  /// The kind of the packet whose fate was reported last.
  uint32_t last_kind() const { return last_kind_; }
  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override { Of(buffer.id).SetBuffer(buffer); }
  void OnBufferReplaced(SessionBuffer& buffer) override { Close(buffer.id); }
  void OnDrainBegun(BufferId buffer) override { Of(buffer).OnEnd(); }
  void OnReadLimited(BufferId buffer) override { Of(buffer).OnReadLimited(); }
  void OnReadDone(BufferId buffer, uint64_t) override { Of(buffer).OnReadDone(); }
  void OnBufferEvent(const BufferEvent& event) override { Of(event.buffer).OnEvent(event); }

  /// The times of the packets whose fate is open, and of the one whose fate is being reported.
  const PacketTimes& times() const { return times_; }
  /// The report. Once, after the ledger's end.
  GapReport Finish(const std::map<BufferId, LedgerTotals>& totals);

 private:
  gaps::GapFinder& Of(BufferId id) {
    std::unique_ptr<gaps::GapFinder>& buffer = buffers_[id];
    if (!buffer) buffer = std::make_unique<gaps::GapFinder>(id, now_, unused_, reported_);
    return *buffer;
  }
  void Close(BufferId id);

  LogMoment now_;
  SessionClock clock_;
  gaps::GapFinder::Unused unused_;
  std::map<BufferId, std::unique_ptr<gaps::GapFinder>> buffers_;
  std::map<BufferId, BufferGaps> done_;
  GapReport report_;
  StalePackets stale_;
  PacketTimes times_;
  KindsOfPackets kinds_;
  uint32_t last_kind_ = 0;
  SequenceMap<uint64_t> evictors_;  // packets that were overwritten for commits of each
  ReportedLosses reported_{kMaxSigns};
  SharedMemoryUse memory_;
  std::string joined_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_ANALYSIS_H_
