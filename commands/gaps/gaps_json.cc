#include "commands/gaps/gaps_json.h"

#include <fmt/format.h>

#include "commands/gaps/gaps_words.h"
#include "commands/report/json.h"
#include "commands/report/table.h"
#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

Json SpanJson(const MomentSpan& span) {
  return {{"from_ns", span.first.time_ns},
          {"to_ns", span.last.time_ns},
          {"first_record", span.first.record},
          {"last_record", span.last.record}};
}

Json PlaceJson(const GapPlace& place) {
  return {{"chunk", place.chunk}, {"fragment", place.fragment}, {"offset", place.offset}};
}

Json UnusableJson(const UnusablePackets& unusable) {
  Json json = CountJson(unusable.count);
  json["from_ns"] = unusable.from_ns;
  json["to_ns"] = unusable.to_ns;
  json["reset"] = unusable.reset;
  return json;
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
          {"unusable", UnusableJson(packet.unusable)}};
}

Json RemediesJson(const GapRemedies& remedies) {
  return {{"buffer_size", remedies.buffer_size},
          {"read_period_ns", remedies.read_period_ns},
          {"separate_buffer_for",
           remedies.separate ? Json(ToString(remedies.separate->sequence)) : Json()},
          {"flush", remedies.flush},
          {"larger_shared_memory", remedies.larger_smb}};
}

Json GapJson(const Gap& gap, const SessionNotes& notes) {
  Json causes = Json::array(), contents = Json::array(), culprits = Json::array();
  for (const CauseCount& cause : gap.causes) {
    causes.push_back({{"fate", Name(cause.fate)},
                      {"cause", Name(cause.cause)},
                      {"own_fault", cause.own_fault},
                      {"packets", cause.count.packets},
                      {"bytes", cause.count.bytes},
                      {"text", CauseText(cause)}});
  }
  for (const ContentCount& content : gap.contents)
    contents.push_back({{"kind", ContentName(content.content)},
                        {"packets", content.count.packets},
                        {"bytes", content.count.bytes}});
  for (const SequenceShare& share : gap.culprits)
    culprits.push_back({{"sequence", ToString(share.sequence)}, {"bytes", share.bytes}});
  return {{"buffer", Raw(gap.buffer)},
          {"sequence", ToString(gap.sequence)},
          {"producer", ProducerText(notes, gap.sequence)},
          {"first", PlaceJson(gap.first)},
          {"last", PlaceJson(gap.last)},
          {"last_chunk", gap.last_chunk},
          {"packets", gap.lost.packets},
          {"bytes", gap.lost.bytes},
          {"own_fault", CountJson(gap.own_fault)},
          {"causes", std::move(causes)},
          {"content", std::move(contents)},
          {"written", SpanJson(gap.written)},
          {"lost", SpanJson(gap.sealed)},
          {"pushed_by", std::move(culprits)},
          {"pushed_by_others_bytes", gap.other_bytes},
          {"state_packets", gap.state_packets},
          {"sign", Name(gap.sign)},
          {"next", gap.next ? FlaggedJson(*gap.next) : Json()},
          {"remedies", RemediesJson(gap.remedies)}};
}

Json FatesJson(const std::array<FateCount, kFates>& by_fate) {
  Json fates = Json::object();
  for (size_t i = 0; i < kFates; ++i) fates[Name(static_cast<Fate>(i))] = CountJson(by_fate[i]);
  return fates;
}

Json BufferJson(const BufferGaps& buffer, const ShownGaps& selection) {
  const BufferOutcome* outcome = selection.BufferOf(buffer.id);
  return {{"buffer", Raw(buffer.id)},
          {"engine", outcome == nullptr ? Json() : Json(outcome->engine)},
          {"size", outcome == nullptr ? Json() : Json(outcome->size)},
          {"policy", outcome == nullptr ? Json() : Json(Name(outcome->policy))},
          {"written", CountJson(buffer.totals.written)},
          {"lost", CountJson(buffer.totals.lost())},
          {"own_fault", CountJson(buffer.totals.own_fault)},
          {"duplicates", CountJson(buffer.totals.duplicates)},
          {"fates", FatesJson(buffer.totals.by_fate)}};
}

