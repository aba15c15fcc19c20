#include "commands/gaps/gaps_data.h"

#include "commands/gaps/gaps_words.h"
#include "commands/replays/log_answer.h"
#include "commands/replays/loss_words.h"
#include "commands/replays/program_words.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/view/answer_report.h"
#include "commands/view/json_fields.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

// The totals of a session.

struct GapsBuffer {
  BufferId buffer{};
  // Absent: the buffer was never set up.
  std::optional<std::string> engine;
  std::optional<uint64_t> size;
  std::optional<FillPolicy> policy;
  LedgerTotals totals;
};

struct GapsSequence : SequenceLosses {
  std::string producer;  // its name, fit for a terminal
  uint64_t gaps = 0;
};

struct GapsSession {
  std::string input;
  uint64_t session = 0;
  std::optional<uint64_t> clone;  // whose holder's view this is; absent: the session's own
  bool nothing_lost = true;       // and the log proves it
  std::vector<GapsBuffer> buffers;
  std::vector<GapsSequence> sequences;
  std::vector<FtraceCpuLosses> ftrace;
  std::vector<StaleSequence> stale;
};

template <typename Io>
void ListFates(Io& io, std::array<FateCount, kFates>& by_fate) {
  io.Object("fates", [&](auto& fates) {
    for (size_t i = 0; i < kFates; ++i) fates(Name(static_cast<Fate>(i)), by_fate[i]);
  });
}

template <typename Io>
void ListFields(Io& io, GapsBuffer& buffer) {
  io("buffer", buffer.buffer, "engine", buffer.engine, "size", buffer.size, "policy", buffer.policy,
     "written", buffer.totals.written);
  io.Derived("lost", buffer.totals.lost());
  io("own_fault", buffer.totals.own_fault, "duplicates", buffer.totals.duplicates);
  ListFates(io, buffer.totals.by_fate);
}

template <typename Io>
void ListFields(Io& io, UnusablePackets& unusable) {
  ListFields(io, unusable.count);
  io("from_ns", unusable.from_ns, "to_ns", unusable.to_ns, "reset", unusable.reset);
}

template <typename Io>
void ListFields(Io& io, GapsSequence& sequence) {
  io("buffer", sequence.buffer, "sequence", sequence.sequence, "producer", sequence.producer);
  io.Derived("written", sequence.written(), "lost", sequence.lost());
  io("own_fault", sequence.own_fault, "gaps", sequence.gaps, "unusable", sequence.unusable,
     "unusable_times", sequence.unusable_spans, "producer_flags", sequence.producer_flags,
     "producer_flags_hidden", sequence.hidden_flags, "producer_bits", sequence.producer_bits,
     "producer_flags_after_abort", sequence.flags_after_abort, "missing_chunks",
     sequence.missing_chunks, "first_chunk", sequence.first_chunk);
  ListFates(io, sequence.by_fate);
}

template <typename Io>
void ListFields(Io& io, FtraceCpuLosses& cpu) {
  io("cpu", cpu.cpu, "bundles", cpu.bundles, "bundles_after_loss", cpu.bundles_after_loss,
     "overrun", cpu.overrun, "commit_overrun", cpu.commit_overrun, "dropped_events",
     cpu.dropped_events);
}

template <typename Io>
void ListFields(Io& io, StaleSequence& stale) {
  io("buffer", stale.buffer, "sequence", stale.sequence, "packets", stale.packets, "stale",
     stale.stale, "longest_ns", stale.longest_ns, "longest_chunk", stale.longest_chunk);
}

