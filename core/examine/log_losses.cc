#include "core/examine/examination.h"
#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

constexpr size_t kNamed = 2;  // sequences and sources

class LossWriter {
 public:
  explicit LossWriter(const Examination& examination)
      : examination_(examination),
        report_(examination.log->gaps),
        outcome_(examination.log->outcome),
        notes_(examination.log->notes) {}

  LogLosses Write() {
    const BufferGaps* worst = nullptr;
    for (const BufferGaps& buffer : report_.buffers) {
      losses_.totals += buffer.totals;
      if (buffer.totals.lost().packets > (worst == nullptr ? 0 : worst->totals.lost().packets))
        worst = &buffer;
      for (const SequenceGaps& sequence : buffer.sequences) sequences_.push_back(&sequence);
    }
    if (const auto* const outcome = worst == nullptr ? nullptr : outcome_.Find(worst->id))
      losses_.worst_buffer = outcome->index;
    losses_.places = examination_.account.all[Stage::kSharedMemory].places;
    losses_.lost = totals().lost().packets;
    losses_.waiting = totals()[Fate::kStalled].packets;
    if (outcome_.read_passes > 0) unread_ = totals()[Fate::kReadable].packets;
    losses_.signs = Signs();
    losses_.waiting_headline = Say("{} wait{} in a buffer, and {} not in the trace.",
                                   Number("waiting", losses_.waiting, "packet"),
                                   losses_.waiting == 1 ? "s" : "", Is(losses_.waiting));
    losses_.headline = losses_.any()           ? LostHeadline()
                       : losses_.waiting > 0   ? losses_.waiting_headline
                       : losses_.signs.empty() ? NothingLostHeadline()
                       : unread_ > 0           ? UnreadHeadline()
                                               : Say("No packet of the log was lost, but more "
                                                               "may be missing: {}.",
                                                     losses_.signs);
    if (losses_.any()) {
      losses_.why = losses_.lost > 0 ? Why() : WhyDropped();
      losses_.losers = Losers();
      losses_.sources = Sources();
      losses_.needed = Needed();
      losses_.evictors = Evictors();
      if (losses_.lost > 0) losses_.over_time = OverTime();
      if (losses_.lost > 0 && losses_.places > 0)
        losses_.dropped = Say("more, by their writers, {}", DroppedPlaces());
    }
    losses_.still_there = Waiting();
    losses_.stale = Stale();
    losses_.clones = Clones();
    return std::move(losses_);
  }

 private:
  const LedgerTotals& totals() const { return losses_.totals; }

  Sentence LostHeadline() const {
    if (totals()[Fate::kRead].packets > 0)
      if (const Sentence left = LeftText(examination_, losses_.worst_buffer); !left.empty())
        return Say("{}.", left);
    if (losses_.lost == 0) return Say("Writers dropped packets {}.", DroppedPlaces());
    return Say("{} of {} ({}) {} lost{}.", Number("lost", losses_.lost),
               Number("written", totals().written.packets, "packet"),
               Share("share_lost", losses_.lost, totals().written.packets), Was(losses_.lost),
               LostWhen());
  }

  Sentence UnreadHeadline() const {
    const uint64_t unread = totals()[Fate::kReadable].packets;
    return Say("{} of {} {} not read, and {} not in the trace.", Number("unread", unread),
               Number("written", totals().written.packets, "packet"), Was(unread), Is(unread));
  }

