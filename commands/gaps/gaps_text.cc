#include "commands/gaps/gaps_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "commands/common/session_loop.h"
#include "commands/gaps/gaps_signs_text.h"
#include "commands/gaps/gaps_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

std::string PacketsText(const FateCount& count) {
  return fmt::format("{} ({})", Count(count.packets, "packet"), HumanSize(count.bytes));
}

/// What became of all packets, buffer by buffer; the rows add up to the first.
void PrintFates(Report& out, const ShownGaps& selection) {
  for (const BufferGaps& buffer : selection.report.buffers) {
    const BufferOutcome* outcome = selection.BufferOf(buffer.id);
    out.Print(fmt::format("\n{}{}\n", out.Bold(fmt::format("buffer {}", Raw(buffer.id))),
                          outcome == nullptr
                              ? ", never set up"
                              : fmt::format(": {} {}, {}", HumanSize(outcome->size),
                                            Name(outcome->policy), outcome->engine)));
    const FateCount written = buffer.totals.written;
    Table table(
        {{"", Align::kLeft}, {"", Align::kRight}, {"", Align::kRight}, {"", Align::kRight}});
    const auto add = [&](std::string name, const FateCount& count) {
      table.AddRow({std::move(name), WithCommas(count.packets), HumanSize(count.bytes),
                    Percent(count.packets, written.packets)});
    };
    add("packets written", written);
    for (size_t i = 0; i < kFates; ++i) {
      const auto fate = static_cast<Fate>(i);
      const FateCount& count = buffer.totals[fate];
      if (count.packets == 0) continue;
      add(fmt::format("  {}{}", IsLoss(fate) ? "lost: " : "", Name(fate)), count);
    }
    if (buffer.totals.own_fault.packets > 0)
      add("  of these by a buffer bug", buffer.totals.own_fault);
    out.Print(table, 2);
  }
}

/// Sequence by sequence, those that lost most first.
void PrintSequences(Report& out, const ShownGaps& selection) {
  constexpr size_t kShown = 30;
  std::vector<const SequenceGaps*> sequences;
  for (const SequenceGaps* sequence : selection.sequences)
    if (sequence->lost().packets > 0) sequences.push_back(sequence);
  if (sequences.empty()) return;
  std::stable_sort(sequences.begin(), sequences.end(),
                   [](const SequenceGaps* a, const SequenceGaps* b) {
                     return a->lost().packets > b->lost().packets;
                   });
  Table table({{"sequence", Align::kLeft},
               {"producer", Align::kLeft},
               {"buffer", Align::kRight},
               {"written", Align::kRight},
               {"lost", Align::kRight},
               {"", Align::kRight},
               {"bytes lost", Align::kRight},
               {"gaps", Align::kRight},
               {"not flagged", Align::kRight}});
  for (size_t i = 0; i < std::min(sequences.size(), kShown); ++i) {
    const SequenceGaps& sequence = *sequences[i];
    const auto flagged = [](const Gap& gap) {
      return gap.sign == GapSign::kFlagged || gap.sign == GapSign::kFlaggedFirst;
    };
    const auto not_flagged =
        sequence.gaps.size() -
        static_cast<size_t>(std::count_if(sequence.gaps.begin(), sequence.gaps.end(), flagged));
    table.AddRow({ToString(sequence.sequence), ProducerText(selection.notes, sequence.sequence),
                  std::to_string(Raw(sequence.buffer)), WithCommas(sequence.written().packets),
                  WithCommas(sequence.lost().packets),
                  Percent(sequence.lost().packets, sequence.written().packets),
                  HumanSize(sequence.lost().bytes),
                  WithCommas(sequence.gaps.size() + sequence.unlisted_gaps),
                  WithCommas(not_flagged)});
  }
  out.Print("\n");
  out.Print(table);
  if (sequences.size() > kShown)
    out.Print(fmt::format("and {}\n", Count(sequences.size() - kShown, "further sequence")));
}

/// What a replay with a remedy showed.
std::string TriedText(const std::optional<TriedOutcome>& outcome) {
  if (!outcome) return "should keep everything; not verified, as standard input is read only once";
  if (outcome->lost > 0)
    return fmt::format("still loses {}, as a replay shows", Count(outcome->lost, "packet"));
  if (outcome->waiting > 0)
    return fmt::format("loses nothing, as a replay shows, but {} wait in it to the end",
                       Count(outcome->waiting, "packet"));
  return "keeps everything, as a replay shows";
}

