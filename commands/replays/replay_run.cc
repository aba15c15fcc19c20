#include "commands/replays/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "commands/plugin/plugin.h"
#include "commands/replays/parallel_tasks.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// A plug-in is loaded where it is needed: its errors are not usage errors.
Result<std::string> ParseEngineName(std::string_view text) {
  RS_RETURN_IF_ERROR(CheckEngineName(text));
  return std::string(text);
}

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

void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names) {
  // An option [BUFFER=]VALUE, for a field of a buffer's choice.
  const auto add = [&](const std::string& name, const char* type, const char* description,
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
    AddTakenList(app, name, take, type, description);
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
  add(names.prefix + "policy", "[BUFFER=]ring_buffer|discard",
      "What a full buffer does: overwrite the oldest data, or refuse new data (default: the "
      "log's)",
      &BufferChoice::policy, ParsePolicy);
  AddParsed(app, names.prefix + "reads", choices.reads, ParseReads, kReadsType,
            "When to read the buffers: where the log has read passes; once at the end; never; at "
            "multiples of a time like 5s and at the end; as the service reads a session that it "
            "writes into a file, with the config's period or this one; or so that the replay "
            "equals a trace that the service wrote into a file (default: recorded if the log has "
            "read passes, else streamed if the config has write_into_file, else end)");
  AddParsed(app, names.prefix + "protovm", choices.session.programs, ParsePrograms, "on|off|SIZE",
            "Run the programs of data sources (ProtoVM): on, off, or with this memory limit "
            "instead of the config's (default: on)");
  AddParsed(app, names.prefix + "pass-bytes", choices.pass_bytes, ParseSize, "SIZE",
            "Bytes after which a read pass stops: 32KiB for a consumer, 1MiB for a file (default: "
            "the limit in the record, else none)");
  if (names.config) AddConfig(app, choices.config, choices.descriptor, kConfigOfUnrecorded);
}

Result<UnrecordedBuffers> UnrecordedOf(Context& context, const ReplayChoices& choices) {
  UnrecordedBuffers buffers;
  for (const auto& [id, choice] : choices.session.buffers)
    if (choice.size) buffers.sizes[id] = *choice.size;
  if (choices.config.empty()) return buffers;
  RS_ASSIGN_OR_RETURN(const ConfigFile config,
                      ReadConfigFile(context, choices.config, choices.descriptor));
  buffers.config = ReadTraceConfigFacts(wire::AsBytes(config.bytes)).buffers;
  buffers.trace_config = config.bytes;
  if (buffers.config.empty())
    return Fail(ErrorCode::kUsage, "this trace config has no buffers", {choices.config, {}, {}},
                "name the config that the session was started with");
  return buffers;
}

void AddSplitOption(CLI::App& app, std::vector<RetargetRule>& splits) {
  AddParsedList(app, "--split", splits, ParseSplit, "SEQ=BUFFER",
                "Move what a sequence (PRODUCER:WRITER) or a whole PRODUCER writes into another "
                "buffer; if there is none with this id, it is made with the same size");
}

void WarnOfUnusedSplits(Console& console, const std::string& path,
                        const std::vector<RetargetRule>& unused) {
  for (const RetargetRule& rule : unused) {
    const std::string who =
        rule.writer ? fmt::format("sequence {}", ToString(SequenceKey{rule.producer, *rule.writer}))
                    : fmt::format("producer {}", Raw(rule.producer));
    console.Warn(
        fmt::format("{}: nothing of {} was moved to buffer {}: it wrote nothing, or only to "
                    "that buffer",
                    path, who, Raw(rule.buffer)));
  }
}

std::optional<CloneFacts> CloneOf(const SessionReader& sessions,
                                  const std::vector<RetargetRule>& splits) {
  if (sessions.clone() == nullptr) return std::nullopt;
  CloneFacts view = *sessions.clone();
  for (const RetargetRule& rule : splits) view.buffers.insert(rule.buffer);
  return view;
}

Status ReplayInput::Find(Context& context, const SessionSelection& session) {
  if (!choices.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(found, FindSessionReads(context, session, choices.reads.like));
  }
  RS_ASSIGN_OR_RETURN(unrecorded, UnrecordedOf(context, choices));
  return {};
}

SweepInput SweepInputOf(Context& context, const SessionReader& session, const ReplayInput& changes,
                        const char* activity) {
  SweepInput input;
  input.clone = CloneOf(session, changes.choices.splits);
  SessionSelection again = session.SessionAlone();
  if (session.clone() != nullptr) again.view = *session.clone();
  input.open = [&context, &changes, again, activity]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(auto ops, OpenSession(context, again, activity));
    return changes.Records(std::move(ops));
  };
  input.find_engine = changes.choices.session.find_engine;
  input.run_tasks = TasksOnCores(context);
  input.ahead = LookAheadIn(context, session.SessionAlone());
  return input;
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
  // Without a look ahead nothing is known.
  if (const SessionSelection alone = sessions_.SessionAlone(); !alone.IsReadOnce())
    options.ahead = LookAheadIn(context_, alone);
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
