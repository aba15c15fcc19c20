#include "commands/replays/log_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "commands/replays/loss_words.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"
#include "core/base/text.h"
#include "core/gaps/gap_report.h"
#include "core/log/verdict.h"

namespace ringscope {
namespace {

constexpr size_t kNamed = 3;

/// Sums over all buffers of a session.
struct SessionSums {
  LedgerTotals totals;
  /// Without what writers dropped: each mark of it stands for an unknown number of packets.
  FateCount lost, written;
  uint64_t places = 0;      // at which writers dropped packets
  uint64_t dropped_ns = 0;  // the longest time that a writer of these found no chunk, up to
  FateCount unusable;
  std::vector<const SequenceGaps*> sequences;
  std::vector<CauseCount> causes;  // the largest first; `loss_bits` of the first
  uint64_t missing_chunks = 0;

  const BufferGaps* worst = nullptr;  // the buffer that lost most; nullptr if none lost any

  explicit SessionSums(const GapReport& report) {
    for (const BufferGaps& buffer : report.buffers) {
      totals += buffer.totals;
      if (buffer.totals.lost().packets > (worst == nullptr ? 0 : worst->totals.lost().packets))
        worst = &buffer;
      for (const SequenceGaps& sequence : buffer.sequences) {
        sequences.push_back(&sequence);
        unusable += sequence.unusable.count;
        missing_chunks += sequence.missing_chunks;
        places += sequence.losses_by_flag();
        dropped_ns = std::max(dropped_ns, sequence.dropped_ns);
        for (const Gap& gap : sequence.gaps)
          for (const CauseCount& cause : gap.causes) Add(cause);
      }
    }
    const FateCount dropped = totals[Fate::kWriterDropped];
    places += dropped.packets;
    lost = totals.lost() - dropped;
    written = totals.written - dropped;
    std::erase_if(causes, [](const CauseCount& cause) { return cause.cause == Cause::kAborted; });
    std::ranges::stable_sort(causes, std::ranges::greater(),
                             [](const CauseCount& cause) { return cause.count.packets; });
  }

