#include "commands/gaps/gaps_words.h"
#include "commands/session/session_view.h"
#include "core/examine/remedies.h"

namespace ringscope {
void ListFields(JsonFieldWriter& io, const FateCounts& counts) {
  for (size_t i = 0; i < kFates; ++i) io(Name(static_cast<Fate>(i)), counts[i]);
}

void ListFields(JsonFieldWriter& io, const LedgerTotals& totals) {
  io("written", totals.written, "lost", totals.lost(), "own_fault", totals.own_fault, "duplicates",
     totals.duplicates, "fates", totals.by_fate);
}

void ListFields(JsonFieldWriter& io, const GapPlace& place) {
  io("chunk", place.chunk, "fragment", place.fragment, "offset", place.offset);
}

void ListFields(JsonFieldWriter& io, const MomentSpan& span) {
  io("from_ns", span.first.time_ns, "to_ns", span.last.time_ns, "first_record", span.first.record,
     "last_record", span.last.record);
}

void ListFields(JsonFieldWriter& io, const UnusablePackets& unusable) {
  ListFields(io, unusable.count);
  io("from_ns", unusable.from_ns, "to_ns", unusable.to_ns, "reset", unusable.reset);
}

void ListFields(JsonFieldWriter& io, const FlaggedPacket& packet) {
  std::vector<std::string> bits;
  for (const LossBitName& entry : kLossBitNames)
    if ((packet.loss_bits & entry.bit) != 0) bits.emplace_back(entry.name);
  io("at", packet.place, "previous_packet_dropped", packet.loss_bits, "bits", bits,
     "first_of_sequence", packet.first_of_sequence, "pass", packet.pass, "read_ns",
     packet.read.time_ns, "unusable", packet.unusable);
}

void ListFields(JsonFieldWriter& io, const std::pair<const FlagRule, FlagCount>& flags) {
  io("rule", flags.first, "packets", flags.second.packets, "first", flags.second.first, "text",
     RowOf(flags.first).text);
}

void ListFields(JsonFieldWriter& io, const MissingChunks& missing) {
  io("first_chunk", missing.first, "last_chunk", missing.last, "packets", std::optional<uint64_t>(),
     "before", missing.before, "after", missing.after, "cause",
     missing.reported ? "log_not_complete" : "never_committed", "sign", missing.sign, "loss_bits",
     missing.loss_bits, "sequence_forgotten", missing.forgotten);
}

void ListFields(JsonFieldWriter& io, const ReportedLoss& loss) {
  io("at", loss.at, "reason", loss.reason, "producer", loss.producer, "sequence", loss.sequence(),
     "records", loss.records, "bytes", loss.bytes, "from_ns", loss.from_ns, "to_ns", loss.to_ns);
}

void ListFields(JsonFieldWriter& io, const OpenStall& stall) {
  ListFields(io, stall.count);
  io("cause", stall.cause, "waits_for", stall.at, "since", stall.since, "patched", stall.patched);
}

void ListFields(JsonFieldWriter& io, const Stall& stall) {
  io("chunk", stall.chunk, "reason", stall.reason, "passes", stall.passes, "packets", stall.packets,
     "end", stall.end, "ended", stall.ended, "patched", stall.patched, "newer_bytes",
     stall.newer_size, "newer_by", stall.newer_by, "newer_by_bytes", stall.newer_by_size);
}

void ListFields(JsonFieldWriter& io, const WrongPatchAt& patch) {
  io("buffer", patch.buffer, "chunk", patch.chunk, "at", patch.at);
}

void ListFields(JsonFieldWriter& io, const SequenceGaps& gaps) {
  io("buffer", gaps.buffer, "sequence", gaps.sequence, "written", gaps.written(), "lost",
     gaps.lost(), "own_fault", gaps.own_fault, "gaps", gaps.gaps.size() + gaps.unlisted_gaps,
     "unusable", gaps.unusable, "unusable_times", gaps.unusable_spans, "producer_flags",
     gaps.producer_flags, "producer_flags_hidden", gaps.hidden_flags, "producer_bits",
     gaps.producer_bits, "producer_flags_after_abort", gaps.flags_after_abort, "missing_chunks",
     gaps.missing_chunks, "first_chunk", gaps.first_chunk, "fates", gaps.by_fate);
}

void ListFields(JsonFieldWriter& io, const EvictorCount& evictor) {
  io("sequence", evictor.sequence, "packets", evictor.packets);
}

void ListFields(JsonFieldWriter& io, const SequenceShare& share) {
  io("sequence", share.sequence, "bytes", share.bytes);
}

void ListFields(JsonFieldWriter& io, const CauseCount& cause) {
  io("fate", cause.fate, "cause", cause.cause, "own_fault", cause.own_fault);
  ListFields(io, cause.count);
  io("text", CauseText(cause));
}

void ListFields(JsonFieldWriter& io, const GapBlame& blame) {
  io("cause", blame.cause, "chunk", blame.chunk, "at", blame.at, "stall", blame.stall);
  ListFields(io, blame.count);
}

/// The look in which no chunk was free.
void ListFields(JsonFieldWriter& io, const smb::SeenMemory& full) {
  io("time_ns", full.time_ns, "being_written", full.counts.being_written, "being_read",
     full.counts.being_read, "held_back", full.held_back(), "waiting_for_service", full.committed,
     "writers", full.writers);
}

void ListFields(JsonFieldWriter& io, const AbortFacts& abort) {
  io("reason", abort.reason, "shared_memory", abort.smb_size, "packet_bytes", abort.packet_bytes,
     "committed_before_bytes", abort.window_bytes, "quiet_ns", abort.quiet_ns, "held_ns",
     abort.held_ns, "since_commit_ns", abort.since_commit_ns, "waiting_ns", abort.waiting_ns,
     "full_memory", abort.full);
}

void ListFields(JsonFieldWriter& io, const FtraceCpuLosses& cpu) {
  io("cpu", cpu.cpu, "bundles", cpu.bundles, "bundles_after_loss", cpu.bundles_after_loss,
     "first_loss_ns", cpu.first_loss_ns, "last_loss_ns", cpu.last_loss_ns, "overrun",
     cpu[FtraceCounter::kOverrun].delta(), "commit_overrun",
     cpu[FtraceCounter::kCommitOverrun].delta(), "dropped_events",
     cpu[FtraceCounter::kDroppedEvents].delta());
}

void ListFields(JsonFieldWriter& io, const LossCount& counted) {
  io("counter", counted.name, "count", counted.count);
}

void ListFields(JsonFieldWriter& io, const StaleSequence& stale) {
  io("buffer", stale.buffer, "sequence", stale.sequence, "packets", stale.packets, "stale",
     stale.stale, "longest_ns", stale.longest.delay_ns, "longest_chunk", stale.longest.chunk,
     "event_ns", stale.longest.time_ns, "cpu", stale.longest.cpu);
}

void ListFields(JsonFieldWriter& io, const SourceLosses& sum) {
  io("data_source", sum.source, "written", sum.written, "lost", sum.lost);
}

void ListFields(JsonFieldWriter& io, const ContentCount& content) {
  io("kind", ContentName(content.content));
  ListFields(io, content.count);
}

void ListFields(JsonFieldWriter& io, const Gap& gap) {
  io("buffer", gap.buffer, "sequence", gap.sequence, "first", gap.first, "last", gap.last,
     "last_chunk", gap.last_chunk);
  ListFields(io, gap.lost);
  io("places", gap.places);
  io("own_fault", gap.own_fault, "causes", gap.causes, "content", gap.contents, "written",
     gap.written, "lost", gap.decided, "evicted_by", gap.evicted_by, "evicted_by_others",
     gap.evicted_by_others, "state_packets", gap.state_packets, "sign", gap.sign, "next", gap.next,
     "blamed", gap.blamed, "abort", gap.abort);
}

namespace {

/// Columns of CSV: paths in the JSON of a gap.
constexpr std::string_view kGapColumns =
    "session buffer sequence producer first.chunk first.fragment last_chunk packets bytes "
    "own_fault.packets causes.0.cause content.0.kind written.from_ns written.to_ns lost.from_ns "
    "lost.to_ns evicted_by.0.sequence evicted_by.0.packets sign next.previous_packet_dropped "
    "next.unusable.packets remedy reads clone";

/// Appends a packet's fields to a line. There may be millions, so no document is made of them.
class RowWriter {
 public:
  RowWriter(std::string& line, RowPart part) : line_(line), part_(part) {}

