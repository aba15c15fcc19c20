#ifndef RINGSCOPE_CORE_COMPARE_LEDGER_RUN_H_
#define RINGSCOPE_CORE_COMPARE_LEDGER_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/loss_check.h"
#include "core/compare/plain_stream.h"
#include "core/engine/catalogue.h"
#include "core/ledger/ledger.h"
#include "core/session/buffer_observer.h"

namespace ringscope {

/// Operations through one engine, reported to a ledger as a session would.
class LedgerRun {
 public:
  /// @param info, sink must outlive it. Fails if the engine cannot be made.
  static Result<std::unique_ptr<LedgerRun>> Create(const EngineInfo& info, uint64_t size,
                                                   FillPolicy policy, LedgerSink& sink);

  void Apply(const StreamStep& step);
  void Finish();
  /// Has this called with each packet that is returned, before the ledger gets it.
  void TellOfPackets(std::function<void(const Packet&)> tell) { tell_ = std::move(tell); }
  /// After Finish.
  const Ledger& ledger() const { return ledger_; }
  /// Why the engine could not continue; nullptr: it could.
  const Error* failure() const { return buffer_.engine->failure(); }

 private:
  explicit LedgerRun(LedgerSink& sink) : ledger_(sink) {}
  void Read(uint64_t max_packets);

  Ledger ledger_;
  LogMoment now_;
  ReplayListeners listeners_{ledger_};
  BufferObserver observer_{BufferId{1}, now_, listeners_};
  SessionBuffer buffer_;
  uint64_t records_ = 0;
  std::function<void(const Packet&)> tell_;  // may be empty
};

/// Puts a stream through an engine and a ledger.
/// @return what does not add up; empty: all does, or the engine reports no events
std::string CheckLedger(const EngineInfo& info, const PlainStream& stream);

/// The faults of the engine that the accounts show; none of one that reports no events, or fails.
std::vector<FoundFault> FindLossFaults(const EngineInfo& info, const PlainStream& stream);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LEDGER_RUN_H_
