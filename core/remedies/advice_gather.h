#ifndef RINGSCOPE_CORE_REMEDIES_ADVICE_GATHER_H_
#define RINGSCOPE_CORE_REMEDIES_ADVICE_GATHER_H_

#include <map>
#include <memory>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/perfetto/packet_kinds.h"
#include "core/remedies/advice_facts.h"
#include "core/session/session.h"
#include "core/sweep/read_period.h"

namespace ringscope {

/// Adds to a session's facts what a replay shows: the fates of its packets, how fast they were
/// written, and how late they were committed.
class AdviceGatherer {
 public:
  /// @param facts of the session's records, see ScanForAdvice; must outlive this
  /// @param kinds of the packets, which must outlive this; may be nullptr
  explicit AdviceGatherer(AdviceFacts& facts, PacketKinds* kinds = nullptr);
  ~AdviceGatherer();

  /// What the replay and its ledger report to.
  std::vector<ReplayListener*> listeners();
  LedgerSink& accounts();

  /// Once, at the replay's end.
  /// @return what the session's gaps call for
  GapNeeds Finish(const std::map<BufferId, LedgerTotals>& totals);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_REMEDIES_ADVICE_GATHER_H_
