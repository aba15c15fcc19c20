#include "commands/gaps/gaps_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "commands/gaps/gaps_text_parts.h"
#include "commands/gaps/gaps_words.h"
#include "commands/replays/log_answer.h"
#include "commands/replays/loss_words.h"
#include "commands/replays/program_words.h"
#include "commands/replays/session_loop.h"
#include "commands/shell/text.h"
#include "commands/view/answer_report.h"

namespace ringscope {
namespace {

/// Flags without a loss, rule by rule.
void PrintFalseFlags(Report& out, const ShownGaps& selection, uint64_t limit) {
  if (selection.false_flags.empty()) return;
  const size_t most = limit == 0 ? SIZE_MAX : std::min<size_t>(limit, 4);
  std::map<FlagRule, std::vector<std::string>> by_rule;
  for (const auto& [sequence, flag] : selection.false_flags) {
    // Those are listed with the chunks that are missing.
    if (flag->rule == FlagRule::kNotInLog || flag->rule == FlagRule::kRecorderGap) continue;
    by_rule[flag->rule].push_back(
        fmt::format("{} #{}", ToString(sequence->sequence), flag->packet.place.chunk));
  }
  if (by_rule.empty()) return;
  out.Heading("Flagged, but nothing is known to be missing");
  for (auto& [rule, places] : by_rule) {
    const uint64_t count = places.size();
    const bool all = places.size() <= most;
    if (!all) places.resize(most);
    const std::string text = fmt::format("{}: {}: {}{}", Count(count, "packet"), RuleText(rule),
                                         Joined(places), all ? "" : ", ...");
    out.Paragraph(text, 2);
  }
}

void PrintState(Report& out, const ShownGaps& selection, uint64_t limit) {
  Table table({{"sequence", Align::kLeft},
               {"unusable", Align::kRight},
               {"times", Align::kRight},
               {"written", Align::kLeft}});
  std::vector<const SequenceGaps*> worst;
  for (const SequenceGaps* sequence : selection.sequences)
    if (sequence->unusable.count.packets > 0) worst.push_back(sequence);
  std::ranges::stable_sort(worst, std::ranges::greater(), [](const SequenceGaps* sequence) {
    return sequence->unusable.count.packets;
  });
  const size_t shown = CountToShow(worst.size(), limit);
  for (size_t i = 0; i < shown; ++i) {
    const SequenceGaps* const sequence = worst[i];
    const UnusablePackets& unusable = sequence->unusable;
    table.AddRow({ToString(sequence->sequence), WithCommas(unusable.count.packets),
                  WithCommas(sequence->unusable_spans),
                  SpanText(selection.notes, unusable.from_ns, unusable.to_ns)});
  }
  if (table.empty()) return;
  out.Heading("Read, but unusable because incremental state is missing");
  out.Print(table, 2);
  PrintMore(out, worst.size() - shown, "sequence");
  out.Print("  Remedy: clear incremental state periodically (clear_period_ms).\n");
}

/// Which of the losses that a producer reports are among the gaps.
std::string AfterAbortsText(const SequenceGaps& sequence) {
  const uint64_t known = sequence.flags_after_abort;
  if (known == 0) return {};
  return fmt::format(", {} after packets in the gaps above that it aborted",
                     known == sequence.producer_flags ? "all" : WithCommas(known) + " of them");
}

void PrintProducerFlags(Report& out, const ShownGaps& selection, uint64_t limit) {
  std::string text;
  uint64_t found = 0, shown = 0;
  std::map<ProducerId, std::string> remedies;
  for (const SequenceGaps* sequence : selection.sequences) {
    if (sequence->producer_flags == 0) continue;
    const ProducerId producer = sequence->sequence.producer;
    remedies.try_emplace(
        producer,
        fmt::format("Remedy for {}: {}",
                    ProducerText(producer, selection.notes.ProducerOf(sequence->sequence)),
                    "more shared memory"));
    ++found;
    if (limit != 0 && shown == limit) continue;
    ++shown;
    text +=
        Wrap(fmt::format("{}: the producer itself reports losses before {}{}; how many packets it "
                         "dropped is not known{}",
                         NameText(selection.notes, sequence->sequence),
                         Count(sequence->producer_flags, "packet"), AfterAbortsText(*sequence),
                         sequence->hidden_flags == 0
                             ? ""
                             : fmt::format("; {} of these flags hidden by the buffer's",
                                           WithCommas(sequence->hidden_flags))),
             "  ") +
        "\n";
  }
  if (text.empty()) return;
  out.Heading("Lost in the producers, before they were committed");
  out.Print(text);
  PrintMore(out, found - shown, "sequence");
  for (const auto& [producer, remedy] : remedies) out.Print(Wrap(remedy, "  ") + "\n");
}

void PrintFtrace(Report& out, const ShownGaps& selection) {
  if (selection.report.ftrace.empty()) return;
  out.Heading("Lost by the kernel's ftrace, not by a buffer");
  const auto number = [](const std::optional<uint64_t>& value) {
    return value ? WithCommas(*value) : std::string("?");
  };
  Table table({{"cpu", Align::kRight},
               {"bundles", Align::kRight},
               {"after a loss", Align::kRight},
               {"overrun", Align::kRight},
               {"commit overrun", Align::kRight},
               {"dropped events", Align::kRight}});
  for (const FtraceCpuLosses& cpu : selection.report.ftrace) {
    table.AddRow({std::to_string(cpu.cpu), WithCommas(cpu.bundles),
                  WithCommas(cpu.bundles_after_loss), number(cpu.overrun),
                  number(cpu.commit_overrun), number(cpu.dropped_events)});
  }
  out.Print(table, 2);
}

void PrintStale(Report& out, const ShownGaps& selection, uint64_t limit, uint64_t stale_ns) {
  if (selection.stale.empty()) return;
  out.Heading(
      fmt::format("Committed more than {} after their timestamps", HumanDuration(stale_ns)));
  Table table({{"sequence", Align::kLeft},
               {"buffer", Align::kRight},
               {"packets", Align::kRight},
               {"", Align::kRight},
               {"longest", Align::kRight},
               {"in chunk", Align::kRight}});
  const size_t shown = CountToShow(selection.stale.size(), limit);
  for (size_t i = 0; i < shown; ++i) {
    const StaleSequence& stale = selection.stale[i];
    table.AddRow({ToString(stale.sequence), std::to_string(Raw(stale.buffer)),
                  WithCommas(stale.stale), Percent(stale.stale, stale.packets),
                  HumanDuration(stale.longest_ns), fmt::format("#{}", stale.longest_chunk)});
  }
  out.Print(table, 2);
  PrintMore(out, selection.stale.size() - shown, "sequence");
  out.Print(fmt::format("  Remedy: flush_period_ms: {}\n", stale_ns / 1'000'000));
}

/// The answer, with the remedy: of the whole session.
void PrintHead(Report& out, const ShownGaps& selection) {
  Answer answer =
      AnswerOf(selection.report, selection.outcome, selection.notes, selection.remedies);
  // The title has that.
  std::erase_if(answer.lines, [](const AnswerLine& line) {
    return line.label == "Session" || line.label == "Assumed";
  });
  PrintAnswer(out, "", answer);
}

/// What the filters select.
void PrintSelected(Report& out, const ShownGaps& selection) {
  uint64_t all = 0;
  for (const BufferGaps& buffer : selection.report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      all += sequence.written().packets > 0 ? 1 : 0;
  const size_t selected = selection.sequences.size();
  std::string text =
      fmt::format("The filters select {} of the {}", WithCommas(selected), Count(all, "sequence"));
  if (selected == 0) {
    text += ": what was lost of the others is not shown.";
  } else if (selection.any_loss) {
    FateCount lost;
    for (const std::vector<const Gap*>* gaps : {&selection.own_fault, &selection.gaps})
      for (const Gap* gap : *gaps) lost += gap->lost;
    text +=
        fmt::format(": {}, {}.", Count(selection.own_fault.size() + selection.gaps.size(), "gap"),
                    Count(lost.packets, "lost packet"));
    if (selection.by_time)
      text +=
          " Gaps that overlap the selected time are counted in full; --packets lists only packets "
          "written within it.";
  } else {
    text += fmt::format("; they lost nothing that the filters select{}.",
                        selection.any_sign ? ", but more may be missing: see below" : "");
  }
  out.Paragraph(text);
  for (const std::string& remedy : RemedyTexts(selection.SelectedRemedies(), selection.notes))
    out.Paragraph(remedy);
}

}  // namespace

void PrintGaps(Report& out, const ShownGaps& selection, bool summary, uint64_t limit,
               uint64_t stale_ns) {
  ReportReplayTitle(out, selection.outcome);
  out.Print("\n");
  if (selection.is_filtered)
    PrintSelected(out, selection);
  else
    PrintHead(out, selection);
  PrintLossTables(out, selection, limit);
  if (!selection.is_filtered) PrintPrograms(out, selection.outcome);
  PrintWaiting(out, selection, limit);
  if (selection.any_loss && !summary) PrintGapGroups(out, selection, limit);
  PrintReported(out, selection, limit);
  PrintMissing(out, selection, limit);
  PrintCounted(out, selection, limit);
  PrintLostNames(out, selection, limit);
  PrintState(out, selection, limit);
  if (!summary) PrintFalseFlags(out, selection, limit);
  PrintProducerFlags(out, selection, limit);
  PrintFtrace(out, selection);
  PrintStale(out, selection, limit, stale_ns);
  PrintPending(out, selection);
}

}  // namespace ringscope