namespace {

Json PlaceJson(const GapPlace& place) {
  return {{"chunk", place.chunk}, {"fragment", place.fragment}, {"offset", place.offset}};
}

Json FlaggedJson(const FlaggedPacket& packet) {
  Json bits = Json::array();
  for (const LossBitName& entry : kLossBitNames)
    if ((packet.loss_bits & entry.bit) != 0) bits.push_back(entry.name);
  return {{"at", PlaceJson(packet.place)},
          {"previous_packet_dropped", packet.loss_bits},
          {"bits", std::move(bits)},
          {"first_of_sequence", packet.first_of_sequence},
          {"pass", packet.pass},
          {"read_ns", packet.read.time_ns},
          {"unusable", FieldsToJson(packet.unusable)}};
}

Json FalseFlagJson(const SequenceGaps& sequence, const FalseFlag& flag) {
  Json json = {{"buffer", Raw(sequence.buffer)}, {"sequence", ToString(sequence.sequence)}};
  json.update(FlaggedJson(flag.packet));
  json.update({{"rule", Name(flag.rule)},
               {"missing_chunks", flag.missing_chunks},
               {"text", RuleText(flag.rule)}});
  return json;
}

Json ChunkNameJson(const std::optional<ChunkName>& chunk) {
  return chunk ? Json(ToString(*chunk)) : Json();
}

Json MissingJson(const SequenceGaps& sequence, const MissingChunks& missing) {
  return {{"buffer", Raw(sequence.buffer)},
          {"sequence", ToString(sequence.sequence)},
          {"first_chunk", missing.first},
          {"last_chunk", missing.last},
          {"packets", nullptr},  // nobody knows
          {"before", MomentJson(missing.before)},
          {"after", MomentJson(missing.after)},
          {"cause", missing.reported ? "log_not_complete" : "never_committed"},
          {"sign", Name(missing.sign)},
          {"loss_bits", missing.loss_bits},
          {"sequence_forgotten", missing.forgotten}};
}

Json ReportedJson(const ReportedLoss& loss) {
  return {{"at", MomentJson(loss.at)},
          {"reason", loss.reason},
          {"producer", loss.producer ? Json(Raw(*loss.producer)) : Json()},
          {"sequence", loss.sequence ? Json(ToString(*loss.sequence)) : Json()},
          {"loss_bits", loss.loss_bits},
          {"records", loss.records},
          {"bytes", loss.bytes},
          {"from_ns", loss.from_ns},
          {"to_ns", loss.to_ns}};
}

Json StallJson(const SequenceGaps& sequence) {
  const OpenStall& stall = *sequence.stall;
  return {{"buffer", Raw(sequence.buffer)},  {"sequence", ToString(sequence.sequence)},
          {"packets", stall.count.packets},  {"bytes", stall.count.bytes},
          {"cause", Name(stall.cause)},      {"waits_for", ChunkNameJson(stall.at)},
          {"since", MomentJson(stall.since)}};
}

/// The look in which no chunk was free.
Json FullMemoryJson(const AbortFacts& abort) {
  if (!abort.full) return {};
  const smb::SeenMemory& full = *abort.full;
  return {{"time_ns", full.time_ns},
          {"being_written", full.counts.being_written},
          {"being_read", full.counts.being_read},
          {"held_back", full.held_back()},
          {"waiting_for_service", full.committed},
          {"writers", full.writers},
          {"held_ns", abort.held_ns},
          {"since_commit_ns", abort.since_commit_ns},
          {"waiting_ns", abort.waiting_ns}};
}

Json AbortJson(const std::optional<AbortFacts>& abort) {
  if (!abort) return {};
  return {{"reason", Name(abort->reason)},       {"shared_memory", abort->smb_size},
          {"packet_bytes", abort->packet_bytes}, {"committed_before_bytes", abort->window_bytes},
          {"quiet_ns", abort->quiet_ns},         {"full_memory", FullMemoryJson(*abort)}};
}

Json BlamedJson(const Gap& gap) {
  Json blamed = Json::array();
  for (const GapBlame& blame : gap.blamed)
    blamed.push_back({{"cause", Name(blame.cause)},
                      {"chunk", ChunkNameJson(blame.chunk)},
                      {"at", MomentJson(blame.at)},
                      {"packets", blame.count.packets},
                      {"bytes", blame.count.bytes}});
  return blamed;
}

Json RemediesJson(const Gap& gap) {
  const GapRemedies& remedies = gap.remedies;
  return {{"buffer_size", remedies.buffer_size},
          {"read_period_ns", remedies.read_period_ns},
          {"separate_buffer_for",
           remedies.separate ? Json(ToString(remedies.separate->sequence)) : Json()},
          {"flush", remedies.flush},
          {"larger_shared_memory", remedies.larger_smb},
          {"no_buffer_size_helps", remedies.no_size_helps}};
}

/// Of the holder of that clone; null: of the session's own reader.
Json CloneJson(std::optional<uint64_t> clone) { return clone ? Json(*clone) : Json(); }

/// Packets written and lost in each interval, by the time at which they were committed.
Json OverTimeJson(const LossTimeline& timeline) {
  Json written = Json::array(), lost = Json::array();
  for (const TimelineInterval& interval : timeline.intervals()) {
    written.push_back(interval.written);
    lost.push_back(interval.lost);
  }
  return {{"first_ns", timeline.first_ns()},
          {"interval_ns", timeline.interval_ns()},
          {"written", std::move(written)},
          {"lost", std::move(lost)}};
}

std::vector<Cell> GapCells(const Gap& gap, const ShownGaps& selection) {
  Json causes = Json::array(), contents = Json::array(), culprits = Json::array();
  for (const CauseCount& cause : gap.causes) {
    causes.push_back({{"fate", Name(cause.fate)},
                      {"cause", Name(cause.cause)},
                      {"own_fault", cause.own_fault},
                      {"packets", cause.count.packets},
                      {"bytes", cause.count.bytes},
                      {"text", CauseText(cause)}});
  }
  for (const ContentCount& content : gap.contents) {
    Json named = Json::array();
    for (const KindCount& kind : gap.kinds) {
      if (kind.content == content.content)
        named.push_back({{"name", selection.kinds.NameOf(kind.kind)},
                         {"packets", kind.count.packets},
                         {"bytes", kind.count.bytes}});
    }
    contents.push_back({{"kind", ContentName(content.content)},
                        {"packets", content.count.packets},
                        {"bytes", content.count.bytes},
                        {"names", std::move(named)}});
  }
  for (const SequenceShare& share : gap.culprits)
    culprits.push_back({{"sequence", ToString(share.sequence)}, {"bytes", share.bytes}});
  Json evicted_by = Json::array();
  for (const EvictorCount& evictor : gap.evicted_by)
    evicted_by.push_back({{"sequence", ToString(evictor.sequence)}, {"packets", evictor.packets}});
  const EvictorCount* top = gap.evicted_by.empty() ? nullptr : &gap.evicted_by.front();
  return DataCells({selection.outcome.session,
                    Raw(gap.buffer),
                    ToString(gap.sequence),
                    ProducerText(selection.notes, gap.sequence),
                    gap.first.chunk,
                    gap.first.fragment,
                    gap.first.offset,
                    PlaceJson(gap.last),
                    gap.last_chunk,
                    gap.lost.packets,
                    gap.lost.bytes,
                    gap.own_fault.packets,
                    gap.own_fault.bytes,
                    Name(gap.causes.front().cause),
                    std::move(causes),
                    ContentName(gap.contents.front().content),
                    std::move(contents),
                    gap.written.first.time_ns,
                    gap.written.last.time_ns,
                    gap.written.first.record,
                    gap.written.last.record,
                    gap.decided.first.time_ns,
                    gap.decided.last.time_ns,
                    gap.decided.first.record,
                    gap.decided.last.record,
                    top == nullptr ? Json() : Json(ToString(top->sequence)),
                    top == nullptr ? 0 : top->packets,
                    gap.pushed_bytes(),
                    std::move(evicted_by),
                    gap.evicted_by_others,
                    std::move(culprits),
                    gap.other_bytes,
                    gap.state_packets,
                    Name(gap.sign),
                    gap.next ? gap.next->loss_bits : 0,
                    gap.next ? gap.next->unusable.count.packets : 0,
                    gap.remedies.buffer_size,
                    gap.remedies.read_period_ns,
                    gap.next ? FlaggedJson(*gap.next) : Json(),
                    BlamedJson(gap),
                    AbortJson(gap.abort),
                    RemediesJson(gap),
                    ReadsName(selection.outcome.reads),
                    CloneJson(selection.outcome.clone)});
}

std::string JsonLine(const char* type, uint64_t session, std::optional<uint64_t> clone,
                     const Json& members) {
  Json line = {{"type", type}, {"session", session}};
  if (clone) line["clone"] = *clone;
  line.update(members);
  return JsonText(line) + "\n";
}

/// Makes the totals of the buffers those of the sequences that the filter selects.
void SumSelected(GapsSession& session) {
  for (GapsBuffer& buffer : session.buffers) {
    buffer.totals = {};
    for (const GapsSequence& sequence : session.sequences) {
      if (sequence.buffer != buffer.buffer) continue;
      buffer.totals.written += sequence.written();
      buffer.totals.own_fault += sequence.own_fault;
      for (size_t i = 0; i < kFates; ++i) buffer.totals.by_fate[i] += sequence.by_fate[i];
    }
  }
}

GapsSession TotalsOf(const ShownGaps& selection) {
  GapsSession totals{.input = selection.outcome.path,
                     .session = selection.outcome.session,
                     .clone = selection.outcome.clone,
                     .nothing_lost = !selection.any_loss && !selection.any_sign,
                     .buffers = {},
                     .sequences = {},
                     .ftrace = selection.report.ftrace,
                     .stale = selection.stale};
  for (const BufferGaps& gaps : selection.report.buffers) {
    GapsBuffer& buffer = totals.buffers.emplace_back();
    buffer.buffer = gaps.id;
    buffer.totals = gaps.totals;
    if (const BufferOutcome* outcome = selection.BufferOf(gaps.id)) {
      buffer.engine = outcome->engine;
      buffer.size = outcome->size;
      buffer.policy = outcome->policy;
    }
  }
  for (const SequenceGaps* gaps : selection.sequences) {
    totals.sequences.push_back({{*gaps},
                                ProducerText(selection.notes, gaps->sequence),
                                gaps->gaps.size() + gaps->unlisted_gaps});
  }
  if (selection.is_filtered) SumSelected(totals);
  return totals;
}

}  // namespace

