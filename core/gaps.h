#ifndef RINGSCOPE_CORE_GAPS_H_
#define RINGSCOPE_CORE_GAPS_H_

#include <map>
#include <memory>

#include "core/gap_report.h"
#include "core/journal.h"
#include "core/ledger.h"
#include "core/session.h"

namespace ringscope {

/// Makes the loss report: folds the ledger's entries, the journal's events and what the session
/// tells into runs of missing packets, with what caused them and what would have prevented them.
/// As the session's sink it must stand behind the ledger. Memory: O(gaps + sequences + chunks
/// held), and the lists have limits; totals are always exact.
class GapAnalysis : public LedgerSink, public SessionSink {
 public:
  /// Gaps, and flagged packets, that are kept one by one.
  static constexpr size_t kMaxListed = 65536;

  /// @param stale_ns how much later than written a packet may be committed
  explicit GapAnalysis(uint64_t stale_ns);
  ~GapAnalysis() override;

  /// What happens inside a buffer (Journal's listener).
  void OnEvent(const JournalEvent& event);

  void OnPacketFate(const PacketAccount& account) override;
  void OnDuplicate(const PacketAccount& account) override;
  void OnRecord(const Op& op, uint64_t number) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;

  /// The report. Once, after the ledger's Finish.
  GapReport Finish(const std::map<BufferId, LedgerTotals>& totals);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_H_
