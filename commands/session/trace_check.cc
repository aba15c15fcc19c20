#include "commands/session/trace_check.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "commands/session/session_reader.h"
#include "commands/shell/input.h"
#include "commands/shell/text.h"
#include "formats/inputs/open_log.h"
#include "formats/io/output_file.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

/// Gathers as whom the service saw the producers of a log.
class ServiceView : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment&) override {
    const auto* const producer = std::get_if<ProducerConnected>(&op.body);
    if (producer == nullptr) return;
    Seen& seen = producers_.emplace_back(Seen{{producer->uid, producer->pid}, {}});
    if (producer->seen_pid)
      seen.by_service = Identity{producer->seen_uid.value_or(producer->uid), *producer->seen_pid};
  }

  /// Gives the sequences of `replay` the identity that the service saw, where only this one is in
  /// the trace. @return true if there are any
  bool Adopt(const ReplayOutput& trace, ReplayOutput& replay) const {
    const auto has = [&](const Identity& identity) {
      return std::ranges::find(trace.sequences, identity, &OutputSequence::identity) !=
             trace.sequences.end();
    };
    // If the log lacks it, all producers came through one process, which is none of them.
    std::optional<Identity> only;
    if (!trace.sequences.empty()) only = trace.sequences.front().identity;
    for (const OutputSequence& sequence : trace.sequences)
      if (only && sequence.identity != *only) only.reset();
    bool any = false;
    for (const Seen& producer : producers_) {
      const std::optional<Identity> seen = producer.by_service ? producer.by_service : only;
      if (!seen || has(producer.own) || !has(*seen)) continue;
      for (OutputSequence& sequence : replay.sequences)
        if (sequence.identity == producer.own) sequence.identity = *seen;
      any = true;
    }
    return any;
  }

 private:
  struct Seen {
    Identity own;
    std::optional<Identity> by_service;  // where it differs
  };
  std::vector<Seen> producers_;
};

/// A log, as a reader of sessions is at it, and the trace to compare it with.
struct CheckedLog {
  Context& context;
  const SessionReader& sessions;
  const std::string& trace;
  const ReplayOutput& written;  // what the trace has
  const size_t listed;
};

/// Replays a log as far as a trace, reads that, and compares.
Result<TraceCheck> Check(const CheckedLog& log, SessionReader& sessions,
                         const ReplayChoices& choices) {
  RS_ASSIGN_OR_RETURN(const std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "the replayed trace"}));
  ReplayRun run(log.context, sessions, choices);
  auto& trace = run.Add<TraceWriter>(
      *file, sessions.clone() == nullptr ? std::nullopt : std::optional(sessions.clone()->clone));
  auto& view = run.Add<ServiceView>();
  TraceCheck check;
  RS_ASSIGN_OR_RETURN(check.outcome, run.ToEnd());
  RS_RETURN_IF_ERROR(trace.Finish());
  RS_ASSIGN_OR_RETURN(ReplayOutput output,
                      ReadTraceResults(OpenTemporary(file, "the replayed trace")));
  check.is_damaged = log.written.is_damaged;
  check.found = run.found();
  check.has_recorder_identity = view.Adopt(log.written, output);
  RS_ASSIGN_OR_RETURN(check.diff, InFile(log.trace, DiffOutputs(output, log.written, log.listed)));
  return check;
}

Result<TraceCheck> CheckAgain(const CheckedLog& log, const ReplayChoices& choices,
                              std::optional<uint64_t> session) {
  SessionPlace place = log.sessions.place();
  if (session) place.tracing = session;
  SessionReader again(log.sessions, place, "replaying");
  RS_RETURN_IF_ERROR(again.NextSession());
  auto check = Check(log, again, choices);
  if (check) check->session = session;
  return check;
}

/// Of several tracing sessions, checks the one that is most like the trace.
Result<TraceCheck> CheckBestOf(const CheckedLog& log, const ReplayChoices& choices,
                               const std::vector<uint64_t>& sessions) {
  Result<TraceCheck> best =
      Fail(ErrorCode::kUsage, "the trace is of none of the log's sessions", {log.trace, {}, {}});
  for (const uint64_t session : sessions) {
    Result<TraceCheck> check = CheckAgain(log, choices, session);
    if (!check && check.error().code != ErrorCode::kUsage) return check;
    if (!check) continue;
    if (!best || check->diff.counts.matched > best->diff.counts.matched) best = std::move(check);
    if (best->Same()) break;
  }
  return best;
}

}  // namespace

std::string CountsText(const DiffCounts& counts) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    const auto kind = static_cast<DifferenceKind>(i);
    if (counts[kind] == 0) continue;
    const bool is_of_packets = kind != DifferenceKind::kPatch && kind != DifferenceKind::kCounter;
    parts.push_back(is_of_packets
                        ? Count(counts[kind], "packet") + " " + kEnumRows<DifferenceKind>[i].text
                        : Count(counts[kind], kEnumRows<DifferenceKind>[i].text));
  }
  return parts.empty() ? "no difference" : Joined(parts);
}

Result<ReplayOutput> ReadTraceOutput(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, path));
  std::vector<Damage> damage;
  auto output = InFile(path, ReadTraceResults(std::move(input.source), &damage));
  WarnOfDamage(context.console, path, damage, damage.size());
  if (output) output->is_damaged = !damage.empty();
  return output;
}

Result<TraceCheck> CheckWithTrace(Context& context, SessionReader& sessions,
                                  const ReplayChoices& choices, const std::string& trace,
                                  size_t listed) {
  RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a comparison with a trace"));
  RS_ASSIGN_OR_RETURN(const ReplayOutput written, ReadTraceOutput(context, trace));
  const CheckedLog log{context, sessions, trace, written, listed};
  Result<TraceCheck> check = Check(log, sessions, choices);
  if (sessions.clone() != nullptr || sessions.recording().is_read_once()) return check;
  if (sessions.tracing_sessions().size() > 1)
    return CheckBestOf(log, choices, sessions.tracing_sessions());
  if (choices.reads.mode != ReadsMode::kAuto) return check;
  // When the service reads for a file does not show in the log, but it does in the file.
  if (check &&
      (check->Same() || (!check->outcome.reads.assumed && check->outcome.reads.seen_in_file == 0)))
    return check;
  ReplayChoices like = choices;
  like.reads.like = trace;
  Result<TraceCheck> with_reads = CheckAgain(log, like, {});
  // Of a trace that has hardly a packet of this session, no reads can be found.
  return with_reads ? std::move(with_reads) : std::move(check);
}

}  // namespace ringscope
