#include "commands/replays/log_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <vector>

#include "commands/replays/loss_words.h"
#include "commands/replays/replay_run.h"
#include "commands/shell/text.h"
#include "core/base/text.h"
#include "core/gaps/gap_report.h"
#include "core/log/verdict.h"

namespace ringscope {
namespace {

constexpr size_t kNamed = 2;  // sequences and sources

/// Tells how much a session lost, why, to whom, and which change would have kept it.
class LogAnswer {
 public:
  LogAnswer(const GapReport& report, const ReplayOutcome& outcome, const SessionNotes& notes,
            const RemedyList& remedies)
      : report_(report),
        outcome_(outcome),
        notes_(notes),
        remedies_(remedies),
        before_(LossesBefore(outcome.verdicts)) {
    for (const BufferGaps& buffer : report.buffers) {
      totals_ += buffer.totals;
      if (buffer.totals.lost().packets > (worst_ == nullptr ? 0 : worst_->totals.lost().packets))
        worst_ = &buffer;
      for (const SequenceGaps& sequence : buffer.sequences) {
        sequences_.push_back(&sequence);
        missing_chunks_ += sequence.missing_chunks;
        dropped_ns_ = std::max(dropped_ns_, sequence.dropped_ns);
        for (const Gap& gap : sequence.gaps)
          causes_.insert(causes_.end(), gap.causes.begin(), gap.causes.end());
      }
    }
    stages_ = StagesOf(sequences_, notes, outcome, report.reports());
    places_ = stages_.all[Stage::kSharedMemory].places;
    const FateCount dropped = totals_[Fate::kWriterDropped];
    lost_ = totals_.lost() - dropped;
    written_ = totals_.written - dropped;
    std::erase_if(causes_, [](const CauseCount& cause) { return cause.cause == Cause::kAborted; });
  }

  const StageAccounts& stages() const { return stages_; }
  /// Packets, or places at which an unknown number of them was dropped.
  uint64_t losses() const { return lost_.packets + places_; }
  uint64_t waiting() const { return totals_[Fate::kStalled].packets; }

  /// "Only the last 101.7 ms of 3.710 s are left"; empty: that is not what was lost.
  Sentence LeftText() const {
    if (worst_ == nullptr || !outcome_.last_time_ns) return "";
    const std::optional<uint64_t> since_ns = LeftSince(*worst_);
    if (!since_ns) return "";
    return Say(
        "Only the last {} of {} are left{}",
        Time("left_ns", *outcome_.last_time_ns - std::min(*outcome_.last_time_ns, *since_ns)),
        Time("duration_ns", outcome_.duration_ns()),
        outcome_.buffers.size() < 2 ? "" : " of " + outcome_.NameOf(worst_->id));
  }

  Sentence LostHeadline() const {
    if (const Sentence left = LeftText(); !left.empty()) return Say("{}.", left);
    if (lost_.packets == 0) return Say("Writers dropped packets {}.", DroppedText());
    return Say("{} of {} ({}) {} lost{}.", Number("lost", lost_.packets),
               Number("written", written_.packets, "packet"),
               Share("share_lost", lost_.packets, written_.packets), Was(lost_.packets),
               LostWhenText());
  }

  Sentence WaitingHeadline() const {
    return Say("{} wait{} in a buffer, and {} not in the trace.",
               Number("waiting", waiting(), "packet"), waiting() == 1 ? "s" : "", Is(waiting()));
  }

  /// Why packets were lost; of writers that dropped them, the reason that the looks at the shared
  /// memory show most often.
  Sentence WhyText() const {
    if (lost_.packets == 0) return WhyDroppedText();
    Sentence why = ShortList(CauseTexts(causes_), "other cause", "; ");
    std::map<Cause, uint64_t> packets;
    for (const CauseCount& cause : causes_) packets[cause.cause] += cause.count.packets;
    for (const auto& [cause, count] : packets)
      AddFigures(why.figures, Number(fmt::format("cause.{}", Name(cause)), count));
    return why;
  }