Json SequenceJson(const SequenceGaps& sequence, const SessionNotes& notes) {
  return {{"buffer", Raw(sequence.buffer)},
          {"sequence", ToString(sequence.sequence)},
          {"producer", ProducerText(notes, sequence.sequence)},
          {"written", CountJson(sequence.written())},
          {"lost", CountJson(sequence.lost())},
          {"own_fault", CountJson(sequence.own_fault)},
          {"gaps", sequence.gaps.size() + sequence.unlisted_gaps},
          {"unusable", UnusableJson(sequence.unusable)},
          {"unusable_times", sequence.unusable_spans},
          {"producer_flags", sequence.producer_flags},
          {"producer_flags_hidden", sequence.hidden_flags},
          {"producer_bits", sequence.producer_bits},
          {"fates", FatesJson(sequence.by_fate)}};
}

Json FalseFlagJson(const SequenceGaps& sequence, const FalseFlag& flag) {
  Json json = {{"buffer", Raw(sequence.buffer)}, {"sequence", ToString(sequence.sequence)}};
  json.update(FlaggedJson(flag.packet));
  json["rule"] = Name(flag.rule);
  json["missing_chunks"] = flag.missing_chunks;
  json["text"] = RuleText(flag.rule);
  return json;
}

Json FtraceJson(const FtraceCpuLosses& cpu) {
  return {{"cpu", cpu.cpu},
          {"bundles", cpu.bundles},
          {"bundles_after_loss", cpu.bundles_after_loss},
          {"overrun", cpu.overrun},
          {"commit_overrun", cpu.commit_overrun},
          {"dropped_events", cpu.dropped_events}};
}

Json StaleJson(const StaleSequence& stale) {
  return {{"buffer", Raw(stale.buffer)},    {"sequence", ToString(stale.sequence)},
          {"packets", stale.packets},       {"stale", stale.stale},
          {"longest_ns", stale.longest_ns}, {"longest_chunk", stale.longest_chunk}};
}

std::string Line(const char* type, uint64_t session, const Json& json) {
  Json line = {{"type", type}, {"session", session}};
  line.update(json);
  return line.dump() + "\n";
}

template <typename T>
std::string CsvNumber(const std::optional<T>& value) {
  return value ? std::to_string(*value) : std::string();
}

/// Visits the gaps that are selected, own faults first.
template <typename Visit>
void VisitGaps(const ShownGaps& selection, Visit visit) {
  for (const Gap* gap : selection.own_fault) visit(*gap);
  for (const Gap* gap : selection.gaps) visit(*gap);
}

}  // namespace

Json GapsJson(const ShownGaps& selection, bool summary) {
  const SessionNotes& notes = selection.notes;
  Json json = {{"input", selection.outcome.path},
               {"session", selection.outcome.session},
               {"buffers", Json::array()},
               {"sequences", Json::array()}};
  for (const BufferGaps& buffer : selection.report.buffers)
    json["buffers"].push_back(BufferJson(buffer, selection));
  for (const SequenceGaps* sequence : selection.sequences)
    json["sequences"].push_back(SequenceJson(*sequence, notes));
  if (!summary) {
    json["gaps"] = Json::array();
    VisitGaps(selection, [&](const Gap& gap) { json["gaps"].push_back(GapJson(gap, notes)); });
    json["gaps_not_listed"] = selection.hidden + selection.unlisted;
    json["false_flags"] = Json::array();
    for (const auto& [sequence, flag] : selection.false_flags)
      json["false_flags"].push_back(FalseFlagJson(*sequence, *flag));
    json["flags_not_listed"] = selection.unlisted_flags;
  }
  json["ftrace"] = Json::array();
  for (const FtraceCpuLosses& cpu : selection.report.ftrace)
    json["ftrace"].push_back(FtraceJson(cpu));
  json["stale"] = Json::array();
  for (const StaleSequence& stale : selection.report.stale)
    json["stale"].push_back(StaleJson(stale));
  return json;
}

