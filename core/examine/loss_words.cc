#include "core/examine/loss_words.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

std::string OwnFaultWords(const CauseCount& cause) {
  std::string words = "buffer bug: all fragments were in the buffer, complete and patched";
  if ((cause.loss_bits & kLossReassemblyGap) != 0 || cause.cause == Cause::kReadGap)
    words += ", but the reader attributed an earlier gap in the chunk ids to {them}";
  else if ((cause.loss_bits & kLossReassemblyBrokenChain) != 0)
    words += ", but the reader did not accept the next chunk as {their} continuation";
  return words;
}

/// @param times how often; for the kinds that are counted
std::string ClauseOf(InexactReason reason, uint64_t times) {
  const InexactRow& words = RowOf(reason);
  if (reason == InexactReason::kProducers && times == 0)
    return "whether producers were connected to the service itself is not known";
  return fmt::format(fmt::runtime(words.clause), Count(times, words.counted),
                     fmt::arg("was", Was(times)));
}

std::map<InexactReason, uint64_t> ByReason(const Verdicts& verdicts) {
  std::map<InexactReason, uint64_t> times;
  for (const RecordingVerdict& verdict : verdicts) times[verdict.reason] += verdict.times;
  return times;
}

}  // namespace

std::string ProducerText(ProducerId producer, const std::string& name) {
  return name.empty() ? fmt::format("producer {}", Raw(producer))
                      : fmt::format("producer {} '{}'", Raw(producer), Printable(name));
}

std::string TimeText(const SessionNotes& notes, const std::optional<uint64_t>& time_ns) {
  return time_ns ? notes.clock().Text(*time_ns) : "?";
}

std::string SpanText(const SessionNotes& notes, const std::optional<uint64_t>& from,
                     const std::optional<uint64_t>& to, const char* between) {
  const std::string first = TimeText(notes, from), last = TimeText(notes, to);
  return first == last ? first : first + between + last;
}

std::string SpanText(const SessionNotes& notes, const MomentSpan& span) {
  if (span.first.time_ns && span.last.time_ns)
    return SpanText(notes, span.first.time_ns, span.last.time_ns);
  if (span.first.record == span.last.record)
    return fmt::format("record {}", span.first.record.value_or(0));
  return fmt::format("record {} to record {}", span.first.record.value_or(0),
                     span.last.record.value_or(0));
}

std::vector<std::string> MissedFlushes(const ReplayOutcome& outcome, const SessionNotes& notes) {
  std::vector<std::string> texts;
  for (const auto& [producer, times] : outcome.service.missed_flushes)
    texts.push_back(ProducerText(producer, notes.ProducerOf({producer, WriterId{1}})) + " (" +
                    Count(times, "time") + ")");
  return texts;
}

std::string FateText(Fate fate) {
  if (fate == Fate::kIncomplete) return "unfinished";
  std::string text = Name(fate);
  std::ranges::replace(text, '_', ' ');
  return fate == Fate::kReadable || fate == Fate::kStalled ? "waiting (" + text + ")" : text;
}

std::string CauseText(const CauseCount& cause) {
  const bool is_one = cause.count.packets == 1;
  const char* words = RowOf(cause.cause).text;
  if (words == nullptr) words = "lost, the cause is unknown";
  std::string text = fmt::format(
      fmt::runtime(cause.own_fault ? OwnFaultWords(cause) : std::string(words)),
      fmt::arg("they", is_one ? "it" : "they"),
      fmt::arg("they_were", is_one ? "it was" : "they were"),
      fmt::arg("their", is_one ? "its" : "their"), fmt::arg("them", is_one ? "it" : "them"));
  if (cause.own_fault) return text;
  if (cause.cause == Cause::kUnknown && cause.fate == Fate::kDiscarded)
    return "discarded: the engine does not report why";
  if (cause.cause == Cause::kAbandoned && cause.loss_bits != 0)
    text += fmt::format(" ({})", LossBitsText(cause.loss_bits));
  return text;
}

