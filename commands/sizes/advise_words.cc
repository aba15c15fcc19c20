#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"
#include "commands/sizes/advise_report.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

std::string Millionths(uint64_t share) { return ShareText(share, 1'000'000); }

/// "123 of 456 packets (27.0%)"
std::string LostText(uint64_t lost, uint64_t written) {
  if (lost == 0) return "nothing";
  return fmt::format("{} of {} ({})", WithCommas(lost), Count(written, "packet"),
                     ShareText(lost, written));
}

/// "1:3, 1:5 and 4 more"
std::string ListText(const std::vector<SequenceKey>& sequences) {
  std::vector<std::string> names;
  for (const SequenceKey key : sequences) names.push_back(ToString(key));
  return SomeOf(names);
}

uint64_t InMs(uint64_t ns) { return ns / 1'000'000; }

/// The front of a sentence; what was lost follows.
const char* LossStart(const AdviceReport& report) {
  if (report.facts.is_trace) return "A replay of the trace loses";
  return report.reads.assumed ? "With these reads it loses" : "It lost";
}

/// The goal, as what a buffer would do.
std::string GoalText(const AdviceReport& report, BufferId buffer) {
  const AdviceFindings& findings = report.findings;
  if (findings.reads.periodic) return "would lose nothing and leave a fifth free";
  if (findings.extrapolated)
    return "would keep " + HumanDuration(*findings.wish.keep_ns) + " at the log's data rate";
  for (const PlannedBuffer& planned : findings.plan)
    if (planned.id == buffer && planned.policy == FillPolicy::kRingBuffer && findings.wish.keep_ns)
      return "would keep " + HumanDuration(*findings.wish.keep_ns);
  return "would lose nothing";
}

/// A buffer is chosen by data source: what chatty and rare sequences of the same kind need first.
std::string SharedContentText(const Advice& advice, const AdviceReport& report) {
  for (const SplitOutcome& tried : report.findings.tried) {
    if (tried.split.from != *advice.buffer) continue;
    const auto content_of = [&](SequenceKey key) {
      for (const AdviceSequence& sequence : report.facts.sequences)
        if (sequence.sequence == key && sequence.buffer == tried.split.from)
          return sequence.content;
      return uint32_t{0};
    };
    for (const SequenceKey rare : tried.split.rare)
      for (const SequenceKey chatty : tried.split.chatty)
        if (content_of(rare) == content_of(chatty))
          return fmt::format(
              " Both groups write {}, and each data source of a config has one target_buffer: "
              "if both come from the same one, list it a second time with the other buffer, and "
              "divide between the two what it records (of track_event the categories).",
              ContentName(content_of(rare)));
  }
  return "";
}

std::string SizeText(const Advice& advice, const AdviceReport& report) {
  const auto& numbers = advice.As<SizeNumbers>();
  const BufferId id = *advice.buffer;
  const AdviceBuffer& buffer = *report.facts.Find(id);
  const uint64_t duration = report.facts.duration_ns;
  std::string now = fmt::format(
      "Buffer {}: {} {}, written at {}/s on average. {} {}", Raw(id), HumanSize(buffer.size),
      Name(buffer.policy),
      duration == 0 ? "?"
                    : HumanSize(static_cast<uint64_t>(static_cast<double>(buffer.rate.bytes()) *
                                                      1e9 / static_cast<double>(duration))),
      LossStart(report), LostText(numbers.lost, numbers.written));
  if (numbers.lost > 0 && numbers.still_lost == numbers.lost)
    now += ", which no size changes";
  else if (numbers.lost > 0 && buffer.policy == FillPolicy::kRingBuffer &&
           !report.findings.reads.periodic)
    now +=
        fmt::format("; every sequence reaches back at least {}", HumanDuration(numbers.history_ns));
  now += ". ";
  std::string goal = GoalText(report, id);
  if (numbers.still_lost > 0 && !report.findings.wish.keep_ns)
    goal = fmt::format("still loses {}, as a replay shows", Count(numbers.still_lost, "packet"));
  switch (advice.kind) {
    case AdviceKind::kSizeDoes:
      return now + "Nothing to do.";
    case AdviceKind::kSizeTooLarge:
      return now + fmt::format("{} would have been enough; the rest is a reserve.",
                               SizeWithKb(numbers.enough));
    case AdviceKind::kSizeTooSmall:
      return now + fmt::format("A buffer of {} {}.", SizeWithKb(numbers.needed), goal);
    case AdviceKind::kSizeNotEnough:
      return now + fmt::format("A buffer of {} {}, but --memory does not allow it: {} is planned.",
                               SizeWithKb(numbers.needed), goal, HumanSize(numbers.planned));
    default:
      return now + fmt::format("No size {}.", goal);
  }
}

