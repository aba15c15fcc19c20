#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "commands/gaps/gaps_text_parts.h"
#include "commands/gaps/gaps_words.h"
#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

std::string ChunkRange(const MissingChunks& missing) {
  if (missing.first == missing.last) return fmt::format("chunk #{}", missing.first);
  return fmt::format("chunks #{} to #{} ({})", missing.first, missing.last,
                     WithCommas(missing.count()));
}

std::string MissingSign(const MissingChunks& missing) {
  switch (missing.sign) {
    case GapSign::kFlagged:
      return fmt::format("the next packet is flagged {}", LossBitsToString(missing.loss_bits));
    case GapSign::kFlaggedFirst:
      return fmt::format(
          "the next packet is flagged {}; it is the sequence's first, so trace "
          "processor counts no loss",
          LossBitsToString(missing.loss_bits));
    case GapSign::kV1First:
      return "no proof, as V1 flags the first packet of every sequence, and of each read";
    case GapSign::kNothingFollows:
      return "no later packet of the sequence was read";
    default:
      return missing.forgotten ? ForgottenText() : "the next packet is not flagged";
  }
}

std::string MissingCause(const MissingChunks& missing, const GapReport& report) {
  if (!missing.reported) return "chunks with these ids were never committed";
  return fmt::format("the log is not complete there: {}",
                     Printable(report.reported[*missing.reported].reason));
}

std::string OwnerText(const ReportedLoss& loss, const SessionNotes& notes) {
  if (loss.sequence) return NameText(notes, *loss.sequence);
  if (loss.producer) return fmt::format("producer {}", Raw(*loss.producer));
  return "";
}

/// What was reported, and where.
std::string ReportedText(const ReportedLoss& loss, const ShownGaps& selection) {
  std::string text = OwnerText(loss, selection.notes);
  text += fmt::format("{}{}", text.empty() ? "" : ", ", MomentText(selection.notes, loss.at));
  if (loss.from_ns && loss.to_ns)
    text +=
        fmt::format(", between {}", SpanText(selection.notes, loss.from_ns, loss.to_ns, " and "));
  text += ": ";
  if (loss.sequence && loss.loss_bits != 0)
    text += fmt::format("an unknown number of packets; the next one is flagged {}",
                        LossBitsToString(loss.loss_bits));
  else
    text += Printable(loss.reason);
  if (loss.records) text += fmt::format("; {}", Count(*loss.records, "record"));
  if (loss.bytes) text += fmt::format("; {}", HumanSize(*loss.bytes));
  return text;
}

const char* StallRemedy(Cause cause) {
  switch (cause) {
    case Cause::kWaitsForPatch:
      return "no buffer size helps; the patch is not in the log";
    case Cause::kWaitsForChunk:
      return "a flush before the last read, if the writer still had the rest";
    case Cause::kWaitsForCompletion:
      return "a flush before the last read: the writer still had the chunk";
    case Cause::kUnknown:
      return "the engine does not report what they wait for";
    default:
      return "a read would abandon them";
  }
}

std::string StallText(const OpenStall& stall, const SessionNotes& notes) {
  if (stall.cause == Cause::kUnknown)
    return fmt::format("in the buffer; {}", StallRemedy(stall.cause));
  if (!stall.at) return "in the buffer, but a read would abandon them";
  const std::string chunk = fmt::format("#{}", Raw(stall.at->chunk));
  const std::string since = MomentText(notes, stall.since);
  const char* remedy = StallRemedy(stall.cause);
  switch (stall.cause) {
    case Cause::kWaitsForPatch:
      return fmt::format("wait for a patch of chunk {}, committed at {}; {}", chunk, since, remedy);
    case Cause::kWaitsForChunk:
      return fmt::format("wait for the chunk after {}, committed at {}; {}", chunk, since, remedy);
    default:
      return fmt::format("wait for the completion of chunk {}, scraped at {}; {}", chunk, since,
                         remedy);
  }
}

}  // namespace

void PrintMore(Report& out, uint64_t more, const char* noun) {
  if (more > 0) out.Print(fmt::format("  and {} more\n", Count(more, noun)));
}

void PrintReported(Report& out, const ShownGaps& selection, uint64_t limit) {
  const auto& reported = selection.reported;
  if (reported.empty()) return;
  out.Heading(selection.report.from_trace
                  ? "Lost before the log: what the trace reports, which the log was made of"
                  : "Not in the log: places where it is not complete");
  const size_t shown = CountToShow(reported.size(), limit);
  for (size_t i = 0; i < shown; ++i)
    out.Print(Wrap(ReportedText(*reported[i], selection), "  ") + "\n");
  PrintMore(out, reported.size() - shown + selection.unlisted_reports, "place");
}