  Sentence NothingLostHeadline() const {
    if (totals()[Fate::kReadable].packets > 0) return UnreadHeadline();
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

  Sentence Why() const {
    std::vector<CauseCount> causes;
    std::map<Cause, uint64_t> packets;
    for (const SequenceGaps* sequence : sequences_)
      for (const Gap& gap : sequence->gaps)
        for (const CauseCount& cause : gap.causes) {
          if (cause.cause == Cause::kAborted) continue;
          causes.push_back(cause);
          packets[cause.cause] += cause.count.packets;
        }
    Sentence why = ShortList(CauseTexts(causes), "other cause", "; ");
    for (const auto& [cause, count] : packets)
      AddFigures(why.figures, Number(fmt::format("cause.{}", Name(cause)), count));
    return why;
  }

  /// The reason that the looks at the shared memory show most often.
  const char* WhyDropped() const {
    std::array<uint64_t, kEnumNames<AbortReason>.size()> places{};
    for (const SequenceGaps* sequence : sequences_)
      for (const Gap& gap : sequence->gaps)
        if (gap.abort) ++places.at(static_cast<size_t>(gap.abort->reason));
    return RowOf(static_cast<AbortReason>(std::ranges::max_element(places) - places.begin())).text;
  }

  Sentence Losers() const {
    const bool by_places = losses_.lost == 0;
    const auto lost_by = [&](const SequenceGaps* each) {
      return by_places ? each->stages[Stage::kSharedMemory].places : each->lost().packets;
    };
    std::vector<const SequenceGaps*> losers = sequences_;
    std::erase_if(losers, [&](const SequenceGaps* each) { return lost_by(each) == 0; });
    std::ranges::stable_sort(losers, std::ranges::greater(), lost_by);
    SharesOf shares;
    for (const SequenceGaps* each : std::span(losers).first(std::min(kNamed, losers.size())))
      shares.emplace_back(
          notes_.NameOf(each->sequence, each->gaps.empty()
                                            ? std::nullopt
                                            : each->gaps.front().written.first.time_ns) +
              (std::ranges::count(losers, each->sequence, &SequenceGaps::sequence) > 1
                   ? " in " + notes_.NameOf(each->buffer)
                   : ""),
          lost_by(each));
    return Shares("lost_by", shares, by_places ? losses_.places : losses_.lost, kNamed);
  }

  Sentence Sources() const {
    SharesOf shares;
    for (const SourceLosses& each : LossesBySource(sequences_, notes_))
      if (each.lost.packets > 0) shares.emplace_back(Printable(each.source), each.lost.packets);
    return shares.size() < 2 ? "" : Shares("lost_of", shares, losses_.lost, kNamed);
  }

  Sentence Needed() const {
    const std::vector<NeededProcess>& needed = examination_.log->needed;
    if (needed.empty()) return {};
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    std::vector<std::string> names;
    for (const NeededProcess& process : needed) {
      first_ns = std::min(first_ns, process.first_ns);
      last_ns = std::max(last_ns, process.last_ns);
      const std::string name = process.name.substr(process.name.rfind('/') + 1);
      names.push_back(
          fmt::format("pid {}{}", process.pid,
                      name.empty() || needed.size() > 1 ? "" : " (" + Printable(name) + ")"));
    }
    return Say("{} of events need the lost process tree of {}",
               Time("needed_ns", last_ns - first_ns), ShortList(names, "other process"));
  }

  Sentence Evictors() const {
    uint64_t all = 0;
    SharesOf shares;
    for (const EvictorCount& evictor : report_.evictors) {
      all += evictor.packets;
      shares.emplace_back(notes_.NameOf(evictor.sequence), evictor.packets);
    }
    return Shares("evicted_by", shares, all, kNamed);
  }

  Sentence OverTime() const {
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

  Sentence DroppedPlaces() const {
    uint64_t blocked_ns = 0;  // the longest time that a writer of these found no chunk
    for (const SequenceGaps* sequence : sequences_)
      blocked_ns = std::max(blocked_ns, sequence->dropped_ns);
    return Say("at {} where the shared memory was full{}; how many is not known",
               Number("dropped_places", losses_.places, "place"),
               blocked_ns == 0 ? "" : Say(", for up to {}", Time("dropped_ns", blocked_ns)));
  }

  Sentence Waiting() const {
    if (losses_.waiting == 0) return {};
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
    return Say("{} ({}) {} still in the buffer, and {} not read{}",
               Number("waiting", losses_.waiting, "packet"),
               Size("waiting_bytes", totals()[Fate::kStalled].bytes), Is(losses_.waiting),
               Was(losses_.waiting), at);
  }

  Sentence Stale() const {
    if (report_.stale.empty()) return "";
    uint64_t packets = 0;
    for (const StaleSequence& stale : report_.stale) packets += stale.stale;
    const StaleSequence& worst = *std::ranges::max_element(
        report_.stale, {}, [](const StaleSequence& one) { return one.longest.delay_ns; });
    const bool is_hole = examination_.trace && examination_.trace->hole;
    return Say("{} came late: an event{} of {}, in {}, at {}.{}",
               Number("stale", packets, "packet"),
               worst.longest.cpu ? fmt::format(" of CPU {}", *worst.longest.cpu) : "",
               TimeOf("stale_event_ns", worst.longest.time_ns), notes_.NameOf(worst.sequence),
               TimeOf("stale_commit_ns", worst.longest.time_ns + worst.longest.delay_ns),
               is_hole ? " The UI shows a huge gap." : "");
  }

  Sentence Signs() const {
    const auto cpus = static_cast<uint64_t>(
        std::ranges::count_if(FtraceLossesOf(outcome_.ftrace), &FtraceCpuLosses::lost_in_session));
    const std::vector<LossCount> counts = LossCountsOf(outcome_, report_);
    if (!GapSelection(report_, 0, {}).any_sign && counts.empty() && cpus == 0 && unread_ == 0)
      return {};
    const bool is_known = losses_.any() || losses_.waiting > 0;
    Sentence signs;
    const auto add = [&](const Sentence& sign) {
      signs += Say("{}{}", signs.empty() ? "" : ", ", sign);
    };
    uint64_t missing_chunks = 0;
    for (const SequenceGaps* sequence : sequences_) missing_chunks += sequence->missing_chunks;
    if (unread_ > 0) add(Say("{} not read", Number("unread", unread_, "packet")));
    if (missing_chunks > 0)
      add(Say("{} without a commit in the log",
              Number("missing_chunks", missing_chunks, "chunk id")));
    if (report_.reports() > 0)
      add(Say("{} where the log is not complete",
              Number("reported_places", report_.reports(), "place")));
    // Of losses that are known, the counters tell nothing new.
    const std::string missed = Joined(MissedFlushes(outcome_, notes_));
    for (const LossCount& each : counts)
      if (!is_known && (missed.empty() || each.name != "flushes_failed"))
        add(Say("{}: {}", each.name, Number(each.name, each.count)));
    if (!missed.empty()) add("flushes not acknowledged by " + missed);
    const uint64_t events = KernelLosses(outcome_.ftrace).count.packets;
    if (cpus > 0)
      add(Say("{} lost by ftrace on {}",
              events > 0 ? Number("ftrace_events", events, "event") : "events",
              Number("ftrace_cpus", cpus, "CPU")));
    if (signs.empty() && !is_known)
      add("packets that are flagged, though no loss before them is known");
    return signs;
  }

  Sentence Clones() const {
    uint64_t made = 0, first = 0;
    for (const CloneFacts& clone : outcome_.clones)
      if (!clone.failed && made++ == 0) first = clone.clone;
    if (made == 0 || outcome_.clone) return "";
    return Say("{} {} made, and may have other packets: ringscope gaps --clone {}",
               Number("clones", made), Was(made), Number("first_clone", first));
  }

  Sentence TimeFromStart(const char* name, uint64_t ns) const {
    return TimeOf(name, std::min(ns, outcome_.last_time_ns.value_or(ns)));
  }

  Sentence TimeOf(const char* name, uint64_t ns) const {
    return Time(name, SignedNs(ns) - SignedNs(notes_.start_ns()));
  }

  Sentence LostWhen() const {
    const LossTimeline& timeline = report_.over_time;
    const auto& intervals = timeline.intervals();
    const auto lost = [](const TimelineInterval& interval) { return interval.lost > 0; };
    const auto first = std::ranges::find_if(intervals, lost);
    const auto last = std::find_if(intervals.rbegin(), intervals.rend(), lost);
    if (intervals.size() < 2 || first == intervals.end()) return {};
    const auto at = [&](const char* name, auto intervals_before) {
      return TimeFromStart(
          name, std::max(timeline.first_written_ns(),
                         timeline.first_ns() +
                             static_cast<uint64_t>(intervals_before) * timeline.interval_ns()));
    };
    const Sentence from = at("lost_from_ns", first - intervals.begin());
    const Sentence to = at("lost_to_ns", intervals.rend() - last);
    return from.text == to.text ? Say(", at {}", from) : Say(", from {} to {}", from, to);
  }

  const Examination& examination_;
  const GapReport& report_;
  const ReplayOutcome& outcome_;
  const SessionNotes& notes_;
  std::vector<const SequenceGaps*> sequences_;
  uint64_t unread_ = 0;  // packets that one more read would have returned, in a session with reads
  LogLosses losses_;
};

}  // namespace

LogLosses LossesOf(const Examination& examination) { return LossWriter(examination).Write(); }

Sentence LeftText(const Examination& examination, std::optional<uint32_t> buffer) {
  const Subject& subject = examination.subject;
  const Reach* const reach = buffer ? FindIn(examination.reach, *buffer) : nullptr;
  if (reach == nullptr || !subject.time ||
      reach->ns >= static_cast<uint64_t>(subject.time->length_ns()))
    return {};
  return Say("Only {}the last {} of {} are left{}", reach->is_estimate ? "about " : "",
             Time("left_ns", reach->ns), Time("duration_ns", subject.time->length_ns()),
             subject.sizes.size() < 2 ? "" : " of " + BufferName(subject.facts, *buffer));
}

std::string ShortList(const std::vector<std::string>& texts, std::string_view further,
                      std::string_view between) {
  constexpr size_t kMost = 3, kColumns = 115, kOfFurther = 20;
  std::string list;
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t space = kColumns - (i + 1 < texts.size() ? kOfFurther : 0);
    if (i > 0 && (i == kMost || DisplayWidth(list) + DisplayWidth(texts[i]) > space))
      return fmt::format("{}{}{}", list, between, Count(texts.size() - i, further));
    list += i == 0 ? texts[i] : fmt::format("{}{}", between, texts[i]);
  }
  return list;
}

}  // namespace ringscope