 private:
  void Add(const CauseCount& cause) {
    const auto same = std::ranges::find_if(causes, [&](const CauseCount& other) {
      return other.cause == cause.cause && other.own_fault == cause.own_fault;
    });
    if (same == causes.end())
      causes.push_back(cause);
    else
      same->count += cause.count;
  }
};

/// Texts of the first items.
/// @param further names the items that are too many: "further buffer"; nullptr if they are left out
template <typename Items, typename Text>
std::vector<std::string> TextsOf(const Items& items, const char* further, Text text) {
  std::vector<std::string> texts;
  for (const auto& item : items) {
    if (texts.size() == kNamed) {
      if (further != nullptr) texts.push_back(Count(items.size() - kNamed, further));
      break;
    }
    texts.push_back(text(item));
  }
  return texts;
}

/// "3.710 s; buffer 1: 256 KiB ring_buffer, v2@58; read as recorded"
std::string SessionText(const ReplayOutcome& outcome) {
  std::vector<std::string> parts =
      TextsOf(outcome.buffers, "further buffer", [](const BufferOutcome& buffer) {
        return fmt::format("buffers[{}]: {} {}, {}", buffer.index, HumanSize(buffer.size),
                           Name(buffer.policy), buffer.engine);
      });
  parts.insert(parts.begin(), HumanDuration(outcome.duration_ns()));
  parts.push_back("read " + ReadsText(outcome.reads));
  return Joined(parts, "; ");
}

/// "12 of 40 packets (30%)"
std::string PacketShare(uint64_t part, uint64_t whole) {
  return fmt::format("{} of {} ({})", WithCommas(part), Count(whole, "packet"),
                     ShareText(part, whole));
}

/// " of buffers[1]"; empty: the session has one buffer.
std::string OfBuffer(const ReplayOutcome& outcome, BufferId id) {
  return outcome.buffers.size() < 2 ? "" : " of " + outcome.NameOf(id);
}

/// "Only the last 101.7 ms of 3.710 s are left"; empty: that is not what was lost.
std::string LeftText(const SessionSums& sums, const ReplayOutcome& outcome) {
  if (sums.worst == nullptr || !outcome.last_time_ns) return "";
  const std::optional<uint64_t> since_ns = LeftSince(*sums.worst);
  if (!since_ns) return "";
  return fmt::format(
      "Only the last {} of {} are left{}",
      HumanDuration(*outcome.last_time_ns - std::min(*outcome.last_time_ns, *since_ns)),
      HumanDuration(outcome.duration_ns()), OfBuffer(outcome, sums.worst->id));
}

/// "at 12 places, because they found no free chunk in the shared memory, for up to 1.25 s; how many
/// is not known"
std::string DroppedText(const SessionSums& sums) {
  if (sums.places == 0) return "";
  return fmt::format(
      "at {}, because they found no space in the shared memory{}; how many is not known",
      Count(sums.places, "place"),
      sums.dropped_ns == 0 ? "" : fmt::format(", for up to {}", HumanDuration(sums.dropped_ns)));
}

/// ", from 714.5 ms to 1.833 s": when what was lost was committed; empty: not known.
std::string LostWhenText(const LossTimeline& timeline, const ReplayOutcome& outcome) {
  const std::vector<TimelineInterval>& intervals = timeline.intervals();
  const auto lost = [](const TimelineInterval& interval) { return interval.lost > 0; };
  const auto first = std::ranges::find_if(intervals, lost);
  const auto last = std::find_if(intervals.rbegin(), intervals.rend(), lost);
  if (intervals.size() < 2 || first == intervals.end() || !outcome.first_time_ns) return {};
  const auto at = [&](auto intervals_before) {
    const uint64_t ns =
        timeline.first_ns() + static_cast<uint64_t>(intervals_before) * timeline.interval_ns();
    return HumanDuration(
        std::min(ns - std::min(ns, *outcome.first_time_ns), outcome.duration_ns()));
  };
  return fmt::format(", from {} to {}", at(first - intervals.begin()), at(intervals.rend() - last));
}

std::string LostHeadline(const SessionSums& sums, const LossTimeline& timeline,
                         const ReplayOutcome& outcome) {
  if (const std::string left = LeftText(sums, outcome); !left.empty()) return left + ".";
  const uint64_t lost = sums.lost.packets;
  if (lost == 0) return fmt::format("Writers dropped packets {}.", DroppedText(sums));
  return fmt::format("{} {} lost{}.", PacketShare(lost, sums.written.packets), Was(lost),
                     LostWhenText(timeline, outcome));
}

/// "buffers[0].size_kb 256 -> 6544, which keeps everything": the changes that go together.
std::string ChangeText(const RemedyList& remedies, const ReplayOutcome& outcome) {
  std::vector<std::string> texts = TextsOf(remedies.changes, "further line", [&](const auto& line) {
    std::string was;
    for (const BufferOutcome& buffer : outcome.buffers)
      if (line.path == fmt::format("buffers[{}].size_kb", buffer.index))
        was = fmt::format("{} -> ", buffer.size / 1024);
    return fmt::format("{} {}{}", line.path, was, line.value);
  });
  if (texts.empty() || !remedies.together) return Joined(texts);
  const uint64_t lost = remedies.together->lost;
  return Joined(texts) + (lost == 0 ? ", which keeps everything"
                                    : fmt::format(", which loses {}", Count(lost, "packet")));
}
std::string WaitingHeadline(uint64_t waiting) {
  return fmt::format("{} wait{} in a buffer, and {} not in the trace.", Count(waiting, "packet"),
                     waiting == 1 ? "s" : "", Is(waiting));
}
constexpr const char* kSignsHeadline = "No packet of the log was lost, but more may be missing.";

/// Of a trace: what is not in the log.
std::string LostBeforeText(const RecordingVerdict& verdict) {
  return fmt::format("Data was lost that is not in the trace: {}.", Printable(verdict.detail));
}

std::string LostText(const SessionSums& sums, bool with_packets) {
  return fmt::format(
      "{}{} of {}", with_packets ? PacketShare(sums.lost.packets, sums.written.packets) + ", " : "",
      HumanSize(sums.lost.bytes), HumanSize(sums.written.bytes));
}

/// The reason that the looks at the shared memory show most often.
std::string WhyDroppedText(const SessionSums& sums) {
  constexpr std::array kReasons = {
      "the shared memory was full; the log does not show why",
      "a packet was larger than the shared memory",
      "the producer wrote a burst that its shared memory does not hold",
      "the shared memory was full while the service was blocked",
      "the producer's writers held all chunks of the shared memory",
      "the producer held complete chunks back",
      "the service was late to free chunks of the shared memory",
      "the recorder held the producer's requests back"};
  static_assert(kReasons.size() == kEnumNames<AbortReason>.size());
  std::array<uint64_t, kReasons.size()> places{};
  for (const SequenceGaps* sequence : sums.sequences)
    for (const Gap& gap : sequence->gaps)
      if (gap.abort) ++places.at(static_cast<size_t>(gap.abort->reason));
  return kReasons.at(static_cast<size_t>(std::ranges::max_element(places) - places.begin()));
}

std::string WhyText(const SessionSums& sums) {
  if (sums.causes.size() == 1) return CauseText(sums.causes.front());
  std::vector<std::string> parts = TextsOf(sums.causes, nullptr, [](const CauseCount& cause) {
    return fmt::format("{} {}", WithCommas(cause.count.packets), CauseText(cause));
  });
  if (sums.causes.size() > kNamed) parts.emplace_back("others for other causes");
  return Joined(parts, "; ");
}

/// The sequences that lost most packets, or else at most places.
std::string LosersText(const SessionSums& sums, const SessionNotes& notes) {
  const bool by_places = sums.lost.packets == 0;
  const auto lost_by = [&](const SequenceGaps* each) {
    const uint64_t dropped = each->by_fate[Fate::kWriterDropped].packets;
    return by_places ? dropped + each->losses_by_flag() : each->lost().packets - dropped;
  };
  std::vector<const SequenceGaps*> losers = sums.sequences;
  std::erase_if(losers, [&](const SequenceGaps* each) { return lost_by(each) == 0; });
  std::ranges::stable_sort(losers, std::ranges::greater(), lost_by);
  return Joined(TextsOf(losers, "further sequence", [&](const SequenceGaps* each) {
    const bool is_in_several =
        std::ranges::count(losers, each->sequence, &SequenceGaps::sequence) > 1;
    return fmt::format(
        "{} {}{}", ShareText(lost_by(each), by_places ? sums.places : sums.lost.packets),
        notes.NameOf(each->sequence), is_in_several ? " in " + notes.NameOf(each->buffer) : "");
  }));
}

/// The packets that were committed long after their time, and when.
std::string StaleText(const GapReport& report, const SessionNotes& notes) {
  if (report.stale.empty()) return "";
  uint64_t packets = 0;
  for (const StaleSequence& stale : report.stale) packets += stale.stale;
  const StaleSequence& worst =
      *std::ranges::max_element(report.stale, {}, &StaleSequence::longest_ns);
  return fmt::format(
      "{} committed up to {} late: an event{} of {}, in {}, came at {}. The UI shows a huge gap.",
      packets == 1 ? "1 packet was" : Count(packets, "packet") + " were",
      HumanDuration(worst.longest_ns), worst.cpu ? fmt::format(" of CPU {}", *worst.cpu) : "",
      TimeText(notes, worst.event_ns), notes.NameOf(worst.sequence),
      TimeText(notes, worst.event_ns + worst.longest_ns));
}

/// "2 were made, and may have other packets: gaps --clone 1"
std::string ClonesText(const ReplayOutcome& outcome) {
  uint64_t made = 0, first = 0;
  for (const CloneFacts& clone : outcome.clones) {
    if (clone.failed) continue;
    if (made++ == 0) first = clone.clone;
  }
  if (made == 0 || outcome.clone) return "";
  return fmt::format("{} made, and may have other packets: ringscope gaps --clone {}",
                     made == 1 ? "1 was" : WithCommas(made) + " were", first);
}

/// For whose commits packets were overwritten.
std::string EvictorsText(const GapReport& report, const SessionNotes& notes) {
  uint64_t all = 0;
  for (const EvictorCount& evictor : report.evictors) all += evictor.packets;
  return Joined(TextsOf(report.evictors, nullptr, [&](const EvictorCount& evictor) {
    return fmt::format("{} {}", ShareText(evictor.packets, all), notes.NameOf(evictor.sequence));
  }));
}

/// "··▂█████ share lost of what was written from 0 ns to 3.7 s"
std::string OverTimeText(const LossTimeline& timeline, const ReplayOutcome& outcome) {
  constexpr std::array<const char*, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (timeline.intervals().size() < 2) return {};
  std::string text;
  for (const TimelineInterval& interval : timeline.intervals()) {
    // The highest only where all is lost.
    const uint64_t height =
        interval.lost == interval.written ? 7 : interval.lost * 7 / interval.written;
    text += interval.written == 0 ? "_" : interval.lost == 0 ? "·" : kHeights[height];
  }
  const uint64_t start = outcome.first_time_ns.value_or(timeline.first_ns());
  const auto since_start = [&](uint64_t ns) { return ns - std::min(start, ns); };
  const uint64_t from = since_start(timeline.first_written_ns());
  const uint64_t to =
      since_start(timeline.first_ns() + timeline.interval_ns() * timeline.intervals().size());
  return fmt::format("{} share of packets lost, by time of commit, from {} to {}", text,
                     HumanDuration(from), HumanDuration(std::min(to, outcome.duration_ns())));
}

std::string WaitingText(const SessionSums& sums, const SessionNotes& notes) {
  const FateCount& waiting = sums.totals[Fate::kStalled];
  if (waiting.packets == 0) return {};
  std::string at;
  uint64_t most = 0;
  for (const SequenceGaps* sequence : sums.sequences) {
    if (!sequence->stall || sequence->stall->count.packets <= most) continue;
    most = sequence->stall->count.packets;
    at = fmt::format("; most, {}, in {}", WithCommas(most), notes.NameOf(sequence->sequence));
    if (sequence->stall->at)
      at += fmt::format(", waiting at chunk #{}", Raw(sequence->stall->at->chunk));
  }
  return fmt::format("{} ({}) {} still in the buffer, and {} not read{}",
                     Count(waiting.packets, "packet"), HumanSize(waiting.bytes),
                     Is(waiting.packets), Was(waiting.packets), at);
}

/// What shows that more may be missing than is known; empty: nothing does.
std::string SignsText(const GapReport& report, const SessionSums& sums) {
  const GapSelection all(report, 0, {});
  if (!all.any_sign) return {};
  std::vector<std::string> parts;
  if (sums.missing_chunks > 0)
    parts.push_back(Count(sums.missing_chunks, "chunk id") + " without a commit in the log");
  if (report.reports() > 0)
    parts.push_back(
        fmt::format("{} where the {}", Count(report.reports(), "place"),
                    report.from_trace ? "trace itself reports a loss" : "log is not complete"));
  // Of losses that are known, the counters tell nothing new.
  if (sums.totals.lost().packets == 0 && sums.totals[Fate::kStalled].packets == 0)
    for (size_t i = 0; i < kLossCounters; ++i)
      if (report.counts[i] > 0)
        parts.push_back(
            fmt::format("{}: {}", Name(static_cast<LossCounter>(i)), WithCommas(report.counts[i])));
  if (!report.ftrace.empty())
    parts.push_back("events lost by ftrace on " + Count(report.ftrace.size(), "CPU"));
  if (parts.empty() && sums.totals.lost().packets == 0 && sums.totals[Fate::kStalled].packets == 0)
    parts.emplace_back("packets that are flagged, though no loss before them is known");
  return Joined(parts);
}

/// That nothing was lost, as far as the log goes.
std::string NothingLostText(const SessionSums& sums, const ReadsUsed& reads) {
  std::vector<std::string> later;
  for (const SequenceGaps* sequence : sums.sequences)
    if (sequence->first_chunk > 0 && sequence->written().packets > 0)
      later.push_back(
          fmt::format("{} with #{}", ToString(sequence->sequence), sequence->first_chunk));
  if (later.empty())
    return reads.assumed && reads.mode == ReadsMode::kStreamed
               ? "Nothing was lost with these reads."
               : "Nothing was lost.";
  const size_t count = later.size();
  later.resize(std::min(count, kNamed));
  return fmt::format(
      "Nothing was lost of what is in the log. {} not begin with chunk #0 ({}{}): what came before "
      "is not known.",
      count == 1 ? "1 sequence does" : Count(count, "sequence") + " do", Joined(later),
      count > kNamed ? ", ..." : "");
}

}  // namespace

Answer AnswerOf(const GapReport& report, const ReplayOutcome& outcome, const SessionNotes& notes,
                const RemedyList& remedies) {
  const SessionSums sums(report);
  const uint64_t lost = sums.lost.packets + sums.places;
  const uint64_t read = sums.totals[Fate::kRead].packets;
  const uint64_t unusable = sums.unusable.packets;
  const uint64_t waiting = sums.totals[Fate::kStalled].packets;
  const std::string signs = SignsText(report, sums);
  const RecordingVerdict* const before = LossesBefore(outcome.verdicts);
  Answer answer;
  const Harm of_unusable = HarmOfUnusable(unusable, read);
  if (of_unusable == Harm::kError) {
    answer.severity = of_unusable;
    const std::string left = LeftText(sums, outcome);
    answer.headline = fmt::format(
        "{} names of the events in {} of the {} that were read were lost: the UI cannot show them.",
        left.empty() ? "The" : left + ", and the", WithCommas(unusable), Count(read, "packet"));
  } else if (lost > 0) {
    answer.severity = Harm::kDataLoss;
    answer.headline = LostHeadline(sums, report.over_time, outcome);
    if (waiting > 0) {
      answer.headline.pop_back();  // the full stop
      answer.headline += fmt::format("; {} more wait{} in a buffer and {} not in the trace.",
                                     WithCommas(waiting), waiting == 1 ? "s" : "", Is(waiting));
    }
  } else if (waiting > 0) {
    answer.severity = Harm::kDataLoss;
    answer.headline = WaitingHeadline(waiting);
  } else if (before != nullptr) {
    answer.severity = Harm::kDataLoss;
    answer.headline = LostBeforeText(*before);
  } else if (!signs.empty()) {
    answer.severity = Harm::kWarning;
    answer.headline = kSignsHeadline;
  } else {
    answer.headline = NothingLostText(sums, outcome.reads);
  }
  if (lost > 0 && outcome.reads.assumed && outcome.reads.mode == ReadsMode::kEnd &&
      before == nullptr) {
    answer.headline.front() = static_cast<char>(std::tolower(answer.headline.front()));
    answer.headline =
        "If the session was read only at its end, which the log does not show: " + answer.headline;
    answer.Add("Better",
               "--config CONFIG, if it was written into a file, or --reads like=TRACE with the "
               "trace that the service wrote");
  }
  if (before != nullptr && (lost > 0 || waiting > 0 || of_unusable == Harm::kError))
    answer.Add("Before", LostBeforeText(*before));
  if (sums.lost.packets > 0) {
    // The headline may have the packets already.
    answer.Add("Lost",
               LostText(sums, answer.severity == Harm::kError || !LeftText(sums, outcome).empty()));
    answer.Add("Why", WhyText(sums));
    answer.Add("Over time", OverTimeText(report.over_time, outcome));
  } else if (sums.places > 0) {
    answer.Add("Why", WhyDroppedText(sums));
  }
  if (lost > 0) {
    answer.Add("Lost by", LosersText(sums, notes));
    answer.Add("Evicted by", EvictorsText(report, notes));
  }
  if (sums.lost.packets > 0 && sums.places > 0)
    answer.Add("Dropped", fmt::format("more, by their writers, {}", DroppedText(sums)));
  answer.Add("Folded", FoldedText(outcome, sums.totals[Fate::kFolded]));
  answer.Add("Stalled", WaitingText(sums, notes));
  if (of_unusable == Harm::kDataLoss)
    answer.Add("Unusable", fmt::format("{} of the {} that were read need incremental state that "
                                       "was lost",
                                       WithCommas(unusable), Count(read, "packet")));
  answer.Add("Late", StaleText(report, notes));
  answer.Add("More hints", signs);
  answer.Add("Clones", ClonesText(outcome));
  answer.change = ChangeText(remedies, outcome);
  for (const std::string& text : RemedyTexts(remedies, notes)) answer.Add("Change", text);
  answer.Add("Assumed", ReadsNotes(outcome.reads));
  answer.Add("Session", SessionText(outcome));
  return answer;
}

ReplayFacts ReplayFactsOf(const GapReport& report, const ReplayOutcome& outcome,
                          const SessionNotes& notes, const RemedyList& remedies) {
  const SessionSums sums(report);
  ReplayFacts facts;
  if (outcome.first_time_ns && outcome.last_time_ns)
    facts.session = TimeSpan{static_cast<int64_t>(*outcome.first_time_ns),
                             static_cast<int64_t>(*outcome.last_time_ns)};
  std::vector<ConfigChange> changes;
  for (const BufferOutcome& buffer : outcome.buffers) {
    ReplayedBuffer& replayed = facts.buffers[buffer.index];
    replayed.id = buffer.id;
    replayed.policy = buffer.policy;
    const Remedy* const size = FindSizeRemedy(remedies.remedies, buffer.id);
    if (size == nullptr) continue;
    replayed.size = size->changes.front();
    replayed.size->value = std::to_string(size->size / 1024);
    replayed.size->reason = TriedText(*size);
    changes.push_back(*replayed.size);
  }
  const auto add = [&](const char* rule, std::string what, uint64_t weight) -> Finding& {
    Finding& finding = facts.findings.emplace_back();
    finding.rule = &RuleOf(rule);
    finding.harm = finding.rule->harm;
    finding.what = std::move(what);
    finding.remedy = finding.rule->remedy;
    finding.proof = "The replay of the log, packet by packet.";
    finding.weight = weight;
    return finding;
  };
  const uint64_t lost = sums.lost.packets + sums.places;
  const uint64_t waiting = sums.totals[Fate::kStalled].packets;
  for (const CounterRise& rise : report.counted) {
    const auto buffer = std::ranges::find(outcome.buffers, rise.buffer, &BufferOutcome::id);
    if (rise.is_harmless() && buffer != outcome.buffers.end())
      facts.buffers[buffer->index].harmless_recommits += rise.amount;
  }
  for (const auto& [producer, times] : report.missed_flushes)
    facts.missed_flushes.push_back(
        fmt::format("{} ({})", ProducerText(producer, notes.ProducerOf({producer, WriterId{1}})),
                    Count(times, "time")));
  if (!report.stale.empty()) add("log.stale", StaleText(report, notes), report.stale.size());
  const std::vector<std::string> registered(notes.registered().begin(), notes.registered().end());
  for (const std::string& name : notes.UnknownSources()) {
    const std::optional<std::string> nearest = Nearest(name, registered);
    add("log.unknown_source",
        fmt::format("No producer registered the data source '{}'{}", Printable(name),
                    nearest ? fmt::format("; did you mean '{}'?", Printable(*nearest)) : "."),
        0);
  }
  facts.answer = AnswerOf(report, outcome, notes, remedies);
  // Texts of the answer's lines with a label.
  const auto lines = [&](std::string_view label) {
    std::vector<std::string> texts;
    for (const AnswerLine& line : facts.answer.lines)
      if (line.label == label) texts.push_back(line.text);
    return Joined(texts, " ");
  };
  if (lost > 0) {
    Finding& finding = add("log.lost", LostHeadline(sums, report.over_time, outcome), lost);
    finding.where = "by sequence: " + lines("Lost by");
    finding.cause = sums.lost.packets > 0 ? fmt::format("What became of them: {}.", lines("Why"))
                                          : lines("Why");
    if (std::string change = lines("Change"); !change.empty()) finding.remedy = std::move(change);
    finding.changes = std::move(changes);
  }
  if (waiting > 0) add("log.waiting", WaitingHeadline(waiting), waiting).where = lines("Stalled");
  const std::string signs = lines("More hints");
  if (lost == 0 && waiting == 0 && !signs.empty()) {
    const RecordingVerdict* const before = LossesBefore(outcome.verdicts);
    add("log.signs", before != nullptr ? LostBeforeText(*before) : kSignsHeadline, 0).proof = signs;
  }
  return facts;
}

}  // namespace ringscope