void PrintMissing(Report& out, const ShownGaps& selection, uint64_t limit) {
  if (selection.missing.empty()) return;
  out.Heading("Chunk ids that no record of the log has");
  const size_t shown = CountToShow(selection.missing.size(), limit);
  for (size_t i = 0; i < shown; ++i) {
    const auto& [sequence, missing] = selection.missing[i];
    std::string text = fmt::format("{}, buffer {}, {}: an unknown number of packets. ",
                                   NameText(selection.notes, sequence->sequence),
                                   Raw(sequence->buffer), ChunkRange(*missing));
    if (missing->after.record)
      text +=
          fmt::format("Where: between {} and {}. ", MomentText(selection.notes, missing->before),
                      MomentText(selection.notes, missing->after));
    text += fmt::format("Cause: {}. In the trace: {}. No buffer size helps.",
                        MissingCause(*missing, selection.report), MissingSign(*missing));
    out.Print(Wrap(text, "  ") + "\n");
  }
  PrintMore(out, selection.missing.size() - shown + selection.unlisted_missing, "place");
}

void PrintCounted(Report& out, const ShownGaps& selection, uint64_t limit) {
  const uint64_t some = limit == 0 ? UINT64_MAX : std::min<uint64_t>(limit, 3);
  bool any = false;
  for (size_t i = 0; i < kLossCounters; ++i) {
    const auto counter = static_cast<LossCounter>(i);
    uint64_t left = selection.counts[i];
    if (left == 0) continue;
    if (!any) out.Heading("Counters of lost data, and what made them count");
    any = true;
    out.Print(fmt::format("  {}: {}\n", Name(counter), WithCommas(left)));
    // The flags are shown with the gaps.
    const uint64_t shown = counter == LossCounter::kLossFlags && selection.any_loss ? 0 : some;
    uint64_t rows = 0;
    for (const CounterRise* rise : selection.counted) {
      if (rise->counter != counter || rows == shown) continue;
      ++rows;
      left -= rise->amount;
      out.Print(Wrap(fmt::format("{}, {}: {}{}", MomentText(selection.notes, rise->at),
                                 WhoText(*rise), ReasonText(*rise),
                                 rise->amount == 1 ? "" : fmt::format(" ({})", rise->amount)),
                     "    ") +
                "\n");
    }
    if (left > 0)
      out.Print(fmt::format("    {}'ringscope stats --explain {}'\n",
                            shown == 0 ? "" : fmt::format("and {} more: ", WithCommas(left)),
                            Name(counter)));
  }
}

void PrintLostNames(Report& out, const ShownGaps& selection, uint64_t limit) {
  constexpr std::array kOfThing = {
      "process_tree was lost: processes without a name in the trace, by pid",
      "process_tree was lost: threads without a name in the trace, by tid",
      "packages_list was lost: uids without a package name in the trace"};
  std::array<std::vector<std::string>, kNamedThings> named;
  for (const LostName& name : selection.names) {
    named[static_cast<size_t>(name.thing)].push_back(
        fmt::format("{} ({})", name.id, Printable(name.name)));
  }
  if (selection.names.empty()) return;
  out.Heading("What can no longer be named");
  for (size_t i = 0; i < kNamedThings; ++i) {
    if (named[i].empty()) continue;
    const size_t shown = CountToShow(named[i].size(), limit);
    const size_t more = named[i].size() - shown;
    named[i].resize(shown);
    out.Print(Wrap(fmt::format("{}: {}{}", kOfThing[i], Joined(named[i]),
                               more == 0 ? "" : fmt::format(" and {} more", WithCommas(more))),
                   "  ") +
              "\n");
  }
}

void PrintWaiting(Report& out, const ShownGaps& selection, uint64_t limit) {
  std::vector<const SequenceGaps*> waiting;
  for (const SequenceGaps* sequence : selection.sequences)
    if (sequence->stall) waiting.push_back(sequence);
  if (waiting.empty()) return;
  std::ranges::stable_sort(waiting, std::ranges::greater(), [](const SequenceGaps* sequence) {
    return sequence->stall->count.packets;
  });
  out.Heading("Missing in the trace: they wait in the buffer");
  const size_t shown = CountToShow(waiting.size(), limit);
  for (size_t i = 0; i < shown; ++i) {
    const SequenceGaps& sequence = *waiting[i];
    const FateCount& count = sequence.stall->count;
    out.Print(
        Wrap(fmt::format("{}, buffer {}: {} ({}) {}", NameText(selection.notes, sequence.sequence),
                         Raw(sequence.buffer), Count(count.packets, "packet"),
                         HumanSize(count.bytes), StallText(*sequence.stall, selection.notes)),
             "  ") +
        "\n");
  }
  PrintMore(out, waiting.size() - shown, "sequence");
}

void PrintPending(Report& out, const ShownGaps& selection) {
  constexpr std::pair<Fate, const char*> kReasons[] = {
      {Fate::kReadable, "still in the buffer; one more read would return them"},
      {Fate::kIncomplete, "not completed by their writers; a flush would help"},
      {Fate::kFolded, "overwritten, but folded into a state (ProtoVM)"},
      {Fate::kMoved, "moved into a clone, which took their buffer over"},
      {Fate::kReadBefore, "read by the session itself, before the clone was made"}};
  std::string text;
  for (const auto& [fate, why] : kReasons) {
    FateCount count;
    for (const SequenceGaps* sequence : selection.sequences) count += sequence->by_fate[fate];
    if (count.packets > 0)
      text += fmt::format("  {} ({}): {}\n", Count(count.packets, "packet"), HumanSize(count.bytes),
                          why);
  }
  if (text.empty()) return;
  out.Heading("Not lost, but not read either");
  out.Print(text);
}

}  // namespace ringscope
