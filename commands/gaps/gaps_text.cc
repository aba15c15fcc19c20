#include <tuple>

#include "commands/gaps/gaps_words.h"
#include "commands/session/session_view.h"
#include "core/examine/remedies.h"

namespace ringscope {
namespace {

/// Gaps of a sequence that have the same cause.
struct GapGroup {
  std::vector<const Gap*> gaps;  // the largest first
  FateCount lost;
  uint64_t places = 0;
};

/// Returns the groups that lost most packets first.
std::vector<GapGroup> GroupsOf(const std::vector<const Gap*>& gaps) {
  std::map<std::tuple<BufferId, SequenceKey, Cause>, GapGroup> by_cause;
  for (const Gap* gap : gaps) {
    GapGroup& group = by_cause[{gap->buffer, gap->sequence, gap->causes.front().cause}];
    group.gaps.push_back(gap);
    group.lost += gap->lost;
    group.places += gap->places;
  }
  std::vector<GapGroup> groups;
  for (auto& [key, group] : by_cause) {
    std::ranges::stable_sort(group.gaps, std::ranges::greater(),
                             [](const Gap* gap) { return gap->lost.packets; });
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const GapGroup& group) { return group.lost.packets; });
  return groups;
}

/// "chunks #3 to #7"
std::string ChunksText(const Gap& gap) {
  return gap.first.chunk == gap.last_chunk
             ? fmt::format("chunk #{}", gap.first.chunk)
             : fmt::format("chunks #{} to #{}", gap.first.chunk, gap.last_chunk);
}

/// Names the packets after the gap that cannot be used; may be empty.
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

/// Writes the losses of a session for people.
class GapsText {
 public:
  GapsText(Report& out, const ShownGaps& selection, bool all)
      : out_(out), shown_(selection), notes_(selection.notes), all_(all) {}

  void Write() {
    ReportReplayTitle(out_, shown_.outcome);
    out_.Print("\n");
    if (shown_.is_filtered) {
      PrintSelected();
    } else {
      Answer answer = shown_.examination.answer;
      // The title has these.
      std::erase_if(answer.lines, [](const AnswerLine& line) { return line.label == "Assumed"; });
      PrintAnswer(out_, "", answer);
    }
    PrintTotals();
    if (!shown_.is_filtered) PrintPrograms(out_, shown_.outcome);
    if (shown_.any_loss) all_ ? PrintGapGroups() : PrintNotableGaps();
    PrintIncomplete();
    PrintCounted();
    PrintOutside();
    PrintPending();
    if (!others_.empty())
      out_.Paragraph(fmt::format("Also: {}. --all explains each{}.", Joined(others_, "; "),
                                 shown_.any_loss ? ", and all gaps" : ""));
    else if (shown_.any_loss && !all_)
      out_.Paragraph("--all explains each gap; 'ringscope graph' draws its chunks.");
  }

 private:
  void PrintItem(const std::string& text) { out_.Paragraph(text, "  "); }
  /// A heading and a line for each entry; on a screen its name and size alone.
  template <typename T, typename TextOf>
  void PrintList(const std::string& heading, const std::vector<T>& list, const char* noun,
                 const TextOf& text_of, uint64_t unlisted = 0) {
    if (list.empty()) return;
    if (!all_) {
      others_.push_back(fmt::format("{} ({})", heading, Count(list.size() + unlisted, noun)));
      return;
    }
    out_.Heading(heading);
    for (const T& each : list) PrintItem(text_of(each));
    if (unlisted > 0) out_.Print(fmt::format("  and {} more\n", Count(unlisted, noun)));
  }
  /// The sequences of which this is more than 0, the largest first.
  template <typename Amount>
  std::vector<const SequenceGaps*> SequencesBy(const Amount& amount) const {
    std::vector<const SequenceGaps*> sequences;
    for (const SequenceGaps* sequence : shown_.sequences)
      if (amount(*sequence) > 0) sequences.push_back(sequence);
    std::ranges::stable_sort(sequences, std::ranges::greater(),
                             [&](const SequenceGaps* sequence) { return amount(*sequence); });
    return sequences;
  }
  std::string PlaceText(const auto& found) const {
    return fmt::format("{}, {}", notes_.NameOf(found.sequence), notes_.NameOf(found.buffer));
  }