  /// The sequences that lost most packets, or else at most places.
  Sentence LosersText() const {
    const bool by_places = lost_.packets == 0;
    const auto lost_by = [&](const SequenceGaps* each) {
      const uint64_t dropped = each->by_fate[Fate::kWriterDropped].packets;
      return by_places ? dropped + each->losses_by_flag() : each->lost().packets - dropped;
    };
    std::vector<const SequenceGaps*> losers = sequences_;
    std::erase_if(losers, [&](const SequenceGaps* each) { return lost_by(each) == 0; });
    std::ranges::stable_sort(losers, std::ranges::greater(), lost_by);
    SharesOf shares;
    for (const SequenceGaps* each : std::span(losers).first(std::min(kNamed, losers.size())))
      shares.emplace_back(
          notes_.NameOf(each->sequence) +
              (std::ranges::count(losers, each->sequence, &SequenceGaps::sequence) > 1
                   ? " in " + notes_.NameOf(each->buffer)
                   : ""),
          lost_by(each));
    return Shares("lost_by", shares, by_places ? places_ : lost_.packets, kNamed);
  }

  Sentence WaitingText() const {
    if (waiting() == 0) return {};
    Sentence at;
    uint64_t most = 0;
    for (const SequenceGaps* sequence : sequences_) {
      if (!sequence->stall || sequence->stall->count.packets <= most) continue;
      most = sequence->stall->count.packets;
      at =
          Say("; most, {}, in {}", Number("most_waiting", most), notes_.NameOf(sequence->sequence));
      if (sequence->stall->at)
        at += Say(", waiting at chunk #{}", Number("chunk", Raw(sequence->stall->at->chunk)));
    }
    return Say(
        "{} ({}) {} still in the buffer, and {} not read{}", Number("waiting", waiting(), "packet"),
        Size("waiting_bytes", totals_[Fate::kStalled].bytes), Is(waiting()), Was(waiting()), at);
  }

  /// The packets that were committed long after their time, and when.
  Sentence StaleText() const {
    if (report_.stale.empty()) return "";
    uint64_t packets = 0;
    for (const StaleSequence& stale : report_.stale) packets += stale.stale;
    const StaleSequence& worst = *std::ranges::max_element(
        report_.stale, {}, [](const StaleSequence& one) { return one.longest.delay_ns; });
    return Say("{} came late: an event{} of {}, in {}, at {}. The UI shows a huge gap.",
               Number("stale", packets, "packet"),
               worst.longest.cpu ? fmt::format(" of CPU {}", *worst.longest.cpu) : "",
               TimeOf("stale_event_ns", worst.longest.time_ns), notes_.NameOf(worst.sequence),
               TimeOf("stale_commit_ns", worst.longest.time_ns + worst.longest.delay_ns));
  }

  /// Returns the signs that more may be missing than is known; empty if there are none.
  Sentence SignsText() const {
    const auto cpus = static_cast<uint64_t>(
        std::ranges::count_if(FtraceLossesOf(outcome_.ftrace), &FtraceCpuLosses::lost_in_session));
    if (!GapSelection(report_, 0, {}).any_sign && cpus == 0) return {};
    const bool is_known = totals_.lost().packets > 0 || waiting() > 0;
    Sentence signs;
    const auto add = [&](const Sentence& sign) {
      signs += Say("{}{}", signs.empty() ? "" : ", ", sign);
    };
    if (missing_chunks_ > 0)
      add(Say("{} without a commit in the log",
              Number("missing_chunks", missing_chunks_, "chunk id")));
    if (report_.reports() > 0)
      add(Say("{} where the {}", Number("reported_places", report_.reports(), "place"),
              report_.from_trace ? "trace itself reports a loss" : "log is not complete"));
    // Of losses that are known, the counters tell nothing new.
    const std::string missed = Joined(MissedFlushes(outcome_, notes_));
    for (size_t i = 0; i < kLossCounters && !is_known; ++i)
      if (report_.counts[i] > 0 &&
          (missed.empty() || i != static_cast<size_t>(LossCounter::kFlushesFailed)))
        add(Say("{}: {}", Name(static_cast<LossCounter>(i)),
                Number(Name(static_cast<LossCounter>(i)), report_.counts[i])));
    if (!missed.empty()) add("flushes not acknowledged by " + missed);
    if (cpus > 0) add(Say("events lost by ftrace on {}", Number("ftrace_cpus", cpus, "CPU")));
    if (signs.empty() && !is_known)
      add("packets that are flagged, though no loss before them is known");
    return signs;
  }

  /// The headline of a session without losses that has such signs.
  Sentence SignsHeadline(const Sentence& signs) const {
    if (before_ != nullptr) return LostBeforeText();
    return Say("No packet of the log was lost, but more may be missing: {}.", signs);
  }