void PrintGapsJsonl(Console& console, const ShownGaps& selection, bool summary) {
  const uint64_t session = selection.outcome.session;
  const SessionNotes& notes = selection.notes;
  const auto print = [&](const char* type, const Json& json) {
    console.Print(Line(type, session, json));
  };
  for (const BufferGaps& buffer : selection.report.buffers)
    print("buffer", BufferJson(buffer, selection));
  for (const SequenceGaps* sequence : selection.sequences)
    print("sequence", SequenceJson(*sequence, notes));
  if (!summary) {
    VisitGaps(selection, [&](const Gap& gap) { print("gap", GapJson(gap, notes)); });
    for (const auto& [sequence, flag] : selection.false_flags)
      print("false_flag", FalseFlagJson(*sequence, *flag));
  }
  for (const FtraceCpuLosses& cpu : selection.report.ftrace) print("ftrace", FtraceJson(cpu));
  for (const StaleSequence& stale : selection.report.stale) print("stale", StaleJson(stale));
}

std::string LostPacketJsonl(const PacketAccount& account, uint64_t session) {
  Json json = {{"buffer", Raw(account.buffer)},
               {"sequence", ToString(account.sequence)},
               {"chunk", account.first_chunk},
               {"fragment", account.fragment},
               {"offset", account.first_offset},
               {"last_chunk", account.last_chunk},
               {"size", account.size},
               {"content", ContentName(account.facts.content)},
               {"timestamp", account.facts.timestamp},
               {"fate", Name(account.fate)},
               {"cause", Name(account.cause)},
               {"own_fault", account.own_fault},
               {"culprit", account.culprit ? Json(ToString(*account.culprit)) : Json()},
               {"written_ns", account.written.time_ns},
               {"written_record", account.written.record},
               {"lost_ns", account.decided.time_ns},
               {"lost_record", account.decided.record}};
  return Line("packet", session, json);
}

const char* const kGapsCsvTitles =
    "session,buffer,sequence,producer,first_chunk,first_fragment,last_chunk,packets,bytes,"
    "own_fault_packets,cause,content,written_from_ns,written_to_ns,lost_from_ns,lost_to_ns,"
    "top_culprit,top_culprit_bytes,pushed_bytes,sign,previous_packet_dropped,unusable_packets,"
    "buffer_size,read_period_ns\n";

void PrintGapsCsv(Console& console, const ShownGaps& selection) {
  VisitGaps(selection, [&](const Gap& gap) {
    const SequenceShare* top = gap.culprits.empty() ? nullptr : &gap.culprits.front();
    console.Print(fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
        selection.outcome.session, Raw(gap.buffer), ToString(gap.sequence),
        CsvText(ProducerText(selection.notes, gap.sequence)), gap.first.chunk, gap.first.fragment,
        gap.last_chunk, gap.lost.packets, gap.lost.bytes, gap.own_fault.packets,
        Name(gap.causes.front().cause), CsvText(ContentName(gap.contents.front().content)),
        CsvNumber(gap.written.first.time_ns), CsvNumber(gap.written.last.time_ns),
        CsvNumber(gap.sealed.first.time_ns), CsvNumber(gap.sealed.last.time_ns),
        top == nullptr ? "" : ToString(top->sequence), top == nullptr ? 0 : top->bytes,
        gap.pushed_bytes(), Name(gap.sign), gap.next ? gap.next->loss_bits : 0,
        gap.next ? gap.next->unusable.count.packets : 0, CsvNumber(gap.remedies.buffer_size),
        CsvNumber(gap.remedies.read_period_ns)));
  });
}

const char* const kLostPacketsCsvTitles =
    "session,buffer,sequence,chunk,fragment,last_chunk,size,content,fate,cause,own_fault,culprit,"
    "written_ns,written_record,lost_ns,lost_record\n";

std::string LostPacketCsv(const PacketAccount& account, uint64_t session) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", session,
                     Raw(account.buffer), ToString(account.sequence), account.first_chunk,
                     account.fragment, account.last_chunk, account.size,
                     CsvText(ContentName(account.facts.content)), Name(account.fate),
                     Name(account.cause), account.own_fault ? 1 : 0,
                     account.culprit ? ToString(*account.culprit) : "",
                     CsvNumber(account.written.time_ns), CsvNumber(account.written.record),
                     CsvNumber(account.decided.time_ns), CsvNumber(account.decided.record));
}

}  // namespace ringscope
