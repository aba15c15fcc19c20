#include "commands/session/replay_run.h"

#include <atomic>
#include <system_error>
#include <thread>

#include "commands/plugin/plugin.h"
#include "commands/session/session_view.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

/// Names the settings of a config that make producers or the service write otherwise, where they
/// are others than the session had.
std::vector<std::string> SettingsNotApplied(const TraceConfigFacts& had,
                                            const TraceConfigFacts& wanted) {
  std::vector<std::string> settings;
  const auto add = [&](bool differs, std::string setting) {
    if (differs) settings.push_back(std::move(setting));
  };
  add(had.flush_period_ms != wanted.flush_period_ms, "flush_period_ms");
  add(had.clear_period_ms != wanted.clear_period_ms, "incremental_state_config.clear_period_ms");
  add(had.duration_ms.value_or(0) != wanted.duration_ms.value_or(0), "duration_ms");
  add(had.producers != wanted.producers, "producers");
  for (size_t i = 0; i < wanted.sources.size(); ++i) {
    const ConfiguredSource& source = wanted.sources[i];
    const auto is_same = [&](const ConfiguredSource& one) { return one.own == source.own; };
    add(std::ranges::none_of(had.sources, is_same),
        fmt::format("data_sources[{}] ({})", i, Printable(source.name)));
  }
  return settings;
}

}  // namespace

void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names) {
  // An option [BUFFER=]VALUE, for a field of a buffer's choice.
  const auto add = [&](const std::string& name, const ValueType& type, const char* description,
                       auto field, auto parse) {
    const auto take = [&choices, field, parse](const std::string& text) -> Status {
      RS_ASSIGN_OR_RETURN(const auto split, SplitBufferValue(text));
      auto& value =
          (split.buffer ? choices.session.buffers[*split.buffer] : choices.session.all).*field;
      if (value)
        return Fail(ErrorCode::kUsage, "two values for the same buffer", {},
                    "leave one of them out");
      RS_ASSIGN_OR_RETURN(value, parse(split.value));
      return {};
    };
    AddTaken(app, name, take, type, description, Need::kRepeated);
  };
  InGroup(app, names.group);
  choices.session.find_engine = EnginesAndPlugins();
  add(names.engine, "[BUFFER=]ENGINE",
      "Buffer version to replay with (see 'ringscope engines'), or a plug-in's path like "
      "./libmybuffer.so (default: the log's, else v2)",
      &BufferChoice::engine, ParseEngineName);
  add(names.prefix + "size", "[BUFFER=]SIZE",
      "Buffer size, like 64k, 16MiB or 1.5G (default: the log's); for a log without its "
      "buffers, it also sets up the buffer",
      &BufferChoice::size, ParseBufferSize);
  add(names.prefix + "policy", PolicyType("[BUFFER=]"),
      "What a full buffer does: overwrite the oldest data, or refuse new data (default: the "
      "log's)",
      &BufferChoice::policy, ParsePolicy);
  AddParsed(app, names.prefix + "reads", choices.reads, ParseReads, ReadsType(),
            "When to read the buffers: where the log has read passes; once at the end; never; at "
            "multiples of a time like 5s and at the end; as the service reads a session that it "
            "writes into a file, with the config's period or this one; or so that the replay "
            "equals a trace that the service wrote into a file (default: recorded if the log has "
            "read passes, else streamed if the config has write_into_file, else end)");
  AddParsed(app, names.prefix + "protovm", choices.session.run_programs, ParseOnOff,
            ValueType({"on", "off"}),
            "Run the programs of data sources (ProtoVM): on or off (default: on)");
  if (names.config) AddText(app, "--config", choices.config, kFileType, kConfigToReplay);
}

std::string BuffersText(const ReplayOutcome& outcome) {
  std::vector<std::string> texts;
  for (const BufferOutcome& buffer : outcome.buffers)
    texts.push_back(fmt::format("buffers[{}] (id {})", buffer.index, Raw(buffer.id)));
  return Joined(texts);
}