  Answer ToAnswer() const {
    const uint64_t read = totals_[Fate::kRead].packets;
    const Sentence left = LeftText(), signs = SignsText();
    Sentence headline;
    Answer answer{.packets = read, .usable = read - stages_.all.unusable};
    const Harm of_unusable = HarmOfUnusable(stages_.all.unusable, read);
    if (of_unusable == Harm::kError) {
      answer.severity = of_unusable;
      headline = UnusableHeadline(left, stages_.all.unusable, read);
    } else if (losses() > 0) {
      answer.severity = Harm::kDataLoss;
      headline = LostHeadline();
    } else if (waiting() > 0) {
      answer.severity = Harm::kDataLoss;
      headline = WaitingHeadline();
    } else if (before_ != nullptr || !signs.empty()) {
      answer.severity = before_ != nullptr ? Harm::kDataLoss : Harm::kWarning;
      headline = SignsHeadline(signs);
    } else {
      headline = NothingLostText();
    }
    if (losses() > 0 && outcome_.reads.assumed && outcome_.reads.mode == ReadsMode::kEnd &&
        before_ == nullptr) {
      headline.text.front() = static_cast<char>(std::tolower(headline.text.front()));
      headline =
          Say("If the session was read only at its end, which the log does not show: {}", headline);
      answer.Add("Better",
                 "--config CONFIG, if it was written into a file, or --reads like=TRACE with the "
                 "trace that the service wrote");
    }
    answer.headline = answer.Keep(headline);
    if (before_ != nullptr && (losses() > 0 || waiting() > 0 || of_unusable == Harm::kError))
      answer.Add("Before", LostBeforeText());
    if (answer.severity > Harm::kWarning || totals_.written.packets > read)
      answer.Add("Stages", StagesText(stages_));
    if (losses() > 0) answer.Add("Why", WhyText());
    if (lost_.packets > 0) answer.Add("Over time", OverTimeText());
    if (losses() > 0) {
      answer.Add("Lost by", LosersText());
      answer.Add("Sources", SourcesText());
      answer.Add("Evicted by", EvictorsText());
    }
    if (lost_.packets > 0 && places_ > 0)
      answer.Add("Dropped", Say("more, by their writers, {}", DroppedText()));
    answer.Add("Folded", FoldedText(outcome_, totals_[Fate::kFolded]));
    answer.Add("Stalled", WaitingText());
    answer.Add("Late", StaleText());
    if (losses() + waiting() > 0 || before_ != nullptr) answer.Add("More hints", signs);
    answer.Add("Clones", ClonesText());
    answer.change = answer.Keep(ChangeText());
    answer.more_changes =
        static_cast<uint64_t>(std::ranges::count_if(remedies_.remedies, [&](const Remedy& remedy) {
          return std::search(remedies_.changes.begin(), remedies_.changes.end(),
                             remedy.changes.begin(),
                             remedy.changes.end()) == remedies_.changes.end();
        }));
    answer.Add("Assumed", ReadsNotes(outcome_.reads));
    return answer;
  }

 private:
  /// "at 12 places where the shared memory was full, for up to 1.25 s; how many is not known"
  Sentence DroppedText() const {
    return Say("at {} where the shared memory was full{}; how many is not known",
               Number("dropped_places", places_, "place"),
               dropped_ns_ == 0 ? "" : Say(", for up to {}", Time("dropped_ns", dropped_ns_)));
  }

  std::string WhyDroppedText() const {
    std::array<uint64_t, kEnumNames<AbortReason>.size()> places{};
    for (const SequenceGaps* sequence : sequences_)
      for (const Gap& gap : sequence->gaps)
        if (gap.abort) ++places.at(static_cast<size_t>(gap.abort->reason));
    return AbortReasonText(
        static_cast<AbortReason>(std::ranges::max_element(places) - places.begin()));
  }

  /// A time of the session as people read it, not after its end.
  Sentence TimeFromStart(const char* name, uint64_t ns) const {
    return TimeOf(name, std::min(ns, outcome_.last_time_ns.value_or(ns)));
  }
  Sentence TimeOf(const char* name, uint64_t ns) const {
    return Time(name, static_cast<int64_t>(ns) - static_cast<int64_t>(notes_.start_ns()));
  }

  /// ", from 714.5 ms to 1.833 s": when what was lost was committed; empty: not known.
  Sentence LostWhenText() const {
    const LossTimeline& timeline = report_.over_time;
    const auto& intervals = timeline.intervals();
    const auto lost = [](const TimelineInterval& interval) { return interval.lost > 0; };
    const auto first = std::ranges::find_if(intervals, lost);
    const auto last = std::find_if(intervals.rbegin(), intervals.rend(), lost);
    if (intervals.size() < 2 || first == intervals.end()) return {};
    const auto at = [&](const char* name, auto intervals_before) {
      return TimeFromStart(name, timeline.first_ns() + static_cast<uint64_t>(intervals_before) *
                                                           timeline.interval_ns());
    };
    const Sentence from = at("lost_from_ns", first - intervals.begin());
    const Sentence to = at("lost_to_ns", intervals.rend() - last);
    return from.text == to.text ? Say(", at {}", from) : Say(", from {} to {}", from, to);
  }

