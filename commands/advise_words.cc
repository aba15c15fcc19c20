#include <fmt/format.h>

#include <algorithm>

#include "commands/advise_report.h"
#include "commands/sweep_report.h"
#include "commands/text.h"
#include "core/packet_facts.h"

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
      LostText(advice["lost"], advice["written"]));
  if (advice["lost"] > 0 && buffer.policy == FillPolicy::kRingBuffer &&
      !report.findings.reads.periodic)
    now += fmt::format("; all sequences reach back {}", HumanDuration(advice["history_ns"]));
  now += ". ";
  const std::string goal = GoalText(report, id);
  switch (advice.kind) {
    case AdviceKind::kSizeDoes:
      return now + "Nothing to do.";
    case AdviceKind::kSizeUnknown:
      return now +
             "But the trace reports losses: the buffer was too small, and only a log (ringscope "
             "record) tells by how much.";
    case AdviceKind::kSizeTooSmall:
      return now + fmt::format("{} {}.", HumanSize(advice["needed"]), goal);
    case AdviceKind::kSizeNotEnough:
      return now + fmt::format("{} {}, but that is more than --memory allows: it gets {}.",
                               HumanSize(advice["needed"]), goal, HumanSize(advice["planned"]));
    default:
      return now + fmt::format("No size up to 2 GiB {}.", goal);
  }
}

std::string StateText(const Advice& advice) {
  std::string text =
      fmt::format("{} in {} ({}) were read, but need incremental state that was lost. ",
                  Count(advice["packets"], "packet"), Count(advice["sequences"], "sequence"),
                  ListText(advice.sequences));
  if (!advice.to_do) return text + "The session clears its state often enough.";
  if (advice["history_ns"] == 0)
    return text +
           "Clear it (clear_period_ms) ten times as often as the buffer turns over; how often "
           "that is, the log does not tell.";
  if (advice["period_ns"] == 0)
    return text +
           fmt::format("A history of {} is too short for clearing it to help: first more room.",
                       HumanDuration(advice["history_ns"]));
  return text + fmt::format(
                    "With clear_period_ms: {}, a tenth of the history of {} planned below, "
                    "at most that much is unusable. (A replay cannot verify this.)",
                    advice["period_ns"] / 1'000'000, HumanDuration(advice["history_ns"]));
}

std::string SharedMemoryText(const Advice& advice, const AdviceReport& report) {
  const AdviceProducer& producer = *report.facts.Find(*advice.producer);
  const std::string name = producer.name.empty() ? fmt::format("Producer {}", Raw(producer.id))
                                                 : Printable(producer.name);
  const std::string peaks =
      fmt::format("at its peak it writes {} in 10 ms and {} in 100 ms",
                  HumanSize(advice["peak_10ms"]), HumanSize(advice["peak_100ms"]));
  const uint64_t size = advice["smb_size"];
  if (!advice.to_do)
    return fmt::format("{} lost nothing for want of shared memory ({}): {}. Nothing to do.", name,
                       HumanSize(size), peaks);
  std::string lost;
  if (advice["aborted"] > 0) lost = fmt::format("gave up {}", Count(advice["aborted"], "packet"));
  if (advice["flagged"] > 0)
    lost += fmt::format("{}says of {} that others before them are missing",
                        lost.empty() ? "" : " and ", Count(advice["flagged"], "packet"));
  return fmt::format("{} {}: its shared memory ({}) was full; {}. Give it {}.", name, lost,
                     size == 0 ? "of a size that the log does not tell" : HumanSize(size), peaks,
                     HumanSize(advice["wanted"]));
}

std::string ReadsText(const Advice& advice, const AdviceReport& report) {
  const unsigned id = Raw(*advice.buffer);
  const std::string size = HumanSize(advice["size"]);
  const std::string period = Ms(advice["period_ns"]);
  switch (advice.kind) {
    case AdviceKind::kPeriodDoes:
      return fmt::format(
          "Buffer {} is read every {}, in which at most {} come: {} of its {}. It "
          "loses nothing. Nothing to do.",
          id, period, HumanSize(advice["peak"]), Millionths(advice["share"]), size);
    case AdviceKind::kPeriodTight:
      return fmt::format(
          "Buffer {} is read every {}. {} nothing, but up to {} come within such a time, and a "
          "fifth "
          "of its {} should stay free. {}",
          id, Ms(advice["now_ns"]),
          report.facts.is_trace ? "Of what the trace has, it loses" : "It lost",
          HumanSize(advice["peak"]), size,
          advice["period_ns"] == 0
              ? "No period of 100 ms or more leaves that much free: it needs more room."
              : fmt::format(
                    "If it gets no more room: with file_write_period_ms: {} at most {} come.",
                    advice["period_ns"] / 1'000'000, HumanSize(advice["peak_then"])));
    case AdviceKind::kPeriodTooLong:
      return fmt::format(
          "Buffer {} is read every {}, in which up to {} come: more than its {} can "
          "take. With file_write_period_ms: {} at most {} come, and a replay loses "
          "nothing at today's size.",
          id, Ms(advice["now_ns"]), HumanSize(advice["peak"]), size,
          advice["period_ns"] / 1'000'000, HumanSize(advice["peak_then"]));
    case AdviceKind::kPeriodWouldDo:
      return fmt::format(
          "Instead of more room: written into a file every {} "
          "(write_into_file: true, file_write_period_ms: {}), buffer {} loses "
          "nothing at its {}: at most {} come in that time, and a replay confirms it.",
          period, advice["period_ns"] / 1'000'000, id, size, HumanSize(advice["peak"]));
    default:
      break;
  }
  return fmt::format(
      "Reading buffer {} more often does not save it at {}: up to {} come in 100 ms, "
      "the shortest possible file_write_period_ms{}.",
      id, size, HumanSize(advice["peak"]),
      report.findings.reads.periodic ? "" : ", and a fifth should stay free");
}