std::string CrowdingText(const Advice& advice) {
  const auto& numbers = advice.As<CrowdingNumbers>();
  return fmt::format(
      "In buffer {}, {} of {} write {} of the bytes, and overwrite the rare ones "
      "({}), which lost {}.",
      Raw(*advice.buffer), WithCommas(numbers.chatty),
      Count(numbers.chatty + numbers.rare, "sequence"), Millionths(numbers.chatty_share),
      ListText(advice.sequences), LostText(numbers.rare_lost, numbers.rare_written));
}

std::string SplitText(const Advice& advice, const AdviceReport& report) {
  const auto& numbers = advice.As<SplitNumbers>();
  const bool planned = std::ranges::any_of(report.findings.splits, [&](const PlannedSplit& split) {
    return split.from == *advice.buffer;
  });
  return fmt::format(
             "{} {} to a separate buffer of {}, and leave {} for the "
             "rest of buffer {}. The rare ones then lose {} instead of {}, and reach back {} "
             "instead of {}; the moved ones reach back {} instead of {}.",
             planned ? "Move" : "With the same total size: move", ListText(advice.sequences),
             HumanSize(numbers.chatty_size), HumanSize(numbers.rest_size), Raw(*advice.buffer),
             LostText(numbers.lost_after, numbers.written), WithCommas(numbers.lost_before),
             HumanDuration(numbers.history_after_ns), HumanDuration(numbers.history_before_ns),
             HumanDuration(numbers.chatty_after_ns), HumanDuration(numbers.chatty_before_ns)) +
         SharedContentText(advice, report);
}

std::string StateText(const Advice& advice) {
  const auto& numbers = advice.As<StateNumbers>();
  std::string text =
      fmt::format("{} in {} ({}) were read, but need incremental state that was lost. ",
                  Count(numbers.packets, "packet"), Count(numbers.sequences, "sequence"),
                  ListText(advice.sequences));
  if (!advice.to_do) return text + "The session clears its state often enough.";
  if (numbers.history_ns == 0)
    return text +
           "Set clear_period_ms to a tenth of the time in which the buffer is overwritten once; "
           "the "
           "log does not show that time.";
  if (numbers.period_ns == 0)
    return text + fmt::format(
                      "A planned history of {} is too short for clearing to help: enlarge the "
                      "buffer first.",
                      HumanDuration(numbers.history_ns));
  return text +
         fmt::format(
             "With clear_period_ms: {}, a tenth of the planned history of {}, at most that much is "
             "unusable. (A replay cannot verify this.)",
             InMs(numbers.period_ns), HumanDuration(numbers.history_ns));
}

std::string SharedMemoryText(const Advice& advice, const AdviceReport& report) {
  const auto& numbers = advice.As<SharedMemoryNumbers>();
  const AdviceProducer& producer = *report.facts.Find(*advice.producer);
  const std::string name = producer.name.empty() ? fmt::format("Producer {}", Raw(producer.id))
                                                 : Printable(producer.name);
  const std::string peaks =
      fmt::format("at its peak it writes {} in 10 ms and {} in 100 ms",
                  HumanSize(numbers.peak_10ms), HumanSize(numbers.peak_100ms));
  const uint64_t size = numbers.smb_size;
  if (!advice.to_do)
    return fmt::format("{} lost nothing through full shared memory ({}): {}. Nothing to do.",
                       name, HumanSize(size), peaks);
  std::string lost;
  if (numbers.aborted > 0) lost = fmt::format("aborted {}", Count(numbers.aborted, "packet"));
  if (numbers.flagged > 0)
    lost += fmt::format("{}flagged {} as following a loss", lost.empty() ? "" : " and ",
                        Count(numbers.flagged, "packet"));
  return fmt::format(
      "{} {}, because its shared memory ({}) was full: {}. Enlarge it to {}. (An estimate by these "
      "rates: a replay cannot try it.)",
      name, lost, size == 0 ? "of unknown size" : HumanSize(size), peaks,
      HumanSize(numbers.wanted));
}

