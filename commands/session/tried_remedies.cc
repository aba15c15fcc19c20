#include "commands/session/tried_remedies.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "formats/descriptors/changed_config.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const TriedOutcome& outcome) {
  io("written", outcome.written, "in_trace", outcome.in_trace, "lost", outcome.lost, "waiting",
     outcome.waiting);
}

void ListFields(JsonFieldWriter& io, const Remedy& remedy) {
  io("kind", remedy.kind, "buffer", remedy.buffer, "index", remedy.index, "data_sources",
     remedy.sources, "producer", remedy.producer, "size", remedy.size, "least_size",
     remedy.least_size, "period_ns", remedy.period_ns, "alternative", remedy.is_alternative,
     "concerned_packets", remedy.concerned, "more_memory", remedy.memory, "keep_ns", remedy.keep_ns,
     "reach_ns", remedy.reach_ns, "lost_now", remedy.now.lost, "now", remedy.now, "replayed",
     remedy.outcome, "estimate", remedy.formula, "changes", remedy.changes);
}

namespace {

/// The session's trace config as it was replayed, as text.
Result<std::string> ConfigOf(const ReplayRun& run, const ReplayOutcome& outcome) {
  const ReplayInput& input = run.input();
  std::string text = input.config_text;
  if (text.empty()) {
    const SessionReader& session = run.session();
    RS_ASSIGN_OR_RETURN(const SessionIndex recorded, session.recording().Index(session.place()));
    if (!recorded.config.empty()) text = ReusableConfig(wire::AsBytes(recorded.config));
  }
  std::vector<BufferOutcome> buffers = outcome.buffers;
  std::ranges::stable_sort(buffers, {}, &BufferOutcome::index);
  if (text.empty()) {
    for (const BufferOutcome& buffer : buffers)
      text += fmt::format(
          "buffers {{\n  size_kb: {}\n  fill_policy: {}\n{}}}\n", (buffer.size + 1023) / 1024,
          ConfigName(buffer.policy),
          buffer.engine.starts_with("v2") ? "  experimental_mode: TRACE_BUFFER_V2\n" : "");
    return text;
  }
  const Session::Options& choices = input.choices.session;
  std::vector<ConfigChange> changes;
  for (const BufferOutcome& buffer : buffers) {
    const BufferChoice choice = choices.ChoiceFor(buffer.id, buffer.index);
    const std::string path = fmt::format("buffers[{}].", buffer.index);
    if (choice.size)
      changes.push_back({path + "size_kb", std::to_string((buffer.size + 1023) / 1024), "", false});
    if (choice.policy)
      changes.push_back({path + "fill_policy", ConfigName(buffer.policy), "", false});
  }
  return ChangedConfig(text, changes);
}

}  // namespace

Result<SessionRemedies> RemediesOf(const ReplayRun& run, const ReplayOutcome& outcome,
                                   const GapReport& gaps, const SessionNotes& notes,
                                   std::optional<uint64_t> keep_ns) {
  SessionRemedies remedies;
  if (run.session().recording().is_read_once()) return remedies;
  RS_ASSIGN_OR_RETURN(const std::string text, ConfigOf(run, outcome));
  RemedyConfig config;
  config.with = [&](const std::vector<ConfigChange>& changes) {
    return Descriptors::BuiltIn().Encode("TraceConfig", ChangedConfig(text, changes), "the config");
  };
  RS_ASSIGN_OR_RETURN(const std::string bytes, config.with({}));
  config.facts = ReadTraceConfigFacts(wire::AsBytes(bytes));
  static_cast<RemedyList&>(remedies) = FindRemedies({gaps, outcome, notes, config.facts}, keep_ns);
  ReplayInput changes = run.input();
  if (!outcome.reads.left_nothing.empty())
    changes.recorded_reads =
        std::make_shared<RecordedReads>(RecordedReads{true, outcome.reads.left_nothing});
  if (outcome.reads.mode == ReadsMode::kRecorded)
    RS_RETURN_IF_ERROR(changes.ChangeBuffers(run.session()));
  RS_ASSIGN_OR_RETURN(SweepInput input,
                      SweepInputOf(run.context(), run.session(), changes, "trying remedies in"));
  for (const BufferOutcome& buffer : outcome.buffers) {
    input.facts.buffers[buffer.id] = {buffer.size, buffer.policy, buffer.index};
    input.facts.has_programs |= !buffer.vms.empty();
  }
  ReplayOptions own = run.input().choices;
  own.reads = run.input().reads;
  if (const Status tried = TryRemedies(input, own, config, remedies); !tried) {
    run.context().console.Warn(fmt::format("{}: no change of its trace config can be tried: {}",
                                           outcome.path, tried.error().ToString()));
    return SessionRemedies();
  }
  remedies.config = text;
  SetPresentValues(text, remedies.changes);
  for (Remedy& remedy : remedies.remedies) SetPresentValues(text, remedy.changes);
  return remedies;
}

}  // namespace ringscope