Status ReplayInput::ChangeBuffers(const SessionReader& sessions) {
  const Recording& recording = sessions.recording();
  if (recorded_reads || recording.is_read_once() || !recording.parts().may_have_reads) return {};
  const auto is_enough = [](const SessionIndex& index) { return index.has_limited_reads; };
  RS_ASSIGN_OR_RETURN(const SessionIndex index, recording.Index(sessions.place(), is_enough));
  if (index.has_limited_reads) recorded_reads = std::make_shared<RecordedReads>();
  return {};
}

Status ReplayInput::Find(Context& context, const SessionReader& sessions) {
  const Recording& recording = sessions.recording();
  if (sessions.clone() != nullptr) clone = *sessions.clone();
  if (!choices.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(found, FindSessionReads(context, sessions, choices.reads.like));
  }
  for (const auto& [key, choice] : choices.session.buffers)
    if (choice.size) config.sizes[key] = *choice.size;
  const auto reads_as_recorded = [&] {
    return reads.mode == ReadsMode::kAuto || reads.mode == ReadsMode::kRecorded;
  };
  if (ChoosesBuffers(choices) && reads_as_recorded()) RS_RETURN_IF_ERROR(ChangeBuffers(sessions));
  if (choices.config.empty()) return {};
  RS_ASSIGN_OR_RETURN(ConfigFile file, ReadConfigFile(context, choices.config));
  config.config = std::move(file.bytes);
  config_text = std::move(file.text);
  const TraceConfigFacts wanted = ReadTraceConfigFacts(wire::AsBytes(config.config));
  if (wanted.buffers.empty())
    return Fail(ErrorCode::kUsage, "this trace config has no buffers", {choices.config, {}, {}},
                "name the config that the session was started with");
  config.expects_same_reads = recording.is_read_once() && choices.reads.mode == ReadsMode::kAuto;
  if (recording.is_read_once()) return {};
  const auto has_beginning = [](const SessionIndex& index) { return index.commits > 0; };
  RS_ASSIGN_OR_RETURN(const SessionIndex recorded,
                      recording.Index(sessions.place(), has_beginning));
  is_reconfigured = recorded.sets_up_buffers;
  bool reads_differ = recorded.sets_up_buffers && wanted.write_into_file && !recorded.streams;
  if (!recorded.config.empty()) {
    const TraceConfigFacts had = ReadTraceConfigFacts(wire::AsBytes(recorded.config));
    reads_differ = ReadsDiffer(had, wanted);
    not_applied = SettingsNotApplied(had, wanted);
  }
  if (reads.mode == ReadsMode::kAuto && reads_differ)
    reads.mode = wanted.write_into_file ? ReadsMode::kStreamed : ReadsMode::kEnd;
  if (reads_as_recorded()) RS_RETURN_IF_ERROR(ChangeBuffers(sessions));
  if (!clone) return {};
  RS_ASSIGN_OR_RETURN(auto all, recording.Records(sessions.place()));
  RS_ASSIGN_OR_RETURN(const SessionIndex changed, IndexSession(*Records(std::move(all))));
  for (const CloneFacts& facts : changed.clones)
    if (facts.clone == clone->clone)
      clone->buffers.insert(facts.buffers.begin(), facts.buffers.end());
  return {};
}

TaskRunner TasksOnCores(const Context& context) {
  const size_t most = context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  return [most](size_t count, const std::function<void(size_t)>& task) {
    std::atomic<size_t> next = 0;
    const auto run = [&] {
      for (size_t i = next++; i < count; i = next++) task(i);
    };
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(most, count)) others.emplace_back(run);
    } catch (const std::system_error&) {
      // Fewer threads do the rest.
    }
    run();
  };
}