  /// "710.5 ms ··▂█████ 3.7 s: share of packets lost, by the time of their commit"
  Sentence OverTimeText() const {
    constexpr std::array<const char*, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const LossTimeline& timeline = report_.over_time;
    const std::vector<TimelineInterval>& all = timeline.intervals();
    if (all.size() < 2) return {};
    std::string text;
    for (size_t i = 0; i < all.size(); i += 2) {  // so that they fit into a row
      TimelineInterval bar = all[i];
      if (i + 1 < all.size()) bar += all[i + 1];
      // The highest only where all is lost.
      const uint64_t height = bar.lost == bar.written ? 7 : bar.lost * 7 / bar.written;
      text += bar.written == 0 ? "_" : bar.lost == 0 ? "·" : kHeights[height];
    }
    return Say("{} {} {}: share of packets lost",
               TimeFromStart("first_written_ns", timeline.first_written_ns()), text,
               TimeFromStart("last_written_ns",
                             timeline.first_ns() + timeline.interval_ns() * all.size()));
  }

  /// "96.6% linux.ftrace, 3.4% linux.process_stats": of packets whose data source is known, if
  /// there are several.
  Sentence SourcesText() const {
    SharesOf shares;
    for (const SourceLosses& each : LossesBySource(sequences_, notes_))
      if (each.lost.packets > 0) shares.emplace_back(Printable(each.source), each.lost.packets);
    return shares.size() < 2 ? "" : Shares("lost_of", shares, totals_.lost().packets, kNamed);
  }

  /// For whose commits packets were overwritten.
  Sentence EvictorsText() const {
    uint64_t all = 0;
    SharesOf shares;
    for (const EvictorCount& evictor : report_.evictors) {
      all += evictor.packets;
      shares.emplace_back(notes_.NameOf(evictor.sequence), evictor.packets);
    }
    return Shares("evicted_by", shares, all, kNamed);
  }

  /// "2 were made, and may have other packets: gaps --clone 1"
  Sentence ClonesText() const {
    uint64_t made = 0, first = 0;
    for (const CloneFacts& clone : outcome_.clones) {
      if (clone.failed) continue;
      if (made++ == 0) first = clone.clone;
    }
    if (made == 0 || outcome_.clone) return "";
    return Say("{} {} made, and may have other packets: ringscope gaps --clone {}",
               Number("clones", made), Was(made), Number("first_clone", first));
  }

  /// "buffers[0].size_kb 256 -> 6544, which keeps everything": the changes that go together.
  Sentence ChangeText() const {
    std::vector<uint64_t> sizes_kb(outcome_.buffers.size());
    for (const BufferOutcome& buffer : outcome_.buffers)
      if (buffer.index < sizes_kb.size()) sizes_kb[buffer.index] = buffer.size / 1024;
    Sentence text = ChangesText(remedies_.changes, sizes_kb);
    if (text.empty() || !remedies_.together) return text;
    const auto& [lost, full, waiting] = *remedies_.together;
    const auto shorter = std::ranges::find_if(remedies_.remedies, &Remedy::is_for_reach);
    if (lost > 0)
      text += Say(", which loses {}", Number("lost_with_change", lost, "packet"));
    else
      text += waiting > 0 ? ", which loses nothing" : ", which keeps everything";
    if (shorter != remedies_.remedies.end())
      text += Say("; {} keeps the last {}", Number("shorter_size_kb", shorter->size / 1024),
                  Time("shorter_reach_ns", *shorter->reach_ns));
    return text;
  }

  /// Of a trace: what is not in the log.
  std::string LostBeforeText() const {
    return fmt::format("Data was lost that is not in the trace: {}.", Printable(before_->detail));
  }

  /// Says that nothing was lost, as far as the log goes.
  Sentence NothingLostText() const {
    std::vector<std::string> later;
    for (const SequenceGaps* sequence : sequences_)
      if (sequence->first_chunk > 0 && sequence->written().packets > 0)
        later.push_back(
            fmt::format("{} with #{}", ToString(sequence->sequence), sequence->first_chunk));
    if (later.empty())
      return outcome_.reads.assumed && outcome_.reads.mode == ReadsMode::kStreamed
                 ? "Nothing was lost with these reads."
                 : "Nothing was lost.";
    return Say(
        "Nothing was lost of what is in the log. {} {} not begin with chunk #0 ({}): what came "
        "before is not known.",
        Number("later_sequences", later.size(), "sequence"), later.size() == 1 ? "does" : "do",
        ShortList(later, "other"));
  }