/// What would have kept everything, buffer by buffer, and for all together.
void PrintRemedies(Report& out, const ShownGaps& selection) {
  std::string text;
  for (const NeededSize& tried : selection.tried.sizes) {
    const bool is_selected = std::any_of(
        selection.sequences.begin(), selection.sequences.end(), [&](const SequenceGaps* sequence) {
          return sequence->buffer == tried.buffer && sequence->lost().packets > 0;
        });
    if (!is_selected) continue;
    text += Wrap(fmt::format("With {}, buffer {} {} (--size {}={}k).", SizeWithKb(tried.size),
                             Raw(tried.buffer), TriedText(tried.outcome), Raw(tried.buffer),
                             tried.size / 1024),
                 0) +
            "\n";
  }
  if (!text.empty() && selection.tried.period_ns) {
    const uint64_t ms = *selection.tried.period_ns / 1'000'000;
    text += Wrap(fmt::format("Read every {0} ms, to its end, the session {1} (--reads every={0}ms, "
                             "file_write_period_ms).",
                             ms, TriedText(selection.tried.with_period)),
                 0) +
            "\n";
  }
  if (!text.empty()) out.Print("\n" + text);
}

void PrintLine(Report& out, const char* title, const std::string& text) {
  if (text.empty()) return;
  constexpr size_t kIndent = 14;
  const std::string wrapped = Wrap(text, kIndent);
  out.Print(fmt::format("  {:<{}}{}\n", title, kIndent - 2, wrapped.substr(kIndent)));
}

std::string ChunksText(const Gap& gap) {
  if (gap.first.chunk == gap.last_chunk) return fmt::format("chunk #{}", gap.first.chunk);
  return fmt::format("chunks #{} to #{}", gap.first.chunk, gap.last_chunk);
}

std::string UnusableText(const Gap& gap) {
  if (!gap.next || gap.next->unusable.count.packets == 0) return "";
  const UnusablePackets& unusable = gap.next->unusable;
  const uint64_t ns = unusable.duration_ns();
  return fmt::format(
      "{} after it{} need incremental state that was lost{}",
      Count(unusable.count.packets, "packet"),
      ns == 0 ? "" : fmt::format(", over {},", HumanDuration(ns)),
      unusable.reset ? "" : "; the state is not reset before the next gap or the end");
}

void PrintGap(Report& out, const Gap& gap, const ShownGaps& selection) {
  const SessionNotes& notes = selection.notes;
  out.Print("\n");
  out.Print(out.Bold(fmt::format("{}, buffer {}, {}", NameText(notes, gap.sequence),
                                 Raw(gap.buffer), ChunksText(gap))));
  out.Print(fmt::format(": {} missing\n", PacketsText(gap.lost)));
  PrintLine(out, "content", ContentsText(gap, selection.kinds));
  PrintLine(out, "written",
            fmt::format("{}, lost {}", SpanText(notes, gap.written), SpanText(notes, gap.sealed)));
  PrintLine(out, "cause", CausesText(gap));
  PrintLine(out, "in detail", BlameText(gap, notes));
  PrintLine(out, IsFilled(gap) ? "filled by" : "evicted by", CulpritsText(gap, notes));
  PrintLine(out, "trace shows", SignText(gap));
  PrintLine(out, "unusable", UnusableText(gap));
  PrintLine(out, "remedy", RemediesText(gap, selection));
  const char* title = "look at";
  for (const std::string& command : ProofTexts(gap))
    PrintLine(out, std::exchange(title, ""), command);
}

void PrintGapList(Report& out, const ShownGaps& selection) {
  if (!selection.own_fault.empty()) {
    out.Heading("Lost by a buffer bug");
    for (const Gap* gap : selection.own_fault) PrintGap(out, *gap, selection);
    if (!selection.gaps.empty()) out.Heading("Other losses");
  }
  for (const Gap* gap : selection.gaps) PrintGap(out, *gap, selection);
  if (selection.hidden > 0) {
    out.Print(fmt::format("\n{} not shown: --limit 0 shows all\n",
                          Count(selection.hidden, "smaller gap")));
  }
  if (selection.unlisted > 0) {
    out.Print(
        fmt::format("\n{} more are counted, but not listed\n", Count(selection.unlisted, "gap")));
  }
}

/// Flags without a loss, rule by rule.
void PrintFalseFlags(Report& out, const ShownGaps& selection) {
  if (selection.false_flags.empty()) return;
  constexpr size_t kNamed = 4;
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
    const bool all = places.size() <= kNamed;
    if (!all) places.resize(kNamed);
    const std::string text = fmt::format("{}: {}: {}{}", Count(count, "packet"), RuleText(rule),
                                         Joined(places), all ? "" : ", ...");
    out.Print(Wrap(text, 2) + "\n");
  }
}

void PrintState(Report& out, const ShownGaps& selection) {
  Table table({{"sequence", Align::kLeft},
               {"unusable", Align::kRight},
               {"times", Align::kRight},
               {"written", Align::kLeft}});
  for (const SequenceGaps* sequence : selection.sequences) {
    const UnusablePackets& unusable = sequence->unusable;
    if (unusable.count.packets == 0) continue;
    table.AddRow({ToString(sequence->sequence), WithCommas(unusable.count.packets),
                  WithCommas(sequence->unusable_spans),
                  SpanText(selection.notes, unusable.from_ns, unusable.to_ns)});
  }
  if (table.empty()) return;
  out.Heading("Read, but unusable because incremental state is missing");
  out.Print(table, 2);
  out.Print("  Remedy: clear incremental state periodically (clear_period_ms).\n");
}