std::string ReadsJsonl(const ReadsUsed& used, uint64_t session, std::optional<uint64_t> clone) {
  return JsonLine("reads", session, clone, ReadsJson(used));
}

void WriteGaps(Report& out, const ShownGaps& selection, bool summary, bool lines) {
  const GapsSession totals = TotalsOf(selection);
  const auto write = [&](const char* key, const char* type, const Json& objects) {
    if (!lines) return out.Data(key, objects);
    for (const Json& object : objects)
      out.Print(JsonLine(type, totals.session, totals.clone, object));
  };
  out.Data({{"input", totals.input},
            {"session", totals.session},
            {"nothing_lost", totals.nothing_lost}});
  if (totals.clone) out.Data("clone", *totals.clone);
  if (!selection.is_filtered) {  // the answer is of all of the session
    const Answer answer =
        AnswerOf(selection.report, selection.outcome, selection.notes, selection.remedies);
    if (lines)
      out.Print(JsonLine("answer", totals.session, totals.clone, FieldsToJson(answer)));
    else
      out.Data("answer", FieldsToJson(answer));
  }
  if (lines)
    out.Print(ReadsJsonl(selection.outcome.reads, totals.session, totals.clone));
  else
    out.Data("reads", ReadsJson(selection.outcome.reads));
  if (!selection.outcome.verdicts.empty())
    write("inexact", "inexact", VerdictsJson(selection.outcome.verdicts));
  if (!lines && !selection.report.over_time.empty())
    out.Data("over_time", OverTimeJson(selection.report.over_time));
  write("buffers", "buffer", FieldsToJson(totals.buffers));
  write("sequences", "sequence", FieldsToJson(totals.sequences));
  if (!selection.is_filtered) write("programs", "program", ProgramsJson(selection.outcome));
  if (!summary) {
    Table gaps = GapTable();
    AddGaps(selection, gaps);
    write("gaps", "gap", gaps.ToJson());
    out.Data("gaps_not_listed", selection.hidden + selection.unlisted);
    Json flags = Json::array();
    for (const auto& [sequence, flag] : selection.false_flags)
      flags.push_back(FalseFlagJson(*sequence, *flag));
    write("false_flags", "false_flag", flags);
    out.Data("flags_not_listed", selection.unlisted_flags);
    Json missing = Json::array(), reported = Json::array(), counted = Json::array(),
         stalls = Json::array();
    for (const auto& [sequence, chunks] : selection.missing)
      missing.push_back(MissingJson(*sequence, *chunks));
    for (const ReportedLoss* loss : selection.reported) reported.push_back(ReportedJson(*loss));
    for (const CounterRise* rise : selection.counted) counted.push_back(RiseJson(*rise));
    for (const SequenceGaps* sequence : selection.sequences)
      if (sequence->stall) stalls.push_back(StallJson(*sequence));
    write("missing_chunks", "missing_chunks", missing);
    write("reported_losses", "reported_loss", reported);
    write("counted_losses", "counted_loss", counted);
    write("stalls", "stall", stalls);
    if (!lines) out.Data("remedies", RemediesJson(selection.remedies));
    Json names = Json::array();
    for (const LostName& name : selection.names)
      names.push_back({{"thing", Name(name.thing)},
                       {"id", name.id},
                       {"name", name.name},
                       {"buffer", Raw(name.buffer)},
                       {"chunk", ToString(name.chunk)}});
    write("lost_names", "lost_name", names);
  }
  write("ftrace", "ftrace", FieldsToJson(totals.ftrace));
  write("stale", "stale", FieldsToJson(totals.stale));
}

