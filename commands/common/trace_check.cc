#include "commands/common/trace_check.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "formats/inputs/result_reader.h"
#include "formats/io/temporary_file.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

/// Notes as whom the service saw the producers, where that differs.
class SeenIdentities : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment&) override {
    const auto* const producer = std::get_if<ProducerConnected>(&op.body);
    if (producer == nullptr) return;
    Seen& seen = producers_.emplace_back();
    seen.own = {producer->uid, producer->pid};
    if (producer->seen_pid)
      seen.by_service = Identity{producer->seen_uid.value_or(producer->uid), *producer->seen_pid};
  }

  /// Gives the sequences of `replay` the identity that the service saw, where only this one is in
  /// the trace. @return whether there are any
  bool Adopt(const ReplayOutput& trace, ReplayOutput& replay) const {
    const std::optional<Identity> only = OnlyOneOf(trace);
    bool any = false;
    for (const Seen& producer : producers_) {
      // A log that does not have it: all producers came through one process, which is none of them.
      const std::optional<Identity> seen = producer.by_service ? producer.by_service : only;
      if (!seen || Has(trace, producer.own) || !Has(trace, *seen)) continue;
      for (OutputSequence& sequence : replay.sequences)
        if (sequence.identity == producer.own) sequence.identity = *seen;
      any = true;
    }
    return any;
  }

 private:
  struct Seen {
    Identity own;
    std::optional<Identity> by_service;
  };

  static bool Has(const ReplayOutput& trace, const Identity& identity) {
    return std::ranges::any_of(trace.sequences, [&](const OutputSequence& sequence) {
      return sequence.identity == identity;
    });
  }
  static std::optional<Identity> OnlyOneOf(const ReplayOutput& trace) {
    if (trace.sequences.empty()) return std::nullopt;
    const Identity& first = trace.sequences.front().identity;
    const bool all = std::ranges::all_of(trace.sequences, [&](const OutputSequence& sequence) {
      return sequence.identity == first;
    });
    return all ? std::optional(first) : std::nullopt;
  }

  std::vector<Seen> producers_;
};

struct ReplayedTrace {
  ReplayOutcome outcome;
  ReplayOutput output;
  std::optional<FoundReads> found = {};
};

/// Replays a session as far as a trace, and reads that.
Result<ReplayedTrace> ReplayToTrace(Context& context, SessionReader& sessions,
                                    const ReplayChoices& choices, SeenIdentities& identities) {
  RS_ASSIGN_OR_RETURN(const std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "the replayed trace"}));
  TraceWriter trace(*file, sessions.clone() == nullptr
                               ? std::nullopt
                               : std::optional(sessions.clone()->clone));
  std::optional<FoundReads> found;
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome,
                      ReplaySession(context, sessions, choices,
                                    {.listeners = {&trace, &identities}, .found = &found}));
  RS_RETURN_IF_ERROR(trace.Finish());
  RS_ASSIGN_OR_RETURN(ReplayOutput output,
                      ReadTraceResults(OpenTemporary(file, "the replayed trace")));
  return ReplayedTrace{std::move(outcome), std::move(output), std::move(found)};
}

}  // namespace

Result<TraceCheck> CheckWithTrace(Context& context, SessionReader& sessions,
                                  const ReplayChoices& choices, const std::string& trace,
                                  size_t listed) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(trace));
  RS_ASSIGN_OR_RETURN(const ReplayOutput written,
                      InFile(trace, ReadTraceResults(std::move(source))));
  const SessionSelection alone = sessions.SessionAlone();
  SeenIdentities identities;
  RS_ASSIGN_OR_RETURN(ReplayedTrace replayed,
                      ReplayToTrace(context, sessions, choices, identities));
  // When the service reads for a file does not show in the log, but it does in the file.
  const bool can_read_again = std::ranges::find(alone.paths, "-") == alone.paths.end();
  const ReadsUsed& reads = replayed.outcome.reads;
  const bool exact = !reads.assumed && reads.seen_in_file == 0;
  if (!exact && can_read_again && sessions.clone() == nullptr) {
    ReplayChoices like = choices;
    like.reads.like = trace;
    SessionReader again(context, alone, "replaying");
    RS_RETURN_IF_ERROR(again.NextSession());
    auto replayed_like = ReplayToTrace(context, again, like, identities);
    // Of a trace that has hardly a packet of this session, no reads can be found.
    if (replayed_like) replayed = std::move(*replayed_like);
  }
  TraceCheck check{.outcome = std::move(replayed.outcome),
                   .diff = {},
                   .found = std::move(replayed.found),
                   .has_recorder_identity = identities.Adopt(written, replayed.output)};
  RS_ASSIGN_OR_RETURN(check.diff,
                      InFile(trace, DiffOutputs(replayed.output, written, listed)));
  return check;
}

}  // namespace ringscope