  /// Prints the sums of what the filters select.
  void PrintSelected() {
    const GapSelection all(shown_.report, 0, {});
    FateCount lost;
    shown_.VisitGaps([&](const Gap& gap) { lost += gap.lost; });
    out_.Paragraph(fmt::format(
        "The filters select {} of the {}: {}, {}.{}{}", WithCommas(shown_.sequences.size()),
        Count(all.sequences.size(), "sequence"),
        Count(shown_.own_fault.size() + shown_.gaps.size(), "gap"),
        Count(lost.packets, "lost packet"),
        shown_.by_time ? " Gaps that overlap the selected time are counted in full." : "",
        shown_.any_sign ? " More may be missing, see below." : ""));
  }

  /// Prints what became of the packets of each buffer, and of which sequences they are.
  void PrintTotals() {
    if (shown_.is_filtered && shown_.sequences.empty()) return;
    for (const BufferGaps& buffer : shown_.report.buffers) {
      PrintFates(buffer);
      if (!all_) PrintCauses(buffer.id);
    }
    if (shown_.any_loss && (all_ || shown_.is_filtered)) PrintStages(out_, shown_.stages());
  }

  /// On a screen a line; else a table whose rows add up to the first.
  void PrintFates(const BufferGaps& buffer) {
    const BufferOutcome* outcome = shown_.outcome.Find(buffer.id);
    const FateCounts& fates = buffer.totals.by_fate;
    const std::string title = outcome == nullptr
                                  ? ", never set up"
                                  : fmt::format(": {} {}, {}", HumanSize(outcome->size),
                                                Name(outcome->policy), outcome->engine);
    const FateCount written = fates.all();
    out_.Print("\n");
    if (!all_)
      return out_.PrintWrapped(
          TextStyle::kBold, notes_.NameOf(buffer.id),
          fmt::format("{}; {} written, {} read", title, Count(written.packets, "packet"),
                      WithCommas(fates[Fate::kRead].packets)));
    out_.Print(out_.Bold(notes_.NameOf(buffer.id)) + title + "\n");
    Table table({Left(""), Right(""), Right(""), Right("")});
    const auto add = [&](const std::string& name, const FateCount& count) {
      if (count.packets > 0)
        table.AddRow({name, WithCommas(count.packets), HumanSize(count.bytes),
                      Percent(count.packets, written.packets)});
    };
    add("packets written", written);
    for (size_t i = 0; i < kFates; ++i) {
      const auto fate = static_cast<Fate>(i);
      if (fate != Fate::kWriterDropped)
        add(fmt::format("  {}{}", IsLoss(fate) ? "lost: " : "", FateText(fate)), fates[fate]);
    }
    if (fates.places() > 0)
      table.AddRow({"places where writers dropped", WithCommas(fates.places()), "", ""});
    add("  of these by a buffer bug", buffer.totals.own_fault);
    out_.Print(table, 2);
  }

  /// Names the change that keeps all packets of a gap, or else what helps; may be empty.
  std::string KeptByText(const Gap& gap) const {
    const RemedyList& remedies = shown_.examination.remedies;
    return RemedyOf(gap, remedies) + (SizeThatKeeps(gap, remedies) != nullptr ? " keeps them" : "");
  }

  /// Prints the buffer's gaps by their cause and what would keep them.
  void PrintCauses(BufferId buffer) {
    struct Group {
      std::set<SequenceKey> sequences;
      uint64_t gaps = 0, places = 0;
      CauseCount cause;
    };
    std::map<std::tuple<Cause, bool, std::string>, Group> groups;
    shown_.VisitGaps([&](const Gap& gap) {
      if (gap.buffer != buffer) return;
      const CauseCount& cause = gap.causes.front();
      Group& group = groups[{cause.cause, cause.own_fault, cause.own_fault ? "" : KeptByText(gap)}];
      if (group.gaps++ == 0) group.cause = cause, group.cause.count = {};
      group.sequences.insert(gap.sequence);
      group.cause.count += gap.lost;
      group.places += gap.places;
    });
    SharesOf texts;
    for (const auto& [key, group] : groups) {
      const std::string& kept_by = std::get<std::string>(key);
      texts.emplace_back(
          fmt::format("{}, {}, {}: {}{}", Count(group.sequences.size(), "sequence"),
                      Count(group.gaps, "gap"), LostText(group.cause.count, group.places),
                      CauseText(group.cause), kept_by.empty() ? "" : "; " + kept_by),
          group.cause.count.packets);
    }
    std::ranges::stable_sort(texts, std::ranges::greater(), &SharesOf::value_type::second);
    constexpr size_t kShown = 3;
    for (size_t i = 0; i < std::min(kShown, texts.size()); ++i) PrintItem(texts[i].first);
    if (texts.size() > kShown) PrintItem(Count(texts.size() - kShown, "further cause"));
  }