Result<SweepInput> SweepInputOf(Context& context, const SessionReader& session,
                                const ReplayInput& changes, const char* activity) {
  SweepInput input;
  input.clone = changes.clone;
  input.open = [&changes, open = session.Again(activity)]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(auto ops, open());
    return changes.Records(std::move(ops));
  };
  input.find_engine = changes.choices.session.find_engine;
  input.run_tasks = TasksOnCores(context);
  RS_ASSIGN_OR_RETURN(const SessionIndex index, session.recording().Index(session.place()));
  input.has_reads = index.has_reads;
  input.is_reconfigured = changes.is_reconfigured;
  return input;
}

Result<ReplayOutcome> ReplayRun::ToEnd() {
  path_ = sessions_.path();
  std::vector<ReplayListener*> listeners = {this};
  LedgerSinks sinks(sinks_);
  Ledger ledger(sinks);
  if (keeps_accounts_) listeners.push_back(&ledger);
  listeners.insert(listeners.end(), listeners_.begin(), listeners_.end());

  ReplayOptions options = choices_;
  options.has_reads = HasReadsIn(sessions_);
  RS_RETURN_IF_ERROR(InFile(path_, input_.Find(context_, sessions_)));
  options.session.clone = input_.clone;
  options.is_reconfigured = input_.is_reconfigured;
  options.reads = input_.reads;
  CountedReplay replay(std::move(options), std::move(listeners));
  const auto records = input_.Records(static_cast<OpSource&>(sessions_));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(InFile(path_, replay.Apply(*op, sessions_.record_number())));
  }
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome, InFile(path_, replay.Finish()));
  outcome.path = path_;
  outcome.session = sessions_.session();
  outcome.is_only_session = sessions_.is_only_session();
  if (const std::optional<FoundReads>& found = input_.found) {
    outcome.reads.like = choices_.reads.like;
    outcome.reads.like_packets = found->packets;
    outcome.reads.like_explained = found->explained;
  }
  outcome.reads.not_applied = input_.not_applied;
  WarnOf(outcome);
  if (keeps_accounts_) {
    totals_ = ledger.totals();
    if (const std::string problems = ledger.Check(); !problems.empty())
      context_.console.Warn(fmt::format("{}: {}", path_, problems));
  }
  return outcome;
}

void ReplayRun::OnWarning(const std::string& text) {
  context_.console.Warn(fmt::format("{}: {}", path_, Printable(text)));
}

void ReplayRun::WarnOf(const ReplayOutcome& outcome) {
  if (outcome.buffers.empty() && outcome.service.chunks_discarded > 0)
    OnWarning(
        "the log does not have its buffers, so nothing can be replayed: name the session's trace "
        "config with --config, or its buffers with --size 'buffers[0]=SIZE'");
  if (!sessions_.reports_verdicts())
    WarnOfInexact(context_.console, outcome.path, outcome.verdicts);
  for (const auto& [key, choice] : choices_.session.buffers)
    if (std::ranges::none_of(outcome.buffers, [&key = key](const BufferOutcome& buffer) {
          return key.Names(buffer.id, buffer.index);
        }))
      OnWarning(fmt::format(
          "there is no buffer '{}', so the options for it change nothing{}", ToString(key),
          outcome.buffers.empty() ? "" : fmt::format(" (buffers: {})", BuffersText(outcome))));
}

HasReads HasReadsIn(const SessionReader& sessions) {
  if (sessions.recording().is_read_once()) return {};
  return [&recording = sessions.recording(), place = sessions.place()]() -> Result<bool> {
    if (!recording.parts().may_have_reads) return false;
    const auto is_enough = [](const SessionIndex& index) { return index.has_reads; };
    return recording.Index(place, is_enough).map(&SessionIndex::has_reads);
  };
}