  template <typename T, typename... More>
  void operator()(std::string_view key, const T& value, const More&... more) {
    if (part_ == RowPart::kMembers) (line_ += '"').append(key) += "\":";
    if (part_ == RowPart::kTitles)
      line_ += key;
    else
      Value(value);
    line_ += ',';
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }

 private:
  template <typename T>
  void Value(const T& value) {
    if constexpr (requires { value.has_value(); }) {
      if (value)
        Value(*value);
      else if (part_ == RowPart::kMembers)
        line_ += "null";
    } else if constexpr (NamedEnum<T>) {
      Value(Name(value));
    } else if constexpr (std::same_as<T, SequenceKey> || std::same_as<T, ChunkName>) {
      Value(ToString(value));
    } else if constexpr (std::same_as<T, BufferId>) {
      Value(Raw(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      fmt::format_to(std::back_inserter(line_), "{}", value);
    } else if (part_ == RowPart::kMembers) {
      AppendJsonString(line_, value);
    } else {
      line_ += CsvText(value);
    }
  }

  std::string& line_;
  const RowPart part_;
};

Json GapJson(const Gap& gap, const ShownGaps& selection) {
  Json json = FieldsToJson(gap);
  const std::optional<uint64_t> at_ns = gap.written.first.time_ns;
  json["producer"] = Printable(selection.notes.ProducerOf(gap.sequence, at_ns));
  json["title"] = selection.notes.NameOf(gap.sequence, at_ns);
  json["remedy"] = RemedyOf(gap, selection.examination.remedies);
  Json& names = json["names"] = Json::array();  // what packets of a content are about
  for (const ContentCount& kind : gap.kinds)
    names.push_back(JsonOf("kind", ContentName(kind.content), "name",
                           selection.kinds.NameOf(kind.kind), "packets", kind.count.packets,
                           "bytes", kind.count.bytes));
  return json;
}

/// A buffer with its totals: of the sequences that the filter selects.
Json BufferJson(const BufferGaps& gaps, const ShownGaps& selection) {
  const BufferOutcome* const outcome = selection.outcome.Find(gaps.id);
  Json json = outcome == nullptr
                  ? JsonOf("buffer", gaps.id, "index", Json(), "engine", Json(), "size", Json(),
                           "policy", Json())
                  : JsonOf("buffer", gaps.id, "index", outcome->index, "engine", outcome->engine,
                           "size", outcome->size, "policy", outcome->policy);
  json.update(FieldsToJson(gaps.totals));
  json.update(JsonOf("filled_by", gaps.filled_by, "filled_by_others_bytes", gaps.filled_by_others));
  return json;
}

/// Adds the sequence to a fact about it.
template <typename T>
Json InSequence(const SequenceGaps& sequence, const T& found) {
  Json json = JsonOf("buffer", sequence.buffer, "sequence", sequence.sequence);
  json.update(FieldsToJson(found));
  return json;
}

template <typename List, typename MakeJson>
Json JsonArray(const List& list, MakeJson make) {
  Json array = Json::array();
  for (const auto& each : list) array.push_back(make(each));
  return array;
}

}  // namespace

std::string JsonLine(const char* type, const ReplayOutcome& outcome, const Json& members) {
  Json line = JsonOf("type", type, "input", outcome.path, "session", outcome.session);
  if (outcome.clone) line["clone"] = *outcome.clone;
  line.update(members);
  return JsonText(line) + "\n";
}

void WriteGaps(Report& out, const ShownGaps& selection, bool lines) {
  const ReplayOutcome& outcome = selection.outcome;
  const auto write_one = [&](const char* key, const Json& object) {
    if (lines)
      out.Print(JsonLine(key, outcome, object));
    else
      out.Data(key, object);
  };
  const auto write = [&](const char* key, const char* type, const Json& objects) {
    if (!lines) return out.Data(key, objects);
    for (const Json& object : objects) out.Print(JsonLine(type, outcome, object));
  };
  const auto in_sequence = [](const auto& found) {
    return InSequence(*found.first, *found.second);
  };
  out.Data(JsonOf("input", outcome.path, "session", outcome.session, "nothing_lost",
                  !selection.any_loss && !selection.any_sign));
  if (outcome.clone) out.Data("clone", *outcome.clone);
  if (!selection.is_filtered)  // the answer is of all of the session
    write_one("answer", FieldsToJson(selection.examination.answer));
  write_one("stages", FieldsToJson(selection.stages()));
  write_one("reads", FieldsToJson(outcome.reads));
  if (!outcome.verdicts.empty()) write("inexact", "inexact", FieldsToJson(outcome.verdicts));
  if (const LossTimeline& over_time = selection.report.over_time; !lines && !over_time.empty()) {
    // By the time at which the packets were committed.
    std::vector<uint64_t> written, lost;
    for (const TimelineInterval& interval : over_time.intervals()) {
      written.push_back(interval.written);
      lost.push_back(interval.lost);
    }
    out.Data("over_time", JsonOf("first_ns", over_time.first_ns(), "interval_ns",
                                 over_time.interval_ns(), "written", written, "lost", lost));
  }
  write("buffers", "buffer", JsonArray(selection.report.buffers, [&](const BufferGaps& buffer) {
          return BufferJson(buffer, selection);
        }));
  write("sequences", "sequence", JsonArray(selection.sequences, [&](const SequenceGaps* sequence) {
          Json json = FieldsToJson(*sequence);
          json["producer"] = Printable(selection.notes.ProducerOf(sequence->sequence));
          json["title"] = selection.notes.NameOf(sequence->sequence);
          json["sequence_id"] = selection.notes.TraceIdOf(sequence->sequence);
          return json;
        }));
  write("data_sources", "data_source",
        FieldsToJson(LossesBySource(selection.sequences, selection.notes)));
  if (!selection.is_filtered) write("programs", "program", ProgramsJson(outcome));
  Json gaps = Json::array(), stalls = Json::array();
  selection.VisitGaps([&](const Gap& gap) { gaps.push_back(GapJson(gap, selection)); });
  for (const SequenceGaps* sequence : selection.sequences)
    if (sequence->stall) stalls.push_back(InSequence(*sequence, *sequence->stall));
  write("gaps", "gap", gaps);
  out.Data("gaps_not_listed", selection.unlisted);
  write("false_flags", "false_flag",
        FieldsToJson(std::vector(selection.false_flags.begin(), selection.false_flags.end())));
  out.Data("flags_not_listed", selection.unlisted_flags);
  write("missing_chunks", "missing_chunks", JsonArray(selection.missing, in_sequence));
  write("reported_losses", "reported_loss", FieldsToJson(selection.reported));
  write("counted_losses", "counted_loss", FieldsToJson(selection.counts));
  write("stalls", "stall", stalls);
  if (!lines) out.Data("remedies", FieldsToJson(selection.examination.remedies.remedies));
  write("wrong_patches", "wrong_patch", FieldsToJson(selection.report.wrong_patches));
  write("ftrace", "ftrace", FieldsToJson(FtraceLossesOf(selection.outcome.ftrace)));
  write("stale", "stale", FieldsToJson(selection.stale));
}

std::string CsvTitles(bool of_packets) {
  return of_packets ? PacketLine(RowPart::kTitles, {}, 0, {}, {}) : CsvTitles(kGapColumns);
}

std::string GapCsvRows(const ShownGaps& selection) {
  std::string rows;
  selection.VisitGaps([&](const Gap& gap) {
    Json json = GapJson(gap, selection);
    json["session"] = selection.outcome.session;
    json["reads"] = ReadsName(selection.outcome.reads);
    if (selection.outcome.clone) json["clone"] = *selection.outcome.clone;
    rows += CsvRow(kGapColumns, json);
  });
  return rows;
}

std::string PacketLine(RowPart part, const PacketAccount& packet, uint64_t session,
                       std::optional<uint64_t> clone, const std::string& kind) {
  std::string line = part == RowPart::kMembers ? "{\"type\":\"packet\"," : "";
  RowWriter write(line, part);
  write("session", session, "buffer", packet.buffer, "sequence", packet.sequence, "chunk",
        packet.first_chunk, "fragment", packet.fragment, "offset", packet.first_offset,
        "last_chunk", packet.last_chunk, "size", packet.size, "content",
        ContentName(packet.facts.content), "timestamp", packet.facts.timestamp, "fate", packet.fate,
        "cause", packet.cause, "own_fault", packet.own_fault, "culprit", packet.culprit,
        "written_ns", packet.written.time_ns, "written_record", packet.written.record, "lost_ns",
        packet.decided.time_ns, "lost_record", packet.decided.record, "clone", clone, "name",
        kind.empty() ? std::nullopt : std::optional(Printable(kind)));
  line.back() = part == RowPart::kMembers ? '}' : '\n';
  if (part == RowPart::kMembers) line += '\n';
  return line;
}

}  // namespace ringscope