  void PrintFact(const char* title, const std::string& text) {
    if (text.empty()) return;
    out_.Paragraph(text, fmt::format("  {:<12}", title));
  }

  /// Prints the facts about a gap, a line for each.
  void PrintFacts(const Gap& gap) {
    PrintFact("content", ContentsText(gap, shown_.kinds));
    PrintFact("written", fmt::format("{}, lost {}", SpanText(notes_, gap.written),
                                     SpanText(notes_, gap.decided)));
    PrintFact("cause", Joined(CauseTexts(gap.causes), "; "));
    PrintFact("in detail", BlameText(gap, notes_));
    PrintFact(IsFilled(gap) ? "filled by" : "evicted by", TakersText(gap, shown_));
    PrintFact(
        "trace shows",
        SignText(gap.sign, gap.next ? gap.next->loss_bits : gap.lost_bits,
                 gap.next ? std::optional(gap.next->place.chunk) : std::nullopt, gap.forgotten));
    PrintFact("unusable", UnusableText(gap));
    PrintFact("remedy", RemedyOf(gap, shown_.examination.remedies));
    const std::string path = ShellWord(shown_.outcome.path);
    PrintFact("look at", fmt::format("ringscope graph --around {}#{} {}", ToString(gap.sequence),
                                     static_cast<uint32_t>(gap.first.chunk), path));
    if (gap.written.first.record && gap.decided.last.record)
      PrintFact("",
                fmt::format("ringscope dump --records {}..{} {}", *gap.written.first.record,
                            std::max(*gap.written.first.record, *gap.decided.last.record), path));
  }

  void PrintGroup(const GapGroup& group) {
    const Gap& largest = *group.gaps.front();
    const size_t count = group.gaps.size();
    out_.Print("\n");
    out_.PrintWrapped(
        TextStyle::kBold,
        fmt::format("{}, {}, {}:", notes_.NameOf(largest.sequence, largest.written.first.time_ns),
                    notes_.NameOf(largest.buffer),
                    count == 1 ? ChunksText(largest) : Count(count, "gap")),
        fmt::format(" {} missing", LostText(group.lost, group.places)));
    if (count > 1)
      PrintFact("largest", fmt::format("{}: {} missing", ChunksText(largest),
                                       LostText(largest.lost, largest.places)));
    PrintFacts(largest);
    std::vector<std::string> others;
    for (size_t i = 1; i < count; ++i)
      others.push_back(fmt::format("{} ({}, written {})", ChunksText(*group.gaps[i]),
                                   LostText(group.gaps[i]->lost, group.gaps[i]->places),
                                   SpanText(notes_, group.gaps[i]->written)));
    PrintFact("others", Joined(others, "; "));
  }

  void PrintGapGroups() {
    if (!shown_.own_fault.empty()) {
      out_.Heading("Lost by a buffer bug");
      for (const GapGroup& group : GroupsOf(shown_.own_fault)) PrintGroup(group);
      if (!shown_.gaps.empty()) out_.Heading("Other losses");
    }
    for (const GapGroup& group : GroupsOf(shown_.gaps)) PrintGroup(group);
    if (shown_.unlisted > 0)
      out_.Print(
          fmt::format("\n{} more are counted, but not listed\n", Count(shown_.unlisted, "gap")));
  }

  /// Prints the gaps that matter more than others: of a buffer bug, of the state that most packets
  /// need, and of the sequence that wrote least.
  void PrintNotableGaps() {
    std::vector<std::pair<const Gap*, std::string>> notable;
    if (const auto& bugs = shown_.own_fault; !bugs.empty())
      notable.emplace_back(std::ranges::max(bugs, {}, [](auto* gap) { return gap->lost.packets; }),
                           "by a buffer bug");
    if (const auto& gaps = shown_.gaps; !gaps.empty()) {
      const Gap* const state = std::ranges::max(
          gaps, {}, [](auto* gap) { return gap->next ? gap->next->unusable.count.packets : 0; });
      if (const std::string text = UnusableText(*state); !text.empty())
        notable.emplace_back(state, text);
    }
    const auto sequences = SequencesBy(
        [](const auto& each) { return each.gaps.empty() ? 0 : ~each.written().packets; });
    if (sequences.size() > 1 && !shown_.is_filtered)
      notable.emplace_back(&sequences.front()->gaps.front(),
                           fmt::format("of {} written, {} lost",
                                       Count(sequences.front()->written().packets, "packet"),
                                       WithCommas(sequences.front()->lost().packets)));
    if (!notable.empty()) out_.Heading("Gaps that matter most");
    for (const auto& [gap, why] : notable)
      PrintItem(fmt::format(
          "{}, {}: {}, written {}: {}", notes_.NameOf(gap->sequence, gap->written.first.time_ns),
          ChunksText(*gap), LostText(gap->lost, gap->places), SpanText(notes_, gap->written), why));
  }

