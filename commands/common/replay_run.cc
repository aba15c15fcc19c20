#include "commands/common/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/common/plugin.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

/// Counts for the outcome, writes the trace's packets, and passes warnings on.
class ReplayCounter : public ReplayListener {
 public:
  struct Tally {
    PacketCount read;
    uint64_t invalid = 0;
    PacketCount unread;  // what the buffer held at its end
  };

  ReplayCounter(Console& console, const std::string& path, TraceWriter* trace)
      : console_(console), path_(path), trace_(trace) {}

  Status OnPacket(const SessionPacket& packet) override {
    Tally& tally = tallies_[packet.buffer];
    tally.read += {1, packet.packet->size};
    if (!packet.valid) {
      ++tally.invalid;
      return {};
    }
    losses_.AddPacket(packet);
    return trace_ != nullptr ? trace_->AddPacket(packet) : Status{};
  }
  void OnDrainBegun(BufferId buffer) override { tallies_[buffer].unread = {}; }
  void OnDrainPacket(BufferId buffer, const Packet& packet) override {
    tallies_[buffer].unread += {1, packet.size};
  }
  void OnWarning(const std::string& text) override {
    console_.Warn(fmt::format("{}: {}", path_, Printable(text)));
  }

  Tally TallyOf(BufferId buffer) const {
    const auto entry = tallies_.find(buffer);
    return entry == tallies_.end() ? Tally() : entry->second;
  }
  const LossAnalysis& losses() const { return losses_; }

 private:
  Console& console_;
  const std::string path_;
  TraceWriter* const trace_;
  std::map<BufferId, Tally> tallies_;
  LossAnalysis losses_;
};

/// The trace gets the records that the service writes into it as they are.
Status AddServiceRecord(const Op& op, TraceWriter& trace) {
  if (const auto* config = std::get_if<TraceConfigRecord>(&op.body))
    return trace.AddTraceConfig(wire::AsBytes(config->config));
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
    return trace.AddClockSnapshot(wire::AsBytes(snapshot->snapshot));
  return {};
}

uint64_t Held(const BufferStats& stats) {
  const uint64_t gone = stats.bytes_overwritten + stats.bytes_read;
  return stats.bytes_written > gone ? stats.bytes_written - gone : 0;
}

BufferOutcome OutcomeOf(const SessionBuffer& buffer, const ReplayCounter& counter) {
  BufferOutcome outcome;
  outcome.id = buffer.id;
  outcome.index = buffer.index;
  outcome.engine = buffer.info->name;
  outcome.size = buffer.requested_size;
  outcome.policy = buffer.policy;
  outcome.freed = buffer.freed;
  outcome.stats = buffer.engine->stats();
  const ReplayCounter::Tally tally = counter.TallyOf(buffer.id);
  outcome.read = tally.read;
  outcome.invalid = tally.invalid;
  return outcome;
}

void WarnOfUnusedChoices(Console& console, const std::string& path, const ReplayChoices& choices,
                         const std::map<BufferId, SessionBuffer>& buffers) {
  for (const auto& [id, choice] : choices.session.buffers) {
    if (buffers.contains(id)) continue;
    std::string known;
    for (const auto& [known_id, buffer] : buffers)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", Raw(known_id));
    console.Warn(fmt::format("{}: there is no buffer {}, so the options for it change nothing{}",
                             path, Raw(id),
                             known.empty() ? "" : fmt::format(" (buffers: {})", known)));
  }
}

}  // namespace

ReplayOptions ToReplayOptions(const ReplayChoices& choices) {
  ReplayOptions options;
  options.session = choices.session;
  options.reads = choices.reads.mode;
  options.every_ns = choices.reads.every_ns;
  options.pass_bytes = choices.pass_bytes;
  return options;
}

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
  choices.session.find_engine = EnginesAndPlugins();
  add(names.engine, "[BUFFER=]ENGINE",
      "Buffer version to replay with (see 'ringscope engines'), or a plug-in's path like "
      "./libmybuffer.so (default: the log's, else v2)",
      [](BufferChoice& choice, std::string_view text) -> Status {
        // A plug-in is loaded where it is needed: its faults are no mistakes of the command line.
        RS_RETURN_IF_ERROR(CheckEngineName(text));
        choice.engine = std::string(text);
        return {};
      });
  add(names.prefix + "size", "[BUFFER=]SIZE",
      "Buffer size, like 64k, 16MiB or 1.5G (default: the log's)",
      [](BufferChoice& choice, std::string_view text) -> Status {
        RS_ASSIGN_OR_RETURN(choice.size, ParseSize(text));
        return {};
      });
  add(names.prefix + "policy", "[BUFFER=]ring_buffer|discard",
      "What a full buffer does: overwrite the oldest data, or refuse new data (default: the "
      "log's)",
      [](BufferChoice& choice, std::string_view text) -> Status {
        RS_ASSIGN_OR_RETURN(choice.policy, ParsePolicy(text));
        return {};
      });
  AddParsed(app, names.prefix + "reads", choices.reads, ParseReads, "recorded|end|none|every=TIME",
            "When to read the buffers: where the log has read passes, once at the end, never, or "
            "at multiples of a time like 5s and at the end (default: recorded if the log has read "
            "passes, else end)");
  AddParsed(app, names.prefix + "pass-bytes", choices.pass_bytes, ParseSize, "SIZE",
            "Bytes after which a read pass stops: 32KiB for a consumer, 1MiB for a file (default: "
            "the limit in the record, else none)");
}

