#ifndef RINGSCOPE_COMMANDS_REPLAYS_REPLAY_RUN_H_
#define RINGSCOPE_COMMANDS_REPLAYS_REPLAY_RUN_H_

#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "commands/replays/replay_options.h"
#include "commands/replays/session_reader.h"
#include "core/ledger/ledger.h"
#include "core/reads/found_reads.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// Changes of a session's records for its replay: reads that were found, buffers that the log
/// lacks, and sequences moved to other buffers.
struct ReplayInput {
  const ReplayChoices& choices;
  std::optional<FoundReads> found = {};  // if --reads like= asks for them
  UnrecordedBuffers unrecorded = {};

  /// @param session that is replayed
  Status Find(Context& context, const SessionSelection& session);
  /// The records of that session with the changes.
  /// @param session an OpSource that outlives this, or one to own
  template <typename Session>
  std::unique_ptr<RetargetSource> Records(Session&& session) const {
    std::unique_ptr<OpSource> with_buffers;
    if (found)
      with_buffers = std::make_unique<AddedBuffers>(
          std::make_unique<InsertedReads>(std::forward<Session>(session), found->reads),
          unrecorded);
    else
      with_buffers = std::make_unique<AddedBuffers>(std::forward<Session>(session), unrecorded);
    return std::make_unique<RetargetSource>(std::move(with_buffers), choices.splits,
                                            ReleasesIn(choices.session));
  }
};

/// A replay of one session for a command: what follows it is added first, then it runs to its end.
///
///   ReplayRun run(context, sessions, args.choices);
///   auto& analysis = run.Add<GapAnalysis>(args.stale_ns);
///   RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
///   const GapReport report = analysis.Finish(run.totals());
class ReplayRun {
 public:
  /// Replays the session that `sessions` is at. Both references must outlive this.
  ReplayRun(Context& context, SessionReader& sessions, const ReplayChoices& choices)
      : context_(context), sessions_(sessions), choices_(choices) {}
  ReplayRun(const ReplayRun&) = delete;
  ReplayRun& operator=(const ReplayRun&) = delete;

  /// Makes a listener of the replay, or a sink of the ledger's entries, which this owns. They are
  /// called in the order in which they were added.
  template <typename T, typename... Arguments>
  T& Add(Arguments&&... arguments) {
    const auto added = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    owned_.push_back(added);
    if constexpr (std::is_base_of_v<LedgerSink, T>) AddSink(*added);
    if constexpr (std::is_base_of_v<ReplayListener, T>) AddListener(*added);
    return *added;
  }
  /// Adds a listener that the caller owns, until the end of the run.
  void AddListener(ReplayListener& listener) { listeners_.push_back(&listener); }
  void AddSink(LedgerSink& sink) {
    sinks_.push_back(&sink);
    KeepAccounts();
  }
  /// Has a ledger, called before the listeners. A warning is printed if its fates do not add up.
  void KeepAccounts() { keeps_accounts_ = true; }
  /// Fills ReplayOutcome::writers. Memory: O(sequences).
  void KeepHistograms() { keeps_histograms_ = true; }

  /// Replays all records of the session. Once.
  Result<ReplayOutcome> ToEnd();

  /// Packets by fate, by buffer. Empty without a ledger.
  const std::map<BufferId, LedgerTotals>& totals() const { return totals_; }
  /// The reads that were found, if --reads like= asks for them.
  const std::optional<FoundReads>& found() const { return input_.found; }

 private:
  void Warn(const ReplayOutcome& outcome, const std::vector<RetargetRule>& unused_splits);

  Context& context_;
  SessionReader& sessions_;
  const ReplayChoices choices_;
  ReplayInput input_{choices_};
  std::vector<std::shared_ptr<void>> owned_;
  std::vector<ReplayListener*> listeners_;
  std::vector<LedgerSink*> sinks_;
  bool keeps_accounts_ = false;
  bool keeps_histograms_ = false;
  std::map<BufferId, LedgerTotals> totals_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_REPLAY_RUN_H_
