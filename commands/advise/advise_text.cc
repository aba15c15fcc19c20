#include <fmt/format.h>

#include <algorithm>

#include "commands/advise/advise_report.h"
#include "commands/report/table.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

constexpr size_t kColumns = 98;
constexpr size_t kTopSequences = 5;

/// Breaks a text into lines, the first behind `mark`, the others indented like it.
std::string Wrapped(const std::string& mark, const std::string& text) {
  const std::string indent(mark.size(), ' ');
  std::string out = mark;
  size_t column = mark.size(), at = 0;
  bool first = true;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const size_t width = DisplayWidth(word);
    if (!first && column + 1 + width > kColumns) {
      out += "\n" + indent;
      column = indent.size();
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
    first = false;
    at = end + 1;
  }
  return out + "\n";
}

void PrintTop(Console& console, const AdviceReport& report) {
  const AdviceFacts& facts = report.facts;
  std::vector<const AdviceSequence*> top;
  uint64_t all = 0;
  for (const AdviceSequence& sequence : facts.sequences) {
    top.push_back(&sequence);
    all += sequence.space_bytes;
  }
  if (top.empty() || all == 0) return;
  std::stable_sort(top.begin(), top.end(), [](const AdviceSequence* a, const AdviceSequence* b) {
    return a->space_bytes > b->space_bytes;
  });
  Table table({{"sequence"},
               {"producer"},
               {"buffer", Align::kRight},
               {"per second", Align::kRight},
               {"of all", Align::kRight},
               {"packets", Align::kRight},
               {"lost", Align::kRight},
               {"mostly"}});
  for (size_t i = 0; i < std::min(top.size(), kTopSequences); ++i) {
    const AdviceSequence& sequence = *top[i];
    const AdviceProducer* producer = facts.Find(sequence.sequence.producer);
    const double seconds = static_cast<double>(facts.duration_ns) / 1e9;
    table.AddRow({ToString(sequence.sequence), producer == nullptr ? "" : Printable(producer->name),
                  std::to_string(Raw(sequence.buffer)),
                  seconds == 0 ? "-"
                               : HumanSize(static_cast<uint64_t>(
                                     static_cast<double>(sequence.space_bytes) / seconds)),
                  ShareText(sequence.space_bytes, all), WithCommas(sequence.written.packets),
                  ShareText(sequence.lost.packets, sequence.written.packets),
                  ContentName(sequence.content)});
  }
  table.Print(console, 2);
  if (top.size() > kTopSequences)
    console.Print(fmt::format("  and {} more\n", WithCommas(top.size() - kTopSequences)));
}

void PrintPrediction(Console& console, const AdviceReport& report) {
  const std::vector<PredictedBuffer> predicted = PredictionOf(report);
  Table table({{"buffer"},
               {"size now", Align::kRight},
               {"then", Align::kRight},
               {"packets", Align::kRight},
               {"lost now", Align::kRight},
               {"then", Align::kRight},
               {"reaches back now", Align::kRight},
               {"then", Align::kRight}});
  for (const PredictedBuffer& one : predicted) {
    // What a buffer that discards has of the end, or one that is read again and again, says little.
    const bool any =
        one.written > 0 && one.policy == FillPolicy::kRingBuffer && !report.findings.reads.periodic;
    table.AddRow({one.made_from ? fmt::format("{}, from {}", Raw(one.id), Raw(*one.made_from))
                                : std::to_string(Raw(one.id)),
                  one.size_now ? HumanSize(*one.size_now) : "-", HumanSize(one.size_then),
                  WithCommas(one.written), WithCommas(one.lost_now), WithCommas(one.lost_then),
                  any ? HumanDuration(one.history_now_ns) : "-",
                  any ? HumanDuration(one.history_then_ns) : "-"});
  }
  console.Print(fmt::format("\n{}\n", console.Bold("With these buffers, by an exact replay")));
  table.Print(console, 2);
}

void PrintHeading(Console& console, const AdviceReport& report) {
  const AdviceFacts& facts = report.facts;
  console.Print(fmt::format("{}: session {}: {}, {}, {}{}\n", Printable(report.name),
                            report.session, HumanDuration(facts.duration_ns),
                            Count(facts.buffers.size(), "buffer"),
                            Count(facts.sequences.size(), "sequence"),
                            facts.has_config ? "" : "; the log has no trace config"));
  if (facts.is_trace) {
    console.Print(Wrapped(
        "",
        fmt::format("Made of a trace, which lacks what was lost before it was "
                    "written{}: what is really needed can be more.",
                    facts.recorder_gaps == 0 ? ""
                                             : fmt::format(", and reports losses in {}",
                                                           Count(facts.recorder_gaps, "place")))));
  } else if (facts.recorder_gaps > 0) {
    console.Print(fmt::format("The recording has {}: what is really needed can be more.\n",
                              Count(facts.recorder_gaps, "gap")));
  }
}

}  // namespace

void PrintAdvice(Console& console, const AdviceReport& report) {
  PrintHeading(console, report);
  if (report.facts.buffers.empty() || report.facts.sequences.empty()) {
    console.Print("\nNothing was written to any buffer: nothing to advise.\n");
    return;
  }
  console.Print("wanted: " + WishText(report) + "\n");
  if (report.findings.extrapolated && !report.findings.reads.periodic) {
    console.Print(Wrapped("", fmt::format("The log lasts only {}: sizes for {} are reckoned from "
                                          "what its own duration takes, and not replayed.",
                                          HumanDuration(report.facts.duration_ns),
                                          HumanDuration(*report.findings.wish.keep_ns))));
  }
  for (size_t i = 0; i < kAdviceTopics; ++i) {
    const auto topic = static_cast<AdviceTopic>(i);
    const bool any = std::any_of(report.advice.begin(), report.advice.end(),
                                 [&](const Advice& advice) { return advice.topic == topic; });
    if (!any && topic != AdviceTopic::kCrowding) continue;
    console.Print(fmt::format("\n{}\n", console.Bold(AdviceHeading(topic))));
    if (topic == AdviceTopic::kCrowding) PrintTop(console, report);
    for (const Advice& advice : report.advice)
      if (advice.topic == topic)
        console.Print(Wrapped(advice.to_do ? "  ! " : "  - ", AdviceText(advice, report)));
  }
  const bool to_do = AnyToDo(report.advice);
  console.Print(fmt::format(
      "\n{}\n", console.Bold(to_do ? "Trace config" : "Nothing to do. The trace config as it is")));
  std::string config = ConfigText(report);
  for (size_t at = 0; at < config.size();) {
    const size_t end = config.find('\n', at);
    console.Print("  " + config.substr(at, end - at) + "\n");
    at = end + 1;
  }
  if (to_do) PrintPrediction(console, report);
}

}  // namespace ringscope
