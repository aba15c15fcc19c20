#include "commands/replays/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Prints the warnings of a replay.
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

}  // namespace

Status ReplayInput::Find(Context& context, const SessionSelection& session) {
  if (!choices.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(found, FindSessionReads(context, session, choices.reads.like));
  }
  RS_ASSIGN_OR_RETURN(unrecorded, UnrecordedOf(context, choices));
  return {};
}

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
  RS_RETURN_IF_ERROR(InFile(path, input_.Find(context_, sessions_.SessionAlone())));
  CountedReplay replay(std::move(options), std::move(listeners));
  const auto records = input_.Records(static_cast<OpSource&>(sessions_));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(InFile(path, replay.Apply(*op, sessions_.record_number())));
  }
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome, InFile(path, replay.Finish(keeps_histograms_)));
  outcome.path = path;
  outcome.session = sessions_.session();
  if (const std::optional<FoundReads>& found = input_.found) {
    outcome.reads.like = choices_.reads.like;
    outcome.reads.like_packets = found->packets;
    outcome.reads.like_explained = found->explained;
  }
  Warn(outcome, records->UnusedRules());
  if (keeps_accounts_) {
    totals_ = ledger.totals();
    if (const std::string problems = ledger.Check(); !problems.empty())
      context_.console.Warn(fmt::format("{}: {}", path, problems));
  }
  return outcome;
}

void ReplayRun::Warn(const ReplayOutcome& outcome, const std::vector<RetargetRule>& unused_splits) {
  const auto warn = [&](const std::string& text) {
    context_.console.Warn(fmt::format("{}: {}", outcome.path, text));
  };
  if (outcome.buffers.empty() && outcome.service.chunks_discarded > 0)
    warn(
        "the log does not have its buffers, so nothing can be replayed: name the session's trace "
        "config with --config, or a buffer with --size BUFFER=SIZE");
  if (!sessions_.reports_verdicts())
    WarnOfInexact(context_.console, outcome.path, outcome.verdicts);
  for (const auto& [id, choice] : choices_.session.buffers)
    if (std::ranges::find(outcome.buffers, id, &BufferOutcome::id) == outcome.buffers.end())
      warn(fmt::format(
          "there is no buffer {}, so the options for it change nothing{}", Raw(id),
          outcome.buffers.empty() ? "" : fmt::format(" (buffers: {})", IdsText(outcome.buffers))));
  WarnOfUnusedSplits(context_.console, outcome.path, unused_splits);
}

}  // namespace ringscope
