#include "commands/replays/trace_check.h"

#include <fmt/ranges.h>

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

/// The service's sessions of a log.
class StartedSessions : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment&) override {
    if (const auto* const started = std::get_if<SessionStarted>(&op.body))
      numbers.push_back(started->session);
  }

  std::vector<uint64_t> numbers;
};

struct ReplayedTrace {
  ReplayOutcome outcome;
  ReplayOutput output;
  std::vector<uint64_t> sessions;
  std::optional<FoundReads> found = {};
};

/// Replays a log as far as a trace, and reads that.
/// @param only of the service's sessions; absent: all
Result<ReplayedTrace> ReplayToTrace(Context& context, SessionReader& sessions,
                                    const ReplayChoices& choices, SeenIdentities& identities,
                                    std::optional<uint64_t> only = {}) {
  RS_ASSIGN_OR_RETURN(const std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "the replayed trace"}));
  ReplayRun run(context, sessions, choices);
  auto& trace = run.Add<TraceWriter>(
      *file, sessions.clone() == nullptr ? std::nullopt : std::optional(sessions.clone()->clone),
      only);
  run.AddListener(identities);
  auto& started = run.Add<StartedSessions>();
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome, run.ToEnd());
  RS_RETURN_IF_ERROR(trace.Finish());
  RS_ASSIGN_OR_RETURN(ReplayOutput output,
                      ReadTraceResults(OpenTemporary(file, "the replayed trace")));
  return ReplayedTrace{std::move(outcome), std::move(output), std::move(started.numbers),
                       run.found()};
}

}  // namespace

std::string CountsText(const DiffCounts& counts) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    const auto kind = static_cast<DifferenceKind>(i);
    if (counts[kind] == 0) continue;
    const bool is_of_packets = kind != DifferenceKind::kPatch && kind != DifferenceKind::kCounter;
    parts.push_back(is_of_packets ? Count(counts[kind], "packet") + " " + kDifferenceTexts[i]
                                  : Count(counts[kind], kDifferenceTexts[i]));
  }
  return parts.empty() ? "no difference" : fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

/// What is compared: a log as a reader of sessions is at it.
struct CheckedLog {
  Context& context;
  const SessionSelection alone;
  const ReplayChoices& choices;
  const std::string& trace;
  const ReplayOutput& written;  // what the trace has
  const size_t listed;
};

Result<TraceCheck> Compare(const CheckedLog& log, ReplayedTrace replayed,
                           const SeenIdentities& identities) {
  TraceCheck check{.outcome = std::move(replayed.outcome),
                   .diff = {},
                   .session = {},
                   .found = std::move(replayed.found),
                   .has_recorder_identity = identities.Adopt(log.written, replayed.output)};
  RS_ASSIGN_OR_RETURN(check.diff,
                      InFile(log.trace, DiffOutputs(replayed.output, log.written, log.listed)));
  return check;
}

/// The log once more.
Result<TraceCheck> CheckAgain(const CheckedLog& log, const ReplayChoices& choices,
                              std::optional<uint64_t> only) {
  SessionReader again(log.context, log.alone, "replaying");
  RS_RETURN_IF_ERROR(again.NextSession());
  SeenIdentities identities;
  RS_ASSIGN_OR_RETURN(ReplayedTrace replayed,
                      ReplayToTrace(log.context, again, choices, identities, only));
  RS_ASSIGN_OR_RETURN(TraceCheck check, Compare(log, std::move(replayed), identities));
  check.session = only;
  return check;
}

/// Of several of the service's sessions, the one that is most like the trace.
Result<TraceCheck> CheckBestOf(const CheckedLog& log, const std::vector<uint64_t>& sessions) {
  Result<TraceCheck> best =
      Fail(ErrorCode::kUsage, "the trace is of none of the log's sessions", {log.trace, {}, {}});
  for (const uint64_t session : sessions) {
    Result<TraceCheck> check = CheckAgain(log, log.choices, session);
    if (!check && check.error().code != ErrorCode::kUsage) return check;
    if (!check) continue;
    if (!best || check->diff.counts.matched > best->diff.counts.matched) best = std::move(check);
    if (best->Same()) break;
  }
  return best;
}

}  // namespace

Result<TraceCheck> CheckWithTrace(Context& context, SessionReader& sessions,
                                  const ReplayChoices& choices, const std::string& trace,
                                  size_t listed) {
  RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a comparison with a trace"));
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(trace));
  RS_ASSIGN_OR_RETURN(const ReplayOutput written,
                      InFile(trace, ReadTraceResults(std::move(source))));
  const CheckedLog log{context, sessions.SessionAlone(), choices, trace, written, listed};
  const bool is_clone = sessions.clone() != nullptr;
  SeenIdentities identities;
  RS_ASSIGN_OR_RETURN(ReplayedTrace replayed,
                      ReplayToTrace(context, sessions, choices, identities));
  // Standard input cannot be read again.
  if (is_clone || std::ranges::find(log.alone.paths, "-") != log.alone.paths.end())
    return Compare(log, std::move(replayed), identities);
  if (replayed.sessions.size() > 1) return CheckBestOf(log, replayed.sessions);
  // When the service reads for a file does not show in the log, but it does in the file.
  const ReadsUsed& reads = replayed.outcome.reads;
  const bool reads_are_known = !reads.assumed && reads.seen_in_file == 0;
  Result<TraceCheck> check = Compare(log, std::move(replayed), identities);
  if (reads_are_known || (check && check->Same())) return check;
  ReplayChoices like = choices;
  like.reads.like = trace;
  Result<TraceCheck> with_reads = CheckAgain(log, like, {});
  // Of a trace that has hardly a packet of this session, no reads can be found.
  return with_reads ? std::move(with_reads) : std::move(check);
}

}  // namespace ringscope
