#include <fmt/format.h>

#include <algorithm>

#include "commands/advise/advise_report.h"
#include "commands/shell/text.h"
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
  constexpr size_t kNamed = 6;
  std::string text;
  for (size_t i = 0; i < std::min(sequences.size(), kNamed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ToString(sequences[i]));
  if (sequences.size() > kNamed) text += fmt::format(" and {} more", sequences.size() - kNamed);
  return text;
}

std::string Ms(uint64_t ns) { return fmt::format("{} ms", WithCommas(ns / 1'000'000)); }

/// "What is wanted", as what a buffer does.
std::string GoalText(const AdviceReport& report, BufferId buffer) {
  const AdviceFindings& findings = report.findings;
  for (const PlannedBuffer& planned : findings.plan)
    if (planned.id == buffer && !findings.extrapolated && !findings.reads.periodic &&
        planned.policy == FillPolicy::kRingBuffer && findings.wish.keep_ns)
      return "keeps " + HumanDuration(*findings.wish.keep_ns);
  if (findings.extrapolated && !findings.reads.periodic)
    return "would keep " + HumanDuration(*findings.wish.keep_ns) + " at this log's rate";
  return findings.reads.periodic ? "loses nothing and leaves a fifth free" : "loses nothing";
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
              " Both write {}: a data source has one target_buffer, so if it is the "
              "same one, it must be configured as two.",
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
      report.facts.is_trace ? "Of what the trace has, it loses" : "It lost",
      LostText(numbers.lost, numbers.written));
  if (numbers.lost > 0 && buffer.policy == FillPolicy::kRingBuffer &&
      !report.findings.reads.periodic)
    now += fmt::format("; all sequences reach back {}", HumanDuration(numbers.history_ns));
  now += ". ";
  const std::string goal = GoalText(report, id);
  switch (advice.kind) {
    case AdviceKind::kSizeDoes:
      return now + "Nothing to do.";
    case AdviceKind::kSizeUnknown:
      return now +
             "But the trace reports losses: the buffer was too small. Only a log (ringscope "
             "record) shows by how much.";
    case AdviceKind::kSizeTooSmall:
      return now + fmt::format("{} {}.", HumanSize(numbers.needed), goal);
    case AdviceKind::kSizeNotEnough:
      return now + fmt::format("{} {}, but that is more than --memory allows: it gets {}.",
                               HumanSize(numbers.needed), goal, HumanSize(numbers.planned));
    default:
      return now + fmt::format("No size up to 2 GiB {}.", goal);
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
  return fmt::format(
             "With the same total size: {} in a separate buffer of {}, {} left for the rest of "
             "buffer {}. "
             "The rare ones then lose {} (before: {}), and reach back {} (before: {}); the "
             "moved ones "
             "{} (before: {}).",
             ListText(advice.sequences), HumanSize(numbers.chatty_size),
             HumanSize(numbers.rest_size), Raw(*advice.buffer),
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
           "Clear it (clear_period_ms) ten times as often as the buffer is overwritten; the log "
           "does not show how often that is.";
  if (numbers.period_ns == 0)
    return text +
           fmt::format(
               "A history of {} is too short for clearing to help: enlarge the buffer first.",
               HumanDuration(numbers.history_ns));
  return text + fmt::format(
                    "With clear_period_ms: {}, a tenth of the history of {} planned below, "
                    "at most that much is unusable. (A replay cannot verify this.)",
                    numbers.period_ns / 1'000'000, HumanDuration(numbers.history_ns));
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
    return fmt::format("{} lost nothing because of its shared memory ({}): {}. Nothing to do.",
                       name, HumanSize(size), peaks);
  std::string lost;
  if (numbers.aborted > 0) lost = fmt::format("aborted {}", Count(numbers.aborted, "packet"));
  if (numbers.flagged > 0)
    lost += fmt::format("{}reports with {} that earlier ones are missing",
                        lost.empty() ? "" : " and ", Count(numbers.flagged, "packet"));
  return fmt::format("{} {}: its shared memory ({}) was full; {}. Give it {}.", name, lost,
                     size == 0 ? "its size is not in the log" : HumanSize(size), peaks,
                     HumanSize(numbers.wanted));
}

std::string ReadsText(const Advice& advice, const AdviceReport& report) {
  const unsigned id = Raw(*advice.buffer);
  if (advice.kind == AdviceKind::kPeriodDoes) {
    const auto& numbers = advice.As<PeriodNumbers>();
    return fmt::format(
        "Buffer {} is read every {}, in which at most {} are written: {} of its {}. It "
        "loses nothing. Nothing to do.",
        id, Ms(numbers.period_ns), HumanSize(numbers.peak), Millionths(numbers.share),
        HumanSize(numbers.size));
  }
  if (advice.kind == AdviceKind::kPeriodTight) {
    const auto& numbers = advice.As<ShorterPeriodNumbers>();
    return fmt::format(
        "Buffer {} is read every {}. {} nothing, but up to {} are written in such a time, and a "
        "fifth of its {} should stay free. {}",
        id, Ms(numbers.now_ns),
        report.facts.is_trace ? "Of what the trace has, it loses" : "It lost",
        HumanSize(numbers.peak), HumanSize(numbers.size),
        numbers.period_ns == 0
            ? "No period of 100 ms or more leaves that much free: enlarge the buffer."
            : fmt::format(
                  "If it stays as large: with file_write_period_ms: {} at most {} are written.",
                  numbers.period_ns / 1'000'000, HumanSize(numbers.peak_then)));
  }
  if (advice.kind == AdviceKind::kPeriodTooLong) {
    const auto& numbers = advice.As<ShorterPeriodNumbers>();
    return fmt::format(
        "Buffer {} is read every {}, in which up to {} are written: more than its {} can "
        "keep. With file_write_period_ms: {} at most {} are written, and a replay loses "
        "nothing at today's size.",
        id, Ms(numbers.now_ns), HumanSize(numbers.peak), HumanSize(numbers.size),
        numbers.period_ns / 1'000'000, HumanSize(numbers.peak_then));
  }
  const auto& numbers = advice.As<NewPeriodNumbers>();
  if (advice.kind == AdviceKind::kPeriodWouldDo) {
    return fmt::format(
        "Instead of a larger buffer: written into a file every {} "
        "(write_into_file: true, file_write_period_ms: {}), buffer {} loses "
        "nothing at its {}: at most {} are written in that time, and a replay confirms it.",
        Ms(numbers.period_ns), numbers.period_ns / 1'000'000, id, HumanSize(numbers.size),
        HumanSize(numbers.peak));
  }
  return fmt::format(
      "Reading buffer {} more often does not help at {}: up to {} are written in 100 ms, "
      "the shortest possible file_write_period_ms{}.",
      id, HumanSize(numbers.size), HumanSize(numbers.peak),
      report.findings.reads.periodic ? "" : ", and a fifth should stay free");
}

std::string PolicyText(const Advice& advice) {
  const unsigned id = Raw(*advice.buffer);
  if (advice.kind == AdviceKind::kDiscardStreamed) {
    const auto& numbers = advice.As<DiscardNumbers>();
    return fmt::format(
        "Buffer {} discards, and is read repeatedly: once it is full it accepts nothing "
        "more, however much is read. It discarded {} from {} on. Use RING_BUFFER.",
        id, Count(numbers.lost, "packet"), HumanDuration(numbers.at_ns));
  }
  if (advice.kind == AdviceKind::kDiscardFull) {
    const auto& numbers = advice.As<DiscardNumbers>();
    return fmt::format(
        "Buffer {} discards: it was full {} after the start, and discarded what was "
        "written in the remaining {}, {} of {}. To keep the end of the session, not "
        "its start, use RING_BUFFER.",
        id, HumanDuration(numbers.at_ns),
        HumanDuration(numbers.duration_ns - std::min(numbers.at_ns, numbers.duration_ns)),
        WithCommas(numbers.lost), Count(numbers.written, "packet"));
  }
  const auto& numbers = advice.As<RingNumbers>();
  return fmt::format(
      "{} ({}) wrote to ring buffer {} only in the first {}, and lost {} to later "
      "writes. A separate DISCARD buffer of {} keeps them.",
      Count(numbers.sequences, "sequence"), ListText(advice.sequences), id,
      HumanDuration(numbers.until_ns), Count(numbers.packets, "packet"),
      HumanSize(PagesUp(numbers.bytes)));
}

std::string FlushText(const Advice& advice) {
  if (advice.kind == AdviceKind::kFlushAtEnd) {
    const uint64_t packets = advice.As<UnfinishedNumbers>().packets;
    return fmt::format(
        "{} not finished, or waiting for the rest, when the log ends: a flush before "
        "the last read would deliver them.",
        packets == 1 ? "1 packet was" : Count(packets, "packet") + " were");
  }
  const auto& numbers = advice.As<LateNumbers>();
  return fmt::format(
      "{} were committed more than {} after they were written, the latest {} ({}). With "
      "flush_period_ms: {} none should wait longer. (A replay cannot verify this.)",
      Count(numbers.packets, "packet"), HumanDuration(numbers.limit_ns),
      HumanDuration(numbers.longest_ns), ListText(advice.sequences), numbers.limit_ns / 1'000'000);
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
  }
  return "";
}

const char* AdviceHeading(AdviceTopic topic) {
  static constexpr const char* kHeadings[] = {
      "Buffer sizes", "Who fills the buffers", "A split",       "Reads",
      "Flushes",      "Incremental state",     "Shared memory", "Fill policy"};
  return kHeadings[static_cast<size_t>(topic)];
}

std::string WishText(const AdviceReport& report) {
  const AdviceFindings& findings = report.findings;
  std::string what = "nothing lost";
  if (findings.reads.periodic)
    what += fmt::format(" between reads every {}", Ms(findings.reads.period_ns));
  else if (findings.wish.keep_ns)
    what = fmt::format("the last {}", HumanDuration(*findings.wish.keep_ns));
  else
    what = fmt::format("all {} of the log", HumanDuration(report.facts.duration_ns));
  return fmt::format("{}, in at most {} for all buffers (now: {})", what,
                     HumanSize(findings.wish.memory), HumanSize(report.facts.TotalSize()));
}

}  // namespace ringscope
