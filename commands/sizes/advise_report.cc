#include "commands/sizes/advise_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"
#include "core/remedies/advice_plan.h"

namespace ringscope {
namespace {

constexpr size_t kTopSequences = 5;

Json NamesOf(const std::vector<SequenceKey>& sequences) {
  Json names = Json::array();
  for (const SequenceKey key : sequences) names.push_back(ToString(key));
  return names;
}

Table SequenceTable(const AdviceReport& report, const std::vector<AdviceSequence>& sequences) {
  const AdviceFacts& facts = report.facts;
  uint64_t all = 0;
  for (const AdviceSequence& sequence : facts.sequences) all += sequence.space_bytes;
  Table table({{"sequence", Align::kLeft, "sequence"},
               {"producer"},
               {"buffer", Align::kRight, "buffer"},
               {"per second", Align::kRight},
               {"of all", Align::kRight},
               {"packets", Align::kRight, "packets"},
               {"lost", Align::kRight, "lost"},
               DataColumn("unusable"),
               DataColumn("room_bytes"),
               DataColumn("first_ns"),
               DataColumn("last_ns"),
               {"mostly", Align::kLeft, "content"},
               DataColumn("name")});
  for (const AdviceSequence& sequence : sequences) {
    const AdviceProducer* producer = facts.Find(sequence.sequence.producer);
    const double seconds = static_cast<double>(facts.duration_ns) / 1e9;
    const uint64_t lost = sequence.lost.packets + sequence.lost_otherwise.packets;
    table.AddRow(
        {NameCell(ToString(sequence.sequence)),
         producer == nullptr ? "" : Printable(producer->name),
         NumberCell(Raw(sequence.buffer)),
         seconds == 0 ? "-"
                      : HumanSize(static_cast<uint64_t>(static_cast<double>(sequence.space_bytes) /
                                                        seconds)),
         ShareText(sequence.space_bytes, all),
         CountCell(sequence.written.packets),
         {ShareText(lost, sequence.written.packets), lost},
         DataCell(sequence.unusable),
         DataCell(sequence.space_bytes),
         DataCell(sequence.first_ns),
         DataCell(sequence.last_ns),
         {Printable(ContentText(sequence.content, sequence.kind)), ContentName(sequence.content)},
         DataCell(sequence.kind.empty() ? Json() : Json(sequence.kind))});
  }
  return table;
}

/// Those that took the most space.
void PrintTop(Report& out, const AdviceReport& report) {
  std::vector<AdviceSequence> top = report.facts.sequences;
  std::stable_sort(top.begin(), top.end(), [](const AdviceSequence& a, const AdviceSequence& b) {
    return a.space_bytes > b.space_bytes;
  });
  if (top.empty() || top.front().space_bytes == 0) return;
  const size_t more = top.size() - std::min(top.size(), kTopSequences);
  top.resize(top.size() - more);
  out.Print(SequenceTable(report, top), kBodyIndent);
  if (more > 0) out.Print(fmt::format("  and {} more\n", WithCommas(more)));
}

Table PredictionTable(const AdviceReport& report) {
  Table table({{"buffer", Align::kLeft, "buffer"},
               DataColumn("made_from", kInJson | kUnlessNull),
               {"size now", Align::kRight, "size_now", kInText | kInJson | kUnlessNull},
               {"then", Align::kRight, "size_then"},
               {"packets", Align::kRight, "packets"},
               {"lost now", Align::kRight, "lost_now"},
               {"then", Align::kRight, "lost_then"},
               {"reaches back now", Align::kRight, "history_now_ns"},
               {"then", Align::kRight, "history_then_ns"}});
  for (const PredictedBuffer& one : PredictionOf(report.facts, report.findings)) {
    // How far back a buffer reaches at the end means little if it discards or is read periodically.
    const bool any =
        one.written > 0 && one.policy == FillPolicy::kRingBuffer && !report.findings.reads.periodic;
    const auto history = [any](uint64_t ns) -> Cell { return {any ? HumanDuration(ns) : "-", ns}; };
    table.AddRow({{one.made_from ? fmt::format("{}, from {}", Raw(one.id), Raw(*one.made_from))
                                 : std::to_string(Raw(one.id)),
                   Raw(one.id)},
                  DataCell(one.made_from ? Json(Raw(*one.made_from)) : Json()),
                  {one.size_now ? HumanSize(*one.size_now) : "-", one.size_now},
                  BytesCell(one.size_then),
                  CountCell(one.written),
                  CountCell(one.lost_now),
                  CountCell(one.lost_then),
                  history(one.history_now_ns),
                  history(one.history_then_ns)});
  }
  return table;
}

void ReportHeading(Report& out, const AdviceReport& report) {
  const AdviceFacts& facts = report.facts;
  const AdviceFindings& findings = report.findings;
  out.Data({{"log", report.name},
            {"session", report.session},
            {"duration_ns", facts.duration_ns},
            {"is_trace", facts.is_trace},
            {"recorder_gaps", facts.recorder_gaps},
            {"wanted",
             {{"keep_ns", findings.wish.keep_ns.value_or(facts.duration_ns)},
              {"memory", findings.wish.memory},
              {"memory_now", facts.TotalSize()},
              {"extrapolated", findings.extrapolated}}},
            {"reads",
             {{"mode", Name(report.reads.mode)},
              {"assumed", report.reads.assumed},
              {"alignment_assumed", report.reads.alignment_assumed},
              {"periodic", findings.reads.periodic},
              {"period_ns", findings.reads.period_ns},
              {"planned_period_ns", findings.period_ns}}},
            {"to_do", AnyToDo(report.advice)}});
  if (report.clone) out.Data("clone", *report.clone);
  AddInexact(out, report.verdicts);
  out.Title(Printable(report.name),
            fmt::format("session {}{}: {}, {}, {}{}", report.session,
                        report.clone ? fmt::format(", clone {}", *report.clone) : "",
                        HumanDuration(facts.duration_ns), Count(facts.buffers.size(), "buffer"),
                        Count(facts.sequences.size(), "sequence"),
                        facts.has_config ? "" : "; the log has no trace config"));
  if (report.cleared > 0) {
    out.Data("cleared_packets", report.cleared);
    out.Paragraph(
        fmt::format("Lost when a buffer was cleared for a clone, which no buffer size "
                    "changes (clear_before_clone does): {}.",
                    Count(report.cleared, "packet")));
  }
  if (facts.is_trace) {
    out.Paragraph(
        fmt::format("Based on a trace, by which no buffer lost data: its packets are replayed as "
                    "committed at their timestamps.{}",
                    facts.recorder_gaps == 0 ? ""
                                             : fmt::format(" It reports losses in {}, which no "
                                                           "buffer size changes.",
                                                           Count(facts.recorder_gaps, "place"))));
  } else if (facts.recorder_gaps > 0) {
    out.Print(fmt::format("The recording has {}. The real need can be larger.\n",
                          Count(facts.recorder_gaps, "gap")));
  }
}

void ReportItem(Report& out, const Advice& advice, const AdviceReport& report) {
  const std::string text = AdviceText(advice, report);
  out.Data({{"topic", Name(advice.topic)},
            {"kind", Name(advice.kind)},
            {"to_do", advice.to_do},
            {"text", text}});
  if (advice.buffer) out.Data("buffer", Raw(*advice.buffer));
  if (advice.producer) out.Data("producer", Raw(*advice.producer));
  if (!advice.data_source.empty()) out.Data("data_source", advice.data_source);
  if (!advice.sequences.empty()) out.Data("sequences", NamesOf(advice.sequences));
  Json numbers = Json::object();
  for (const auto& [name, value] : ListNumbers(advice.numbers)) numbers[name] = value;
  out.Data("numbers", std::move(numbers));
  out.Print(Wrap(text, advice.to_do ? "  ! " : "  - ") + "\n");
}

void ReportTopics(Report& out, const AdviceReport& report) {
  out.Data("advice", Json::array());
  for (size_t i = 0; i < kAdviceTopics; ++i) {
    const auto topic = static_cast<AdviceTopic>(i);
    const bool any = std::any_of(report.advice.begin(), report.advice.end(),
                                 [&](const Advice& advice) { return advice.topic == topic; });
    if (!any && topic != AdviceTopic::kCrowding) continue;
    out.Heading(AdviceHeading(topic));
    if (topic == AdviceTopic::kCrowding) PrintTop(out, report);
    for (const Advice& advice : report.advice)
      if (advice.topic == topic) out.AddItem("advice", [&] { ReportItem(out, advice, report); });
  }
}

}  // namespace

void PrintConfig(Report& out, const std::string& config) {
  for (size_t at = 0, end = 0; at < config.size(); at = end) {
    end = std::min(config.find('\n', at), config.size() - 1) + 1;
    out.Print(std::string(kBodyIndent, ' ') + config.substr(at, end - at));
  }
}

void ReportAdvice(Report& out, const AdviceReport& report) {
  const AdviceFindings& findings = report.findings;
  ReportHeading(out, report);
  if (out.is_text() && (report.facts.buffers.empty() || report.facts.sequences.empty()))
    return out.Print("\nNothing was written to any buffer: nothing to advise.\n");
  out.Paragraph("reads: " + ReadsText(report.reads));
  if (const std::string notes = ReadsNotes(report.reads); !notes.empty()) out.Paragraph(notes);
  out.Paragraph("wanted: " + WishText(report));
  if (findings.extrapolated && !findings.reads.periodic) {
    out.Paragraph(fmt::format(
        "The log lasts only {}: sizes for {} are extrapolated from it, not "
        "verified by a replay.",
        HumanDuration(report.facts.duration_ns), HumanDuration(*findings.wish.keep_ns)));
  }
  ReportTopics(out, report);
  out.Data("sequences", SequenceTable(report, report.facts.sequences).ToJson());
  Json splits = Json::array();
  for (const PlannedSplit& split : findings.splits) {
    splits.push_back(
        {{"from", Raw(split.from)}, {"to", Raw(split.to)}, {"moved", NamesOf(split.chatty)}});
  }
  out.Data("splits", std::move(splits));
  const bool to_do = AnyToDo(report.advice);
  const std::string config = ConfigText(report);
  out.Data("config", config);
  out.Heading(to_do ? "Trace config" : "Nothing to do. The trace config as it is");
  PrintConfig(out, config);
  const Table prediction = PredictionTable(report);
  out.Data("predicted", prediction.ToJson());
  if (to_do)
    out.Section(report.facts.is_trace ? "With these buffers, by a replay of the trace"
                                      : "With these buffers, by an exact replay",
                prediction, kBodyIndent);
  uint64_t memory = 0;
  for (const PlannedBuffer& planned : findings.plan) memory += planned.size;
  out.Data("memory_planned", memory);
  if (memory != report.facts.TotalSize())
    out.Print(fmt::format("  Price: {} for all buffers, instead of {}.\n", HumanSize(memory),
                          HumanSize(report.facts.TotalSize())));
}

}  // namespace ringscope