  /// Prints what waits in a buffer to the end, with the chunks that it waits for, what patches
  /// broke, and where the log is not complete.
  void PrintIncomplete() {
    PrintList("Missing in the trace: they wait in the buffer",
              SequencesBy([](const SequenceGaps& sequence) {
                return sequence.stall ? sequence.stall->count.packets : 0;
              }),
              "sequence", [&](const SequenceGaps* sequence) {
                return fmt::format("{}: {} {}", PlaceText(*sequence),
                                   LostText(sequence->stall->count),
                                   StallText(*sequence->stall, notes_));
              });
    PrintList("Patches against the rules: they changed what their writer had completed",
              shown_.report.wrong_patches, "patch", [&](const WrongPatchAt& patch) {
                return fmt::format(
                    "{}, chunk #{}, {}, {}: applied, though it is not for the last "
                    "fragment of the chunk, or does not fit into it",
                    notes_.NameOf(patch.chunk.sequence), Raw(patch.chunk.chunk),
                    notes_.NameOf(patch.buffer), MomentText(notes_, patch.at));
              });
    PrintList(
        "Not in the log: places where it is not complete", shown_.reported, "place",
        [&](const ReportedLoss& loss) {
          std::string text;
          if (loss.sequence())
            text = notes_.NameOf(*loss.sequence()) + ", ";
          else if (loss.producer)
            text = fmt::format("producer {}, ", Raw(*loss.producer));
          text += MomentText(notes_, loss.at);
          if (loss.from_ns && loss.to_ns && *loss.from_ns < *loss.to_ns)
            text +=
                fmt::format(", between {}", SpanText(notes_, loss.from_ns, loss.to_ns, " and "));
          text += ": " + Printable(loss.reason);
          if (loss.records) text += fmt::format("; {}", Count(*loss.records, "record"));
          if (loss.bytes) text += fmt::format("; {}", HumanSize(*loss.bytes));
          return text;
        },
        shown_.unlisted_reports);
    PrintList(
        "Chunk ids that no record of the log has", shown_.missing, "place",
        [&](const auto& found) { return MissingText(*found.first, *found.second); },
        shown_.unlisted_missing);
  }

  std::string MissingText(const SequenceGaps& sequence, const MissingChunks& missing) const {
    return fmt::format(
        "{}, {}: an unknown number of packets. {}Cause: {}. In the trace: {}. No buffer size "
        "helps.",
        PlaceText(sequence),
        missing.count() == 1 ? fmt::format("chunk #{}", missing.first)
                             : fmt::format("chunks #{} to #{} ({})", missing.first, missing.last,
                                           WithCommas(missing.count())),
        missing.after.record
            ? fmt::format("Where: between {} and {}. ", MomentText(notes_, missing.before),
                          MomentText(notes_, missing.after))
            : "",
        missing.reported ? "the log is not complete there: " +
                               Printable(shown_.report.reported[*missing.reported].reason)
                         : "chunks with these ids were never committed",
        SignText(missing.sign, missing.loss_bits, {}, missing.forgotten));
  }

  /// Prints counters of losses, and flags without a loss, rule by rule.
  void PrintCounted() {
    std::vector<std::string> counters, names;
    const std::string missed = Joined(MissedFlushes(shown_.outcome, notes_));
    for (const LossCount& each : shown_.counts) {
      const bool is_flush = each.name == "flushes_failed" && !missed.empty();
      names.push_back(each.name);
      counters.push_back(fmt::format("{}: {}{}", each.name, WithCommas(each.count),
                                     is_flush ? "; not acknowledged by " + missed : ""));
    }
    PrintList("Counters of lost data: " + Joined(names), counters, "counter", std::identity());
    std::vector<std::string> rules;
    for (const auto& [rule, flags] : shown_.false_flags)
      // Flags that show missing chunks are listed with the chunks.
      if (rule != FlagRule::kNotInLog && rule != FlagRule::kRecorderGap)
        rules.push_back(fmt::format("{}: {}: {}{}", Count(flags.packets, "packet"),
                                    RowOf(rule).text, ToString(flags.first),
                                    flags.packets > 1 ? ", ..." : ""));
    PrintList("Flagged, but nothing is known to be missing", rules, "rule", std::identity());
  }