Result<FoundReads> FindSessionReads(Context& context, const SessionReader& sessions,
                                    const std::string& trace) {
  if (sessions.recording().is_read_once() || trace == "-")
    return Fail(ErrorCode::kUsage,
                "the reads of a trace cannot be found in standard input, which can be read once",
                {}, "write it to a file, and name that");
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, trace));
  if (input.kind != InputKind::kTrace && !ContentWords(input.start).empty())
    return tl::unexpected<Error>(
        WrongContent(input.start, trace, "a trace", "expected a .pftrace"));
  RS_ASSIGN_OR_RETURN(const auto file, InFile(trace, ReadWrittenFile(std::move(input.source))));
  RS_RETURN_IF_ERROR(ExpectPayload(sessions, "a comparison with a trace"));
  const auto open = [&] {
    return sessions.recording().Records(
        sessions.place(), nullptr,
        std::make_shared<ConsoleReporter>(context.console, "finding the reads of", true));
  };
  RS_ASSIGN_OR_RETURN(FoundReads found, FindReads(open, EnginesAndPlugins(), file));
  if (found.packets > 0 && found.explained == 0)
    return Fail(ErrorCode::kUsage,
                "no choice of reads returns even the first packet of this trace: it is not what "
                "the service wrote for this session",
                {trace, {}, {}}, "name the file that the session was written into");
  return found;
}

void ListFields(JsonFieldWriter& io, const ReadsUsed& used) {
  io("mode", used.mode, "assumed", used.assumed);
  if (used.mode == ReadsMode::kEvery || used.mode == ReadsMode::kStreamed)
    io("period_ns", used.period_ns);
  if (used.mode == ReadsMode::kStreamed) io("alignment_assumed", used.alignment_assumed);
  io("added_passes", used.added_passes);
  if (used.recorded_end_unknown) io("recorded_end_unknown", true);
  io("empty_reads", used.empty_reads);
  if (used.seen_in_file > 0) io("seen_in_file", used.seen_in_file);
  if (used.exceeded_file_bytes > 0) io("exceeded_file_bytes", used.exceeded_file_bytes);
  io("left_out", used.left_out);
  io.UnlessEmpty("not_applied", used.not_applied);
  if (!used.like.empty())
    io("like", used.like, "like_packets", used.like_packets, "like_explained", used.like_explained);
}

void ReportFoundReads(Report& report, const FoundReads& found, uint64_t first_record) {
  // Record numbers in the file.
  const auto number = [&](uint64_t count) {
    return count == 0 ? std::nullopt : std::optional(first_record + count - 1);
  };
  Json reads = Json::array();
  for (const FoundRead& read : found.reads)
    reads.push_back(JsonOf("read", reads.size() + 1, "after_record", number(read.after), "earliest",
                           number(read.earliest), "latest", number(read.latest), "packets",
                           read.packets, "time_ns", read.time_ns));
  Json json = JsonOf("packets", found.packets, "explained", found.explained, "from_events",
                     found.from_events, "replays", found.replays, "has_stats", found.has_stats,
                     "different_stats", found.different_stats);
  if (const auto& packet = found.unexplained)
    json["unexplained"] = JsonOf("packet", packet->packet, "sequence_id", packet->sequence_id,
                                 "read", packet->read + 1, "why", packet->why);
  json["reads"] = std::move(reads);
  report.Data("found_reads", std::move(json));
  std::string text;
  if (const auto& packet = found.unexplained) {
    text = fmt::format(
        "{} of {} explained. The first that no choice of reads explains is packet {} of sequence "
        "{} "
        "in the trace, in read {}: {}.",
        WithCommas(found.explained), Count(found.packets, "packet"), WithCommas(packet->packet),
        packet->sequence_id, packet->read + 1, RowOf(packet->why).text);
  } else {
    text = fmt::format("With {} the replay equals the trace: {}.",
                       Count(found.reads.size(), "read"), Count(found.packets, "packet"));
    if (!found.different_stats.empty())
      text += fmt::format(" These of the statistics at its end differ: {}.",
                          Joined(found.different_stats));
    else if (found.has_stats)
      text += " The statistics at its end are equal, too.";
  }
  if (!found.from_events)
    text +=
        " The trace lacks the service's events at the end of reads, so the reads were searched "
        "near the multiples of its period.";
  report.Paragraph("\n" + text);
}

}  // namespace ringscope