  const GapReport& report_;
  const ReplayOutcome& outcome_;
  const SessionNotes& notes_;
  const RemedyList& remedies_;
  const RecordingVerdict* const before_;  // that losses are not in the log; nullptr if they are
  LedgerTotals totals_;                   // of all buffers
  /// Without what writers dropped: each mark of it stands for an unknown number of packets.
  FateCount lost_, written_;
  StageAccounts stages_;
  uint64_t places_ = 0;      // at which writers dropped packets
  uint64_t dropped_ns_ = 0;  // the longest time that a writer of these found no chunk
  std::vector<const SequenceGaps*> sequences_;
  std::vector<CauseCount> causes_;  // of all gaps
  uint64_t missing_chunks_ = 0;
  const BufferGaps* worst_ = nullptr;  // the buffer that lost most; nullptr if none lost any
};

}  // namespace

Answer AnswerOf(const GapReport& report, const ReplayOutcome& outcome, const SessionNotes& notes,
                const RemedyList& remedies) {
  return LogAnswer(report, outcome, notes, remedies).ToAnswer();
}

ReplayFacts ReplayFactsOf(const GapReport& report, const ReplayOutcome& outcome,
                          const SessionNotes& notes, const RemedyList& remedies) {
  const LogAnswer answer(report, outcome, notes, remedies);
  ReplayFacts facts;
  facts.answer = answer.ToAnswer();
  facts.stages = answer.stages();
  facts.missed_flushes = MissedFlushes(outcome, notes);
  if (outcome.first_time_ns && outcome.last_time_ns)
    facts.session = TimeSpan{static_cast<int64_t>(*outcome.first_time_ns),
                             static_cast<int64_t>(*outcome.last_time_ns)};
  for (const BufferOutcome& buffer : outcome.buffers) {
    ReplayedBuffer& replayed = facts.buffers[buffer.index];
    replayed.id = buffer.id;
    replayed.policy = buffer.policy;
    if (const Remedy* const size = FindSizeRemedy(remedies.remedies, buffer.id))
      replayed.size = size->changes.front();
  }
  for (const CounterRise& rise : report.counted) {
    const auto buffer = std::ranges::find(outcome.buffers, rise.buffer, &BufferOutcome::id);
    if (rise.is_harmless() && buffer != outcome.buffers.end())
      facts.buffers[buffer->index].harmless_recommits += rise.amount;
  }
  const auto add = [&](const char* rule, Sentence what, uint64_t weight) -> Finding& {
    Finding& finding = facts.findings.emplace_back();
    finding.rule = &RuleOf(rule);
    finding.harm = finding.rule->harm;
    finding.what = std::move(what);
    finding.remedy = finding.rule->remedy;
    finding.proof = "The replay of the log, packet by packet.";
    finding.weight = weight;
    return finding;
  };
  if (!report.stale.empty()) add("log.stale", answer.StaleText(), report.stale.size());
  const std::vector<std::string> registered(notes.registered().begin(), notes.registered().end());
  for (const std::string& name : notes.UnknownSources()) {
    const std::optional<std::string> nearest = Nearest(name, registered);
    add("log.unknown_source",
        Say("No producer registered the data source '{}'{}", Printable(name),
            nearest ? fmt::format("; did you mean '{}'?", Printable(*nearest)) : "."),
        0);
  }
  if (answer.losses() > 0) {
    Finding& finding = add("log.lost", answer.LostHeadline(), answer.losses());
    finding.where = Say("by sequence: {}", answer.LosersText());
    finding.cause = Say("{}.", answer.WhyText());
    if (std::string tried = Joined(RemedyTexts(remedies, notes), " "); !tried.empty())
      finding.remedy = std::move(tried);
    finding.changes = remedies.changes;
  }
  if (answer.waiting() > 0)
    add("log.waiting", answer.WaitingHeadline(), answer.waiting()).where = answer.WaitingText();
  const Sentence signs = answer.SignsText();
  if (answer.losses() == 0 && answer.waiting() == 0 && !signs.empty())
    add("log.signs", answer.SignsHeadline(signs), 0).proof = signs;
  return facts;
}

}  // namespace ringscope