  /// Prints what was lost before it reached a buffer, or reached it late.
  void PrintOutside() {
    const auto rise = [](const FtraceCpuLosses& cpu, FtraceCounter counter) {
      const std::optional<uint64_t> value = cpu[counter].delta();
      return value ? WithCommas(*value) : std::string("?");
    };
    PrintList("Lost by the kernel's ftrace, not by a buffer", FtraceLossesOf(shown_.outcome.ftrace),
              "CPU", [&](const FtraceCpuLosses& cpu) {
                return fmt::format(
                    "CPU {}: {} of {} report a loss{}; overrun {}, commit overrun {}, dropped "
                    "events {}",
                    cpu.cpu, WithCommas(cpu.bundles_after_loss), Count(cpu.bundles, "bundle"),
                    cpu.first_loss_ns ? fmt::format(" before the events at {}",
                                                    SpanText(notes_, cpu.first_loss_ns,
                                                             cpu.last_loss_ns, " and up to "))
                                      : "",
                    rise(cpu, FtraceCounter::kOverrun), rise(cpu, FtraceCounter::kCommitOverrun),
                    rise(cpu, FtraceCounter::kDroppedEvents));
              });
    PrintList(fmt::format("Committed more than {} after their timestamps", HumanDuration(kStaleNs)),
              shown_.stale, "sequence", [&](const StaleSequence& stale) {
                return fmt::format(
                    "{}: {} ({}), by up to {} in chunk #{}: its event{} of {} was committed at {}",
                    PlaceText(stale), Count(stale.stale, "packet"),
                    ShareText(stale.stale, stale.packets), HumanDuration(stale.longest.delay_ns),
                    stale.longest.chunk,
                    stale.longest.cpu ? fmt::format(" on CPU {}", *stale.longest.cpu) : "",
                    TimeText(notes_, stale.longest.time_ns),
                    TimeText(notes_, stale.longest.time_ns + stale.longest.delay_ns));
              });
  }

  /// Packets that are neither read nor missing.
  void PrintPending() {
    FateCounts counts{};
    FateCount scraped, before, freed;
    for (const SequenceGaps* sequence : shown_.sequences) {
      counts += sequence->by_fate;
      scraped += sequence->scraped;
      before += sequence->scraped_before;
      const BufferOutcome* const buffer = shown_.outcome.Find(sequence->buffer);
      if (buffer != nullptr && buffer->freed && !shown_.outcome.clone)
        freed += sequence->by_fate[Fate::kReadable];
    }
    std::vector<std::pair<FateCount, const char*>> pending = {
        {counts[Fate::kReadable] - freed, "still in the buffer; one more read would return them"},
        {freed, "still in the buffer when it was freed: the consumer did not read it"},
        {scraped - before,
         "not finished when the service scraped their chunks, which were not committed after that; "
         "no flush helps"},
        {before,
         "scraped, and not committed after that; the writer finished the chunk, as it committed "
         "later ones: the commit is missing, and no flush is known to help"},
        {counts[Fate::kIncomplete] - scraped,
         "their writers did not commit the rest; a flush helps if it was written"},
        {counts[Fate::kFolded], "overwritten, but folded into a state (ProtoVM)"},
        {counts[Fate::kMoved], "moved into a clone, which took their buffer over"},
        {counts[Fate::kReadBefore], "read by the session itself, before the clone was made"}};
    std::erase_if(pending, [](const auto& each) { return each.first.packets == 0; });
    FateCount all;
    for (const auto& [count, text] : pending) all += count;
    const std::string packets = Count(all.packets, "packet") + " " + Was(all.packets);
    PrintList(
        counts[Fate::kIncomplete].packets - before.packets == all.packets
            ? packets + " not finished by " + (all.packets == 1 ? "its writer" : "their writers")
            : packets + " not read",
        pending, "reason",
        [](const auto& each) { return fmt::format("{}: {}", LostText(each.first), each.second); });
  }

  Report& out_;
  const ShownGaps& shown_;
  const SessionNotes& notes_;
  const bool all_;
  std::vector<std::string> others_;  // that only --all explains
};

}  // namespace

void PrintGaps(Report& out, const ShownGaps& selection, bool all) {
  GapsText(out, selection, all).Write();
}

}  // namespace ringscope