void PrintProducerFlags(Report& out, const ShownGaps& selection) {
  std::string text;
  for (const SequenceGaps* sequence : selection.sequences) {
    if (sequence->producer_flags == 0) continue;
    text += fmt::format(
        "  {}: {} flagged by the producer itself{}\n",
        NameText(selection.notes, sequence->sequence), Count(sequence->producer_flags, "packet"),
        sequence->hidden_flags == 0 ? ""
                                    : fmt::format(", {} of them hidden by the buffer's flag",
                                                  WithCommas(sequence->hidden_flags)));
  }
  if (text.empty()) return;
  out.Heading("Lost in the producers, before they were committed");
  out.Print(text);
  out.Print("  Remedy: more shared memory for the producer.\n");
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

void PrintStale(Report& out, const ShownGaps& selection, uint64_t stale_ns) {
  if (selection.report.stale.empty()) return;
  out.Heading(
      fmt::format("Committed more than {} after their timestamps", HumanDuration(stale_ns)));
  Table table({{"sequence", Align::kLeft},
               {"buffer", Align::kRight},
               {"packets", Align::kRight},
               {"", Align::kRight},
               {"longest", Align::kRight},
               {"in chunk", Align::kRight}});
  for (const StaleSequence& stale : selection.report.stale) {
    table.AddRow({ToString(stale.sequence), std::to_string(Raw(stale.buffer)),
                  WithCommas(stale.stale), Percent(stale.stale, stale.packets),
                  HumanDuration(stale.longest_ns), fmt::format("#{}", stale.longest_chunk)});
  }
  out.Print(table, 2);
  out.Print(fmt::format("  Remedy: flush_period_ms: {}\n", stale_ns / 1'000'000));
}

/// That nothing was lost, as far as the log goes.
std::string NothingLostText(const ShownGaps& selection) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> later;
  for (const SequenceGaps* sequence : selection.sequences)
    if (sequence->first_chunk > 0)
      later.push_back(
          fmt::format("{} with #{}", ToString(sequence->sequence), sequence->first_chunk));
  const ReadsUsed& reads = selection.outcome.reads;
  const bool is_guess = reads.assumed && reads.mode == ReadsMode::kStreamed;
  if (later.empty()) return is_guess ? "Nothing was lost with these reads." : "Nothing was lost.";
  const size_t count = later.size();
  later.resize(std::min(count, kNamed));
  return fmt::format(
      "Nothing was lost of what is in the log. {} not begin with chunk #0 ({}{}): what came before "
      "is not known.",
      count == 1 ? "1 sequence does" : Count(count, "sequence") + " do", Joined(later),
      count > kNamed ? ", ..." : "");
}

}  // namespace

void PrintGaps(Report& out, const ShownGaps& selection, bool summary, uint64_t stale_ns) {
  const uint64_t limit = selection.limit;
  ReportReplayTitle(out, selection.outcome);
  PrintFates(out, selection);
  if (selection.any_loss) {
    PrintSequences(out, selection);
    PrintRemedies(out, selection);
    if (!summary) PrintGapList(out, selection);
  } else if (selection.any_sign) {
    out.Print("\n" + Wrap("No packet of the log was lost, but more may be missing: see below.", 0) +
              "\n");
  } else {
    out.Print("\n" + Wrap(NothingLostText(selection), 0) + "\n");
  }
  PrintReported(out, selection, limit);
  PrintMissing(out, selection, limit);
  PrintCounted(out, selection);
  PrintLostNames(out, selection);
  PrintState(out, selection);
  if (!summary) PrintFalseFlags(out, selection);
  PrintProducerFlags(out, selection);
  PrintFtrace(out, selection);
  PrintStale(out, selection, stale_ns);
  PrintPending(out, selection);
}

std::string LostPacketLine(const PacketAccount& account, const std::string& kind,
                           const SessionNotes& notes) {
  const CauseCount cause{account.fate, account.cause, account.own_fault, account.loss_bits, {}};
  return fmt::format(
      "{:>12} #{}.{}  {:>9}  {:<16} written {}, lost {}: {}{}\n", ToString(account.sequence),
      account.first_chunk, account.fragment, HumanSize(account.size),
      ContentName(account.facts.content) + (kind.empty() ? "" : ": " + kind),
      SpanText(notes, {account.written, account.written}), TimeText(notes, account.decided.time_ns),
      CauseText(cause), account.culprit ? fmt::format(", for {}", ToString(*account.culprit)) : "");
}

}  // namespace ringscope
