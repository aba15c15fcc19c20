// The gaps, grouped: those of a sequence that have the same cause.

#include "commands/gaps/gap_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands/gaps/gaps_text_parts.h"
#include "commands/gaps/gaps_words.h"
#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

std::string PacketsText(const FateCount& count) {
  return fmt::format("{} ({})", Count(count.packets, "packet"), HumanSize(count.bytes));
}

void PrintLine(Report& out, const char* title, const std::string& text) {
  if (text.empty()) return;
  constexpr size_t kIndent = 14;
  const std::string wrapped = Wrap(text, kIndent);
  out.Print(fmt::format("  {:<{}}{}\n", title, kIndent - 2, wrapped.substr(kIndent)));
}

std::string PlaceText(const Gap& gap, const SessionNotes& notes) {
  return fmt::format("{}, buffer {}, {}", NameText(notes, gap.sequence), Raw(gap.buffer),
                     ChunksText(gap));
}

/// What is known of a gap, line by line.
void PrintFacts(Report& out, const Gap& gap, const ShownGaps& selection) {
  const SessionNotes& notes = selection.notes;
  PrintLine(out, "content", ContentsText(gap, selection.kinds));
  PrintLine(out, "written",
            fmt::format("{}, lost {}", SpanText(notes, gap.written), SpanText(notes, gap.decided)));
  PrintLine(out, "cause", CausesText(gap));
  PrintLine(out, "in detail", BlameText(gap, notes));
  PrintLine(out, IsFilled(gap) ? "filled by" : "evicted by", CulpritsText(gap, notes));
  PrintLine(out, "trace shows", SignText(gap));
  PrintLine(out, "unusable", UnusableText(gap));
  PrintLine(out, "remedy", RemediesText(gap, selection));
  const char* title = "look at";
  for (const std::string& command : ProofTexts(gap))
    PrintLine(out, std::exchange(title, ""),
              fmt::format("{} {}", command, ShellWord(selection.outcome.path)));
}

/// The others of a group, in a line.
std::string OthersText(const GapGroup& group, const SessionNotes& notes, bool all) {
  constexpr size_t kNamed = 3;
  const size_t shown = all ? group.gaps.size() : std::min(group.gaps.size(), kNamed + 1);
  std::vector<std::string> parts;
  for (size_t i = 1; i < shown; ++i)
    parts.push_back(fmt::format("{} ({}, written {})", ChunksText(*group.gaps[i]),
                                WithCommas(group.gaps[i]->lost.packets),
                                SpanText(notes, group.gaps[i]->written)));
  if (group.gaps.size() > shown)
    parts.push_back(fmt::format("{} more", WithCommas(group.gaps.size() - shown)));
  return Joined(parts, "; ");
}

void PrintGroup(Report& out, const GapGroup& group, const ShownGaps& selection, bool all) {
  const Gap& largest = *group.gaps.front();
  const SessionNotes& notes = selection.notes;
  out.Print("\n");
  if (group.gaps.size() == 1) {
    out.PrintWrapped(TextStyle::kBold, PlaceText(largest, notes) + ":",
                     fmt::format(" {} missing", PacketsText(largest.lost)));
    return PrintFacts(out, largest, selection);
  }
  out.PrintWrapped(TextStyle::kBold,
                   fmt::format("{}, buffer {}, {}:", NameText(notes, largest.sequence),
                               Raw(largest.buffer), Count(group.gaps.size(), "gap")),
                   fmt::format(" {} missing", PacketsText(group.lost)));
  PrintLine(out, "largest",
            fmt::format("{}: {} missing", ChunksText(largest), PacketsText(largest.lost)));
  PrintFacts(out, largest, selection);
  PrintLine(out, "others", OthersText(group, notes, all));
}

void PrintGroups(Report& out, const std::vector<GapGroup>& groups, const ShownGaps& selection,
                 uint64_t limit) {
  const size_t shown = CountToShow(groups.size(), limit);
  for (size_t i = 0; i < shown; ++i) PrintGroup(out, groups[i], selection, limit == 0);
  if (shown == groups.size()) return;
  FateCount rest;
  uint64_t gaps = 0;
  for (size_t i = shown; i < groups.size(); ++i) {
    rest += groups[i].lost;
    gaps += groups[i].gaps.size();
  }
  out.Print("\n" +
            Wrap(fmt::format("{} of {} not shown, with {}: --limit 0 shows all", Count(gaps, "gap"),
                             Count(groups.size() - shown, "further group"), PacketsText(rest)),
                 size_t{0}) +
            "\n");
}

}  // namespace

std::vector<GapGroup> GroupsOf(const std::vector<const Gap*>& gaps) {
  std::map<std::tuple<BufferId, SequenceKey, Cause>, GapGroup> by_cause;
  for (const Gap* gap : gaps) {
    const Cause cause = gap->causes.empty() ? Cause::kNone : gap->causes.front().cause;
    GapGroup& group = by_cause[{gap->buffer, gap->sequence, cause}];
    group.gaps.push_back(gap);
    group.lost += gap->lost;
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

void PrintGapGroups(Report& out, const ShownGaps& selection, uint64_t limit) {
  if (!selection.own_fault.empty()) {
    out.Heading("Lost by a buffer bug");
    PrintGroups(out, GroupsOf(selection.own_fault), selection, limit);
    if (!selection.gaps.empty()) out.Heading("Other losses");
  }
  PrintGroups(out, GroupsOf(selection.gaps), selection, limit);
  if (selection.unlisted > 0)
    out.Print(
        fmt::format("\n{} more are counted, but not listed\n", Count(selection.unlisted, "gap")));
}

}  // namespace ringscope