std::string ReadsText(const Advice& advice, const AdviceReport& report) {
  const unsigned id = Raw(*advice.buffer);
  if (advice.kind == AdviceKind::kPeriodDoes) {
    const auto& numbers = advice.As<PeriodNumbers>();
    return fmt::format(
        "Buffer {} is read every {}. Between two reads at most {} are written, {} of its {}. It "
        "loses nothing. Nothing to do.",
        id, PeriodInWords(numbers.period_ns), HumanSize(numbers.peak), Millionths(numbers.share),
        HumanSize(numbers.size));
  }
  if (advice.kind == AdviceKind::kPeriodTight || advice.kind == AdviceKind::kPeriodTooLong) {
    const auto& numbers = advice.As<ShorterPeriodNumbers>();
    const bool tight = advice.kind == AdviceKind::kPeriodTight;
    std::string text =
        fmt::format("Buffer {} is read every {}. ", id, PeriodInWords(numbers.now_ns));
    text += tight
                ? fmt::format(
                      "{} nothing, but between two reads up to {} are written, and a "
                      "fifth of its {} should stay free. ",
                      LossStart(report), HumanSize(numbers.peak), HumanSize(numbers.size))
                : fmt::format("Between two reads up to {} are written, more than its {} can hold. ",
                              HumanSize(numbers.peak), HumanSize(numbers.size));
    if (numbers.period_ns == 0)
      return text + "No period of 100 ms or more leaves that much free: enlarge the buffer.";
    return text +
           fmt::format("At this size, with file_write_period_ms: {} at most {} are written{}.",
                       InMs(numbers.period_ns), HumanSize(numbers.peak_then),
                       tight ? "" : ", and a replay loses nothing");
  }
  const auto& numbers = advice.As<NewPeriodNumbers>();
  if (advice.kind == AdviceKind::kPeriodWouldDo) {
    const bool planned = report.findings.becomes_periodic;
    return fmt::format(
        "{} buffer {}: write into a file every {} (write_into_file: true, "
        "file_write_period_ms: {}). At most {} are written in that time, and a replay with {} "
        "loses nothing.",
        planned ? "The memory is too small for a larger" : "Instead of a larger", id,
        PeriodInWords(numbers.period_ns), InMs(numbers.period_ns), HumanSize(numbers.peak),
        HumanSize(numbers.size));
  }
  return fmt::format(
      "Reading buffer {} more often does not help at {}: up to {} are written in 100 ms, the "
      "shortest possible file_write_period_ms{}.",
      id, HumanSize(numbers.size), HumanSize(numbers.peak),
      report.findings.reads.periodic ? "" : ", and a fifth of the buffer should stay free");
}

std::string PolicyText(const Advice& advice) {
  const unsigned id = Raw(*advice.buffer);
  if (advice.kind == AdviceKind::kRingForStart) {
    const auto& numbers = advice.As<RingNumbers>();
    return fmt::format(
        "{} ({}) wrote to ring buffer {} only in the first {}, and lost {} to later writes. A "
        "separate DISCARD buffer of {} would keep them.",
        Count(numbers.sequences, "sequence"), ListText(advice.sequences), id,
        HumanDuration(numbers.until_ns), Count(numbers.packets, "packet"),
        HumanSize(PagesUp(numbers.bytes)));
  }
  if (advice.kind == AdviceKind::kDiscardWillSeal) {
    const auto& numbers = advice.As<DiscardRiskNumbers>();
    return fmt::format(
        "Buffer {} is DISCARD, and is read repeatedly. Nothing was discarded yet ({} written, of "
        "{}); but once a chunk does not fit, it accepts nothing more, however much was read. Trace "
        "processor counts DISCARD with write_into_file as a loss by itself "
        "(config_write_into_file_discard). Use RING_BUFFER.",
        id, HumanSize(numbers.bytes), HumanSize(numbers.size));
  }
  const auto& numbers = advice.As<DiscardNumbers>();
  const std::string start = fmt::format("DISCARD buffer {} was full {} after the start", id,
                                        HumanDuration(numbers.at_ns));
  if (advice.kind == AdviceKind::kDiscardStreamed)
    return fmt::format(
        "{}. From then on it accepted nothing more, although it is read repeatedly, and discarded "
        "{}. Use RING_BUFFER.",
        start, Count(numbers.lost, "packet"));
  return fmt::format(
      "{}, and discarded what was written in the remaining {}: {} of {}. To keep the end of the "
      "session, not its start, use RING_BUFFER.",
      start, HumanDuration(numbers.duration_ns - std::min(numbers.at_ns, numbers.duration_ns)),
      WithCommas(numbers.lost), Count(numbers.written, "packet"));
}