std::vector<std::string> CauseTexts(const std::vector<CauseCount>& causes) {
  std::vector<CauseCount> sums;
  for (const CauseCount& cause : causes) {
    // Loss bits are in the words of buffer bugs alone.
    const auto same = std::ranges::find_if(sums, [&](const CauseCount& sum) {
      return sum.cause == cause.cause && !sum.own_fault && !cause.own_fault;
    });
    if (same == sums.end())
      sums.push_back(cause);
    else
      same->count += cause.count;
  }
  if (sums.size() == 1) return {CauseText(sums.front())};
  std::ranges::stable_sort(sums, std::ranges::greater(),
                           [](const CauseCount& sum) { return sum.count.packets; });
  std::vector<std::string> texts;
  for (const CauseCount& sum : sums)
    texts.push_back(fmt::format("{} {}", WithCommas(sum.count.packets), CauseText(sum)));
  return texts;
}

std::string MomentText(const SessionNotes& notes, const LogMoment& moment) {
  if (!moment.record) return "before the first record";
  if (!moment.time_ns) return fmt::format("record {}", *moment.record);
  return fmt::format("record {} ({})", *moment.record, TimeText(notes, moment.time_ns));
}

std::string VerdictSentence(const Verdicts& verdicts, bool is_empty) {
  if (is_empty) return "Nothing was recorded: no producer committed anything.";
  if (verdicts.empty()) return "This recording is exact.";
  std::vector<std::string> nouns;
  for (const auto& [reason, times] : ByReason(verdicts)) nouns.emplace_back(RowOf(reason).noun);
  const std::string last = nouns.back();
  nouns.pop_back();
  return fmt::format("This recording is {} {}{}{}.",
                     LacksProducers(verdicts) ? "not exact, because of" : "exact but for",
                     Joined(nouns), nouns.empty() ? "" : " and ", last);
}

std::string InexactText(const Verdicts& verdicts) {
  std::vector<std::string> texts;
  for (const auto& [reason, times] : ByReason(verdicts)) texts.push_back(ClauseOf(reason, times));
  return Joined(texts, "; ");
}

std::string VerdictLines(const Verdicts& verdicts, size_t indent) {
  std::string lines;
  for (const RecordingVerdict& verdict : verdicts) {
    const std::string text =
        fmt::format("{}{}{}", verdict.session ? fmt::format("session {}: ", *verdict.session) : "",
                    ClauseOf(verdict.reason, verdict.times),
                    verdict.detail.empty() ? "" : ": " + Printable(verdict.detail));
    lines += Wrap(text, std::string(indent, ' ') + "- ") + "\n";
  }
  return lines;
}

std::string FoldedText(const ReplayOutcome& outcome, const PacketCount& folded) {
  uint64_t runs = 0, in_trace = 0, errors = 0, aborted = 0;
  for (const BufferOutcome& buffer : outcome.buffers) {
    const VmRuns of_buffer = buffer.programs();
    runs += of_buffer.folded;
    in_trace += of_buffer.in_trace;
    errors += of_buffer.errors;
    aborted += of_buffer.aborted;
  }
  const bool is_read = in_trace > 0;
  const uint64_t not_in_trace = runs - in_trace;
  if (runs + errors + aborted == 0) return {};
  std::vector<std::string> parts;
  if (folded.packets > 0)
    parts.push_back(
        fmt::format("{} ({}) {} overwritten, but {} content is in a state (ProtoVM){}",
                    Count(folded.packets, "packet"), HumanSize(folded.bytes), Was(folded.packets),
                    folded.packets == 1 ? "its" : "their",
                    is_read ? ", which is in the trace" : ", which the first read would write"));
  if (is_read && not_in_trace > 0)
    parts.push_back(
        fmt::format("{} {} folded after the only read that writes the state, so that {} lost",
                    Count(not_in_trace, "packet"), Was(not_in_trace),
                    not_in_trace == 1 ? "it is" : "they are"));
  if (errors + aborted > 0)
    parts.push_back(fmt::format("programs' runs: {} ended with an error, {} aborted",
                                WithCommas(errors), WithCommas(aborted)));
  return Joined(parts, "; ");
}

}  // namespace ringscope
