#include "commands/replays/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/plugin/plugin.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/threads/listener_thread.h"

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

Status RefuseSecond(bool is_second) {
  if (!is_second) return {};
  return Fail(ErrorCode::kUsage, "two values for the same buffer", {}, "leave one of them out");
}

}  // namespace

void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names) {
  const auto choice_of = [&choices](std::optional<BufferId> buffer) -> BufferChoice& {
    return buffer ? choices.session.buffers[*buffer] : choices.session.all;
  };
  /// An option [BUFFER=]VALUE whose value `set` puts into a buffer's choice.
  const auto add = [&app, choice_of](const std::string& name, const char* type,
                                     const char* description,
                                     Status (*set)(BufferChoice&, std::string_view)) {
    const auto take = [=](const std::string& text) -> Status {
      RS_ASSIGN_OR_RETURN(const auto split, SplitBufferValue(text));
      return set(choice_of(split.buffer), split.value);
    };
    AddTakenList(app, name, take, type, description);
  };
  InGroup(app, names.group);
  const auto plugins = names.plugins ? names.plugins : std::make_shared<PluginRun>();
  choices.session.find_engine = EnginesAndPlugins(plugins);
  add(names.engine, "[BUFFER=]ENGINE",
      "Buffer version to replay with (see 'ringscope engines'), or a plug-in's path like "
      "./libmybuffer.so (default: the log's, else v2)",
      [](BufferChoice& choice, std::string_view text) -> Status {
        RS_RETURN_IF_ERROR(RefuseSecond(choice.engine.has_value()));
        // A plug-in is loaded where it is needed: its errors are not usage errors.
        RS_RETURN_IF_ERROR(CheckEngineName(text));
        choice.engine = std::string(text);
        return {};
      });
  add(names.prefix + "size", "[BUFFER=]SIZE",
      "Buffer size, like 64k, 16MiB or 1.5G (default: the log's); for a log without its "
      "buffers, it also sets up the buffer",
      [](BufferChoice& choice, std::string_view text) -> Status {
        RS_RETURN_IF_ERROR(RefuseSecond(choice.size.has_value()));
        RS_ASSIGN_OR_RETURN(choice.size, ParseBufferSize(text));
        return {};
      });
  add(names.prefix + "policy", "[BUFFER=]ring_buffer|discard",
      "What a full buffer does: overwrite the oldest data, or refuse new data (default: the "
      "log's)",
      [](BufferChoice& choice, std::string_view text) -> Status {
        RS_RETURN_IF_ERROR(RefuseSecond(choice.policy.has_value()));
        RS_ASSIGN_OR_RETURN(choice.policy, ParsePolicy(text));
        return {};
      });
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
  if (names.plugins) return;
  AddPluginOptions(app, *plugins);
  InGroup(app, names.group);
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

std::optional<CloneView> CloneOf(const SessionReader& sessions,
                                 const std::vector<RetargetRule>& splits) {
  if (sessions.clone() == nullptr) return std::nullopt;
  CloneView view = *sessions.clone();
  for (const RetargetRule& rule : splits) view.buffers.insert(rule.buffer);
  return view;
}

Result<ReplayOutcome> ReplaySession(Context& context, SessionReader& sessions,
                                    const ReplayChoices& choices,
                                    const ReplayFollowers& followers) {
  Console& console = context.console;
  const std::string path = sessions.path();
  Warnings warnings(console, path);
  std::vector<ReplayListener*> listeners = {&warnings};
  TapePlayer player(followers.ledger, followers.listeners);
  std::unique_ptr<TapeRunner> runner;
  std::optional<TapeRecorder> apart;
  if (const auto threads = ListenerThreads(context); followers.apart && threads) {
    runner = threads(player);
    listeners.push_back(&apart.emplace(player, *runner));
  } else {
    listeners.insert(listeners.end(), player.listeners().begin(), player.listeners().end());
  }
  ReplayOptions options = choices;
  options.session.clone = CloneOf(sessions, choices.splits);
  options.ahead = LookAheadIn(context, sessions.SessionAlone());
  options.moves_sequences = !choices.splits.empty();
  std::unique_ptr<InsertedReads> with_reads;
  std::optional<FoundReads> found;
  if (!choices.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(found, InFile(path, FindSessionReads(context, sessions.SessionAlone(),
                                                             choices.reads.like)));
    with_reads = std::make_unique<InsertedReads>(sessions, found->reads);
  }
  CountedReplay replay(std::move(options), std::move(listeners));
  RS_ASSIGN_OR_RETURN(UnrecordedBuffers unrecorded, UnrecordedOf(context, choices));
  AddedBuffers with_buffers(with_reads ? static_cast<OpSource&>(*with_reads) : sessions,
                            std::move(unrecorded));
  RetargetSource records(with_buffers, choices.splits, ReleasesIn(choices.session));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records.Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(InFile(path, replay.Apply(*op, sessions.record_number())));
  }
  RS_ASSIGN_OR_RETURN(ReplayOutcome outcome, InFile(path, replay.Finish(followers.histograms)));
  if (apart) RS_RETURN_IF_ERROR(InFile(path, apart->Finish()));
  outcome.path = path;
  outcome.session = sessions.session();
  if (found) {
    outcome.reads.like = choices.reads.like;
    outcome.reads.like_packets = found->packets;
    outcome.reads.like_explained = found->explained;
    if (followers.found != nullptr) *followers.found = std::move(found);
  }
  if (outcome.buffers.empty() && outcome.service.chunks_discarded > 0)
    console.Warn(
        fmt::format("{}: the log does not have its buffers, so nothing can be replayed: name "
                    "the session's trace config with --config, or a buffer with --size "
                    "BUFFER=SIZE",
                    path));
  if (!sessions.reports_verdicts()) WarnOfInexact(console, path, outcome.verdicts);
  WarnOfUnusedChoices(console, path, choices, outcome.buffers);
  WarnOfUnusedSplits(console, path, records.UnusedRules());
  if (followers.ledger != nullptr)
    if (const std::string problems = followers.ledger->Check(); !problems.empty())
      console.Warn(fmt::format("{}: {}", path, problems));
  return outcome;
}

}  // namespace ringscope