std::string FlushText(const Advice& advice) {
  if (advice.kind == AdviceKind::kFlushAtEnd) {
    const uint64_t packets = advice.As<UnfinishedNumbers>().packets;
    return fmt::format(
        "{} unfinished (stalled or incomplete) when the log ends: a flush before the last read "
        "completes what their writers still had.",
        packets == 1 ? "1 packet was" : Count(packets, "packet") + " were");
  }
  if (advice.kind == AdviceKind::kFlushedInVain) {
    const uint64_t packets = advice.As<UnfinishedNumbers>().packets;
    return fmt::format(
        "{} unfinished (stalled or incomplete) when the log ends, although a flush "
        "succeeded after their last part was written: what is missing was never sent. Neither a "
        "flush nor a size helps.",
        packets == 1 ? "1 packet was" : Count(packets, "packet") + " were");
  }
  const auto& numbers = advice.As<LateNumbers>();
  return fmt::format(
      "{} were committed more than {} after their timestamps, the latest {} after ({}). With "
      "flush_period_ms: {} none should be later than that. (A replay cannot verify this.)",
      Count(numbers.packets, "packet"), HumanDuration(numbers.limit_ns),
      HumanDuration(numbers.longest_ns), ListText(advice.sequences), InMs(numbers.limit_ns));
}

std::string ProgramText(const Advice& advice) {
  const auto& numbers = advice.As<ProgramNumbers>();
  const std::string source = Printable(advice.data_source);
  const auto would_lose = [&](uint64_t lost) {
    return fmt::format("{} of buffer {}", lost == 0 ? "no packet" : Count(lost, "packet"),
                       Raw(*advice.buffer));
  };
  if (advice.kind == AdviceKind::kProgramWithoutMemory)
    return fmt::format(
        "Data source '{}' has a program that folds what is overwritten into a state, but its "
        "config gives it no memory, so that the service does not run it. With protovm_config {{ "
        "memory_limit_kb: {} }} {} would be lost instead of {}, as a replay shows.",
        source, WithCommas(numbers.enough / 1024), would_lose(numbers.lost_then),
        WithCommas(numbers.lost));
  std::string text = fmt::format(
      "The program of '{}' has {} that {} overwritten in its state ({}): {} {} lost, and {} would "
      "be without programs.",
      source, Count(numbers.folded, "packet"), Was(numbers.folded), HumanSize(numbers.state_bytes),
      would_lose(numbers.lost), numbers.lost <= 1 ? "was" : "were",
      WithCommas(numbers.lost_without));
  if (numbers.too_late > 0)
    text += fmt::format(" {} {} folded after the only read that writes the state: in no trace.",
                        Count(numbers.too_late, "packet"), Was(numbers.too_late));
  if (advice.kind == AdviceKind::kProgramDoes) return text + " Nothing to do.";
  text += fmt::format(" At its memory limit of {} it dropped {} and {}.", HumanSize(numbers.limit),
                      Count(numbers.dropped, "packet"), Count(numbers.elements, "element"));
  if (advice.kind == AdviceKind::kProgramNeverEnough)
    return text + " No limit that was tried, up to 64 MiB, is enough.";
  return text + fmt::format(" With {} it drops nothing, and {} {} lost, as a replay shows.",
                            HumanSize(numbers.enough), would_lose(numbers.lost_then),
                            numbers.lost_then <= 1 ? "is" : "are");
}

}  // namespace

std::string AdviceText(const Advice& advice, const AdviceReport& report) {
  switch (advice.topic) {
    case AdviceTopic::kSizes:
      return SizeText(advice, report);
    case AdviceTopic::kCrowding:
      return CrowdingText(advice);
    case AdviceTopic::kSplit:
      return SplitText(advice, report);
    case AdviceTopic::kReads:
      return ReadsText(advice, report);
    case AdviceTopic::kFlush:
      return FlushText(advice);
    case AdviceTopic::kState:
      return StateText(advice);
    case AdviceTopic::kSharedMemory:
      return SharedMemoryText(advice, report);
    case AdviceTopic::kPolicy:
      return PolicyText(advice);
    case AdviceTopic::kPrograms:
      return ProgramText(advice);
  }
  return "";
}

const char* AdviceHeading(AdviceTopic topic) {
  static constexpr const char* kHeadings[] = {
      "Buffer sizes",      "Who fills the buffers", "Separate buffers", "Reads",
      "Flushes",           "Incremental state",     "Shared memory",    "Fill policy",
      "Programs (ProtoVM)"};
  return kHeadings[static_cast<size_t>(topic)];
}

std::string WishText(const AdviceReport& report) {
  const AdviceFindings& findings = report.findings;
  std::string what = "nothing lost";
  if (findings.reads.periodic)
    what += fmt::format(" with a read every {}", PeriodInWords(findings.reads.period_ns));
  else if (findings.wish.keep_ns)
    what = fmt::format("the last {}", HumanDuration(*findings.wish.keep_ns));
  else
    what = fmt::format("all {} of the log", HumanDuration(report.facts.duration_ns));
  if (!findings.wish.memory) return what + "; --memory would limit the buffers' sizes";
  return fmt::format("{}, in at most {} for all buffers (now: {})", what,
                     HumanSize(*findings.wish.memory), HumanSize(report.facts.TotalSize()));
}

}  // namespace ringscope