std::string PolicyText(const Advice& advice) {
  const unsigned id = Raw(*advice.buffer);
  switch (advice.kind) {
    case AdviceKind::kDiscardStreamed:
      return fmt::format(
          "Buffer {} discards, and is read again and again: once full it stays "
          "closed, however much is read. It refused {} from {} on. Use RING_BUFFER.",
          id, Count(advice["lost"], "packet"), HumanDuration(advice["at_ns"]));
    case AdviceKind::kDiscardFull:
      return fmt::format(
          "Buffer {} discards: it was full {} after the start, and refused what came "
          "in the {} left, {} of {}. To have the end of the session, not "
          "its start, use RING_BUFFER.",
          id, HumanDuration(advice["at_ns"]),
          HumanDuration(advice["duration_ns"] - std::min(advice["at_ns"], advice["duration_ns"])),
          WithCommas(advice["lost"]), Count(advice["written"], "packet"));
    default:
      break;
  }
  return fmt::format(
      "{} ({}) wrote to ring buffer {} only in the first {}, and lost {} to what came "
      "later. A DISCARD buffer of {} of their own keeps them.",
      Count(advice["sequences"], "sequence"), ListText(advice.sequences), id,
      HumanDuration(advice["until_ns"]), Count(advice["packets"], "packet"),
      HumanSize((advice["bytes"] + 4095) / 4096 * 4096));
}

std::string FlushText(const Advice& advice) {
  if (advice.kind == AdviceKind::kFlushAtEnd)
    return fmt::format(
        "{} not finished, or waiting for the rest, when the log ends: a flush before "
        "the last read would bring them.",
        advice["packets"] == 1 ? "1 packet was" : Count(advice["packets"], "packet") + " were");
  return fmt::format(
      "{} came more than {} after they were written, the latest {} ({}). With "
      "flush_period_ms: {} none should wait longer. (A replay cannot verify this.)",
      Count(advice["packets"], "packet"), HumanDuration(advice["limit_ns"]),
      HumanDuration(advice["longest_ns"]), ListText(advice.sequences),
      advice["limit_ns"] / 1'000'000);
}

}  // namespace

std::string AdviceText(const Advice& advice, const AdviceReport& report) {
  switch (advice.topic) {
    case AdviceTopic::kSizes:
      return SizeText(advice, report);
    case AdviceTopic::kCrowding:
      return fmt::format(
          "In buffer {}, {} of {} take {} of the room, and push out the rare ones "
          "({}), which lost {}.",
          Raw(*advice.buffer), WithCommas(advice["chatty"]),
          Count(advice["chatty"] + advice["rare"], "sequence"), Millionths(advice["chatty_share"]),
          ListText(advice.sequences), LostText(advice["rare_lost"], advice["rare_written"]));
    case AdviceTopic::kSplit:
      return fmt::format(
                 "At today's total: {} in a buffer of {} of their own, {} left for the rest of "
                 "buffer {}. "
                 "The rare ones then lose {} (before: {}), and reach back {} (before: {}); the "
                 "moved ones "
                 "{} (before: {}).",
                 ListText(advice.sequences), HumanSize(advice["chatty_size"]),
                 HumanSize(advice["rest_size"]), Raw(*advice.buffer),
                 LostText(advice["lost_after"], advice["written"]),
                 WithCommas(advice["lost_before"]), HumanDuration(advice["history_after_ns"]),
                 HumanDuration(advice["history_before_ns"]),
                 HumanDuration(advice["chatty_after_ns"]),
                 HumanDuration(advice["chatty_before_ns"])) +
             SharedContentText(advice, report);
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