void AddSplitOption(CLI::App& app, std::vector<SplitRule>& splits) {
  AddParsedList(app, "--split", splits, ParseSplit, "SEQ=BUFFER",
                "Move what a sequence (PRODUCER:WRITER) or a whole PRODUCER writes into another "
                "buffer; if there is none with this id, it is made with the same size");
}

void WarnOfUnusedSplits(Console& console, const std::string& path,
                        const std::vector<SplitRule>& unused) {
  for (const SplitRule& rule : unused) {
    const std::string who =
        rule.writer ? fmt::format("sequence {}", ToString(SequenceKey{rule.producer, *rule.writer}))
                    : fmt::format("producer {}", Raw(rule.producer));
    console.Warn(fmt::format("{}: {} wrote nothing that could be moved to buffer {}", path, who,
                             Raw(rule.buffer)));
  }
}

Result<ReplayOutcome> ReplaySession(Context& context, SessionReader& sessions,
                                    const ReplayChoices& choices, const ReplayOutputs& outputs) {
  ReplayOptions options = ToReplayOptions(choices);
  options.plain_streams_as_recorded = outputs.events != nullptr;

  ReplayOutcome outcome;
  outcome.path = sessions.path();
  outcome.session = sessions.session();
  ReplayCounter counter(context.console, outcome.path, outputs.trace);
  std::vector<ReplayListener*> listeners = {&counter};
  if (outputs.events != nullptr) listeners.push_back(outputs.events);
  std::optional<Ledger> ledger;
  if (outputs.accounts != nullptr) listeners.push_back(&ledger.emplace(*outputs.accounts));
  listeners.insert(listeners.end(), outputs.listeners.begin(), outputs.listeners.end());
  Replay replay(std::move(options), std::move(listeners));
  SplitSource records(sessions, choices.splits);
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, records.Next());
    if (!op) break;
    if (std::holds_alternative<RecorderGap>(op->body)) ++outcome.recorder_gaps;
    if (outputs.trace != nullptr) RS_RETURN_IF_ERROR(AddServiceRecord(*op, *outputs.trace));
    if (Status status = replay.Apply(*op, sessions.record_number()); !status) {
      // The session does not know what file its records come from.
      if (status.error().where.path.empty()) status.error().where.path = outcome.path;
      return tl::unexpected(std::move(status).error());
    }
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  Session& session = replay.session();
  if (outputs.events != nullptr) {
    outputs.events->OnSessionEnd(session.buffers());
    RS_RETURN_IF_ERROR(outputs.events->Finish());
  }
  if (outputs.trace != nullptr) {
    RS_RETURN_IF_ERROR(outputs.trace->AddTraceStats(session));
    RS_RETURN_IF_ERROR(outputs.trace->Finish());
  }
  if (outcome.recorder_gaps > 0) {
    context.console.Warn(fmt::format("{}: the recording is not complete: it has {}", outcome.path,
                                     Count(outcome.recorder_gaps, "gap")));
  }
  WarnOfUnusedChoices(context.console, outcome.path, choices, session.buffers());
  WarnOfUnusedSplits(context.console, outcome.path, records.UnusedRules());

  outcome.records = replay.records();
  outcome.read_passes = replay.read_passes();
  outcome.first_time_ns = replay.first_time_ns();
  outcome.last_time_ns = replay.last_time_ns();
  outcome.service = session.stats();
  const std::map<BufferId, BufferLosses> losses = counter.losses().Result();
  for (const auto& [id, buffer] : session.buffers()) {
    if (outputs.histograms) {
      buffer.engine->VisitWriterStats([&, buffer_id = id](const WriterStats& writer) {
        outcome.writers.push_back({buffer_id, writer.sequence, *writer.histogram});
      });
    }
    BufferOutcome& result = outcome.buffers.emplace_back(OutcomeOf(buffer, counter));
    if (const auto loss = losses.find(id); loss != losses.end()) result.losses = loss->second;
  }
  RS_RETURN_IF_ERROR(replay.Drain());
  if (ledger) {
    if (outputs.totals != nullptr) *outputs.totals = ledger->totals();
    if (const std::string problems = ledger->Check(); !problems.empty())
      context.console.Warn(
          fmt::format("{}: the fates of the packets do not add up, which is a bug "
                      "in ringscope; please report it with the log: {}",
                      outcome.path, problems));
  }
  for (BufferOutcome& buffer : outcome.buffers) {
    buffer.unread = counter.TallyOf(buffer.id).unread;
    if (ledger) {
      const auto totals = ledger->totals().find(buffer.id);
      buffer.unread =
          totals == ledger->totals().end() ? PacketCount{} : totals->second[Fate::kReadable];
    }
    buffer.stuck_bytes = Held(session.buffers().at(buffer.id).engine->stats());
  }
  return outcome;
}

}  // namespace ringscope
