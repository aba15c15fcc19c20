#include "commands/session/trace_check.h"

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
      return Contains(trace.sequences, identity, &OutputSequence::identity);
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

/// A log, and the trace to compare it with.
struct CheckedLog {
  Context& context;
  ReplayChoices choices;
  const std::string& trace;
  const ReplayOutput& written;  // what the trace has
  size_t listed;
};

/// Replays the session that a reader is at as far as a trace, reads that, and compares.
Result<TraceCheck> Check(const CheckedLog& log, SessionReader& sessions) {
  RS_ASSIGN_OR_RETURN(const std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "the replayed trace"}));
  ReplayRun run(log.context, sessions, log.choices);
  auto& trace = run.Add<TraceWriter>(*file, sessions.clone_number());
  auto& view = run.Add<ServiceView>();
  TraceCheck check;
  RS_ASSIGN_OR_RETURN(check.outcome, run.ToEnd());
  RS_RETURN_IF_ERROR(trace.Finish());
  RS_ASSIGN_OR_RETURN(ReplayOutput output,
                      ReadTraceResults(OpenTemporary(file, "the replayed trace")));
  check.is_damaged = log.written.is_damaged;
  check.found = run.input().found;
  check.has_recorder_identity = view.Adopt(log.written, output);
  if (log.written.ends_within_read) check.cut_off = output.CutTo(log.written.packets);
  RS_ASSIGN_OR_RETURN(check.diff, InFile(log.trace, DiffOutputs(output, log.written, log.listed)));
  return check;
}

/// A session of the log, or a clone of it, whose trace it may be.
struct TraceOwner {
  SessionPlace place;
  std::optional<CloneFacts> clone;
};

/// @param sessions is at the first session @return its sessions and, of each, its clones
Result<std::vector<TraceOwner>> OwnersIn(SessionReader& sessions) {
  if (sessions.clone() != nullptr) {
    const TraceOwner owner{sessions.place(), *sessions.clone()};
    for (bool more = true; more;) {  // what is damaged is reported
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
      more = op.has_value();
    }
    RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "the session that the trace is of"));
    return std::vector{owner};
  }
  std::vector<TraceOwner> owners;
  for (bool more = true; more;) {
    SessionPlace place = sessions.place();
    RS_ASSIGN_OR_RETURN(const SessionIndex index, sessions.recording().Index(place));
    const size_t count = place.tracing ? 1 : std::max<size_t>(index.tracing.size(), 1);
    for (size_t i = 0; i < count; ++i, ++place.number) {
      if (count > 1) place.tracing = index.tracing[i];
      owners.push_back({place, {}});
      for (const CloneFacts& clone : index.clones)
        if (!clone.failed && (count == 1 || clone.session == place.tracing))
          owners.push_back({place, clone});
    }
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  return owners;
}

Result<TraceCheck> CheckOne(const CheckedLog& log, const SessionReader& sessions,
                            const TraceOwner& owner) {
  SessionReader again(sessions, owner.place, "replaying");
  RS_RETURN_IF_ERROR(again.NextSession());
  if (owner.clone) again.EndWith(*owner.clone);
  auto check = Check(log, again);
  if (!check) return check;
  check->outcome.session = owner.place.number;
  check->session = owner.place.tracing;
  return check;
}

/// When the service reads for a file does not show on its sockets, but it does in the file. Keeps
/// the reads that are closer to it: the recorded ones, or those that are found in the file.
void TryOtherReads(const CheckedLog& log, const SessionReader& sessions, const TraceOwner& owner,
                   TraceCheck& check) {
  const ReadsUsed& reads = check.outcome.reads;
  if (owner.clone || check.diff.Same() || log.choices.reads.mode != ReadsMode::kAuto ||
      (!reads.assumed && reads.seen_in_file == 0))
    return;
  CheckedLog like = log;
  like.choices.reads.like = log.trace;
  Result<TraceCheck> found = CheckOne(like, sessions, owner);
  if (!reads.assumed) check.searched_reads = true;
  // No reads can be found for a trace that has hardly a packet of this session.
  if (!found || !found->diff.IsCloserThan(check.diff)) return;
  if (!reads.assumed) found->recorded = check.diff.counts;
  found->searched_reads = check.searched_reads;
  check = *std::move(found);
}

}  // namespace

std::string CountsText(const DiffCounts& counts) {
  std::vector<std::string> parts;
  for (const auto& row : kEnumRows<DifferenceKind>) {
    const uint64_t count = counts[row.value];
    const bool is_of_packets =
        row.value != DifferenceKind::kPatch && row.value != DifferenceKind::kCounter;
    if (count > 0)
      parts.push_back(is_of_packets ? Count(count, "packet") + " " + row.text
                                    : Count(count, row.text));
  }
  return parts.empty() ? "no difference" : Joined(parts);
}

std::string ComparedText(const OutputDiff& diff, const Both<std::string>& words) {
  const std::string text =
      diff.Same() ? words.a : fmt::format("{}: {}", words.b, CountsText(diff.counts));
  if (diff.renamed_sequences == 0) return text;
  return fmt::format("{}, {} the ids of {} ({})", text, diff.Same() ? "but for" : "and",
                     Count(diff.renamed_sequences, "sequence"),
                     Count(diff.renamed_packets, "packet"));
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
  const CheckedLog log{context, choices, trace, written, listed};
  if (sessions.recording().is_read_once()) return Check(log, sessions);
  RS_ASSIGN_OR_RETURN(std::vector<TraceOwner> owners, OwnersIn(sessions));
  // The service's events show whether the trace is of a clone; without them it may be.
  const auto is_out = [&](const TraceOwner& one) {
    return owners.size() > 1 && written.is_clone && *written.is_clone != one.clone.has_value();
  };
  if (!std::ranges::all_of(owners, is_out)) std::erase_if(owners, is_out);
  Result<TraceCheck> best = Fail(ErrorCode::kUsage, "");
  const TraceOwner* chosen = nullptr;
  for (const TraceOwner& owner : owners) {
    Result<TraceCheck> check = CheckOne(log, sessions, owner);
    if (!check && (check.error().code != ErrorCode::kUsage || owners.size() == 1)) return check;
    if (!check || (best && !check->diff.IsCloserThan(best->diff))) continue;
    best = std::move(check);
    chosen = &owner;
    if (best->diff.Same()) break;
  }
  if (!best)
    return Fail(ErrorCode::kUsage, "the trace is of none of the log's sessions", {trace, {}, {}});
  TryOtherReads(log, sessions, *chosen, *best);
  return best;
}

}  // namespace ringscope
