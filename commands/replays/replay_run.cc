#include "commands/replays/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Passes the warnings of a replay on.
class Warnings : public ReplayListener {
 public:
  Warnings(Console& console, const std::string& path) : console_(console), path_(path) {}
  void OnWarning(const std::string& text) override {
    console_.Warn(fmt::format("{}: {}", path_, Printable(text)));
  }

 private:
  Console& console_;
  const std::string& path_;
};

void WarnOfUnusedChoices(Console& console, const std::string& path, const ReplayChoices& choices,
                         const std::vector<BufferOutcome>& buffers) {
  for (const auto& [id, choice] : choices.session.buffers) {
    if (std::ranges::find(buffers, id, &BufferOutcome::id) != buffers.end()) continue;
    console.Warn(fmt::format(
        "{}: there is no buffer {}, so the options for it change nothing{}", path, Raw(id),
        buffers.empty() ? "" : fmt::format(" (buffers: {})", IdsText(buffers))));
  }
}

}  // namespace

Result<ReplayOutcome> ReplayRun::ToEnd() {
  const std::string path = sessions_.path();
  Warnings warnings(context_.console, path);
  std::vector<ReplayListener*> listeners = {&warnings};
  LedgerSinks sinks(sinks_);
  Ledger ledger(sinks);
  if (keeps_accounts_) listeners.push_back(&ledger);
  listeners.insert(listeners.end(), listeners_.begin(), listeners_.end());

  ReplayOptions options = choices_;
  options.session.clone = CloneOf(sessions_, choices_.splits);
  options.ahead = LookAheadIn(context_, sessions_.SessionAlone());
  options.moves_sequences = !choices_.splits.empty();
  std::unique_ptr<InsertedReads> with_reads;
  if (!choices_.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(found_, InFile(path, FindSessionReads(context_, sessions_.SessionAlone(),
                                                              choices_.reads.like)));
    with_reads = std::make_unique<InsertedReads>(sessions_, found_->reads);
  }
  CountedReplay replay(std::move(options), std::move(listeners));
  RS_ASSIGN_OR_RETURN(UnrecordedBuffers unrecorded, UnrecordedOf(context_, choices_));
  AddedBuffers with_buffers(with_reads ? static_cast<OpSource&>(*with_reads) : sessions_,
                            std::move(unrecorded));
  RetargetSource records(with_buffers, choices_.splits, ReleasesIn(choices_.session));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records.Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(InFile(path, replay.Apply(*op, sessions_.record_number())));
  }
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome, InFile(path, replay.Finish(keeps_histograms_)));
  outcome.path = path;
  outcome.session = sessions_.session();
  if (found_) {
    outcome.reads.like = choices_.reads.like;
    outcome.reads.like_packets = found_->packets;
    outcome.reads.like_explained = found_->explained;
  }
  Warn(outcome, records.UnusedRules());
  if (keeps_accounts_) {
    totals_ = ledger.totals();
    if (const std::string problems = ledger.Check(); !problems.empty())
      context_.console.Warn(fmt::format("{}: {}", path, problems));
  }
  return outcome;
}

void ReplayRun::Warn(const ReplayOutcome& outcome, const std::vector<RetargetRule>& unused_splits) {
  Console& console = context_.console;
  if (outcome.buffers.empty() && outcome.service.chunks_discarded > 0)
    console.Warn(
        fmt::format("{}: the log does not have its buffers, so nothing can be replayed: name "
                    "the session's trace config with --config, or a buffer with --size "
                    "BUFFER=SIZE",
                    outcome.path));
  if (!sessions_.reports_verdicts()) WarnOfInexact(console, outcome.path, outcome.verdicts);
  WarnOfUnusedChoices(console, outcome.path, choices_, outcome.buffers);
  WarnOfUnusedSplits(console, outcome.path, unused_splits);
}

}  // namespace ringscope
