#ifndef RINGSCOPE_CORE_GAPS_GAP_ANALYSIS_H_
#define RINGSCOPE_CORE_GAPS_GAP_ANALYSIS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/gaps/gap_finder.h"
#include "core/gaps/gap_report.h"
#include "core/ledger/ledger.h"
#include "core/ledger/packet_values.h"
#include "core/session/replay_listener.h"
#include "core/session/session.h"

namespace ringscope {

/// Makes the loss report: folds the ledger's entries and the replay's events into runs of missing
/// packets, with their causes and remedies. Memory: O(gaps + sequences + chunks held); the lists
/// have limits, totals are always exact.
class GapAnalysis : public LedgerSink, public ReplayListener {
 public:
  /// Gaps, and flagged packets, that are kept one by one.
  static constexpr size_t kMaxListed = 65536;
  /// Reported losses, and wrong patches, that are kept one by one.
  static constexpr size_t kMaxSigns = 4096;

  /// @param kinds of the packets, for the gaps; may be nullptr
  explicit GapAnalysis(PacketKinds* kinds = nullptr) : kinds_(kinds) {}

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override;
  void OnPacketFate(const PacketAccount& account) override;
  void OnReturned(const PacketAccount& account, const SessionPacket& packet) override;
  void OnWrongPatch(BufferId buffer, ChunkName chunk) override {
    if (wrong_patches_.size() < kMaxSigns) wrong_patches_.push_back({buffer, chunk, now_});
  }
  void OnRepeatedCommit(BufferId buffer) override { Of(buffer).OnRepeatedCommit(); }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override;
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
  gaps::GapFinder& Of(BufferId id);
  void Close(BufferId id);

  LogMoment now_;
  SessionClock clock_;
  gaps::GapFinder::Unused unused_{
      .gaps = kMaxListed, .flags = kMaxListed, .producer_flags = kMaxListed};
  std::map<BufferId, std::unique_ptr<gaps::GapFinder>> buffers_;
  std::map<BufferId, BufferGaps> done_;
  StalePackets stale_;
  PacketTimes times_;
  std::map<BufferId, uint64_t> newest_overwritten_ns_;
  uint64_t newest_ns_ = 0, events_ = 0;  // of the packets that have a time of their own
  KindsOfPackets kinds_;
  uint32_t last_kind_ = 0;
  SequenceMap<uint64_t> evictors_;  // packets that were overwritten for commits of each
  LossTimeline over_time_;
  ReportedLosses reported_{kMaxSigns};
  SharedMemoryUse memory_;
  std::vector<WrongPatchAt> wrong_patches_;
  std::string joined_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_GAP_ANALYSIS_H_