Table GapTable() {
  return Table({DataColumn("session", kInCsv),
                DataColumn("buffer"),
                DataColumn("sequence"),
                DataColumn("producer"),
                DataColumn("first.chunk"),
                DataColumn("first.fragment"),
                DataColumn("first.offset", kInJson),
                DataColumn("last", kInJson),
                DataColumn("last_chunk"),
                DataColumn("packets"),
                DataColumn("bytes"),
                DataColumn("own_fault.packets"),
                DataColumn("own_fault.bytes", kInJson),
                DataColumn("cause", kInCsv),
                DataColumn("causes", kInJson),
                DataColumn("content", kInCsv),
                DataColumn("content", kInJson),
                DataColumn("written.from_ns"),
                DataColumn("written.to_ns"),
                DataColumn("written.first_record", kInJson),
                DataColumn("written.last_record", kInJson),
                DataColumn("lost.from_ns"),
                DataColumn("lost.to_ns"),
                DataColumn("lost.first_record", kInJson),
                DataColumn("lost.last_record", kInJson),
                DataColumn("top_evictor", kInCsv),
                DataColumn("top_evictor_packets", kInCsv),
                DataColumn("pushed_bytes", kInCsv),
                DataColumn("evicted_by", kInJson),
                DataColumn("evicted_by_others", kInJson),
                DataColumn("pushed_by", kInJson),
                DataColumn("pushed_by_others_bytes", kInJson),
                DataColumn("state_packets", kInJson),
                DataColumn("sign"),
                DataColumn("previous_packet_dropped", kInCsv),
                DataColumn("unusable_packets", kInCsv),
                DataColumn("buffer_size", kInCsv),
                DataColumn("read_period_ns", kInCsv),
                DataColumn("next", kInJson),
                DataColumn("blamed", kInJson),
                DataColumn("abort", kInJson),
                DataColumn("remedies", kInJson),
                DataColumn("reads", kInCsv),
                DataColumn("clone", kInCsv)});
}

void AddGaps(const ShownGaps& selection, Table& table) {
  for (const Gap* gap : selection.own_fault) table.AddRow(GapCells(*gap, selection));
  for (const Gap* gap : selection.gaps) table.AddRow(GapCells(*gap, selection));
}

}  // namespace ringscope
