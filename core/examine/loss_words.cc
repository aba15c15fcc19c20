#include "core/examine/loss_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

/// By Cause, with {they}, {they_were}, {their} and {them}, as there can be one packet or several.
/// Causes of packets that are not lost have no words.
constexpr std::array<const char*, kEnumNames<Cause>.size()> kCauseWords = {
    nullptr,
    "overwritten before {they_were} read",
    "overwritten while waiting for a patch",
    "overwritten while an earlier packet of {their} sequence lacked a patch",
    "discarded: the buffer was already full",
    "discarded: {they} did not fit into the buffer",
    "refused by the buffer: {their} chunk is larger than it",
    "refused by the buffer: {their} chunk, or a newer one, left it before {they_were} committed",
    "refused by the buffer: the re-commit of {their} chunk breaks the rules",
    "refused by the service: committed before the shared memory was set up",
    "refused by the service: {their} page is outside the shared memory",
    "refused by the service: {their} buffer is not set up",
    "refused by the service: the producer may not write to this buffer",
    "aborted by {their} writer",
    "not reassembled: one of {their} chunks was never committed",
    "not reassembled: one of {their} chunks is not in the log, which is not complete there",
    "not reassembled: no chunk before {them} begins {them}",
    "not reassembled: {their} beginning was committed before the log begins, or never",
    "not reassembled: the next chunk does not continue {them}",
    "abandoned at a gap in the chunk ids",
    "abandoned by the buffer",
    "corrupted: a fragment has an impossible size",
    "corrupted: {their} chunk was re-committed with other bytes",
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    "refused by the service's validation when {they_were} read",
    nullptr,
    "not reassembled: a clone took {their} buffer over before {they_were} complete",
    "cleared for a clone: {their} buffer's config has clear_before_clone",
    "refused by the service's validation: a patch changed {them} after {they_were} complete",
    "lost: the engine does not report why",
};

/// By CountReason; {found} and {counted} are numbers of fragments, {bits} loss bits.
constexpr std::array<const char*, kEnumNames<CountReason>.size()> kCountTexts = {
    "the buffer does not report why",
    "has {found}, but its header counts {counted}",
    "a fragment has an impossible size",
    "larger than the buffer allows",
    "its re-commit has fewer fragments or flags than before, or does not fit in its place",
    "it was committed before, with the same packets: nothing is missing",
    "a patch arrived while the chunk was not in the buffer",
    "a patch is for bytes outside it",
    "its writer aborted a packet",
    "a packet is flagged '{bits}'",
    "no packet that needs incremental state can be used",
    "a producer did not acknowledge the flush in time"};

/// By AbortReason.
constexpr std::array<const char*, kEnumNames<AbortReason>.size()> kAbortReasons = {
    "the shared memory was full; the log does not show why",
    "a packet was larger than the shared memory",
    "the producer wrote a burst that its shared memory does not hold",
    "the shared memory was full while the service was blocked",
    "the producer's writers held all chunks of the shared memory",
    "the producer held complete chunks back",
    "the service was late to free chunks of the shared memory",
    "the recorder held the producer's requests back"};

/// Remedies for full shared memory, by AbortReason.
constexpr std::array<const char*, kEnumNames<AbortReason>.size()> kMemoryRemedies = {
    "perhaps more shared memory for the producer",
    "shared memory that is larger than the packet, or smaller packets with a delay between them",
    "shared memory for the burst",
    "shared memory for the burst",
    "more chunks than writers that hold one, or fewer writers",
    "a shorter shmem_batch_commits_duration_ms, or flushes",
    "shared memory for the time that the service takes",
    "shared memory for the time that the recorder takes, or a read of the session after its end"};

std::string OwnFaultWords(const CauseCount& cause) {
  std::string words = "buffer bug: all fragments were in the buffer, complete and patched";
  if ((cause.loss_bits & kLossReassemblyGap) != 0 || cause.cause == Cause::kReadGap)
    words += ", but the reader attributed an earlier gap in the chunk ids to {them}";
  else if ((cause.loss_bits & kLossReassemblyBrokenChain) != 0)
    words += ", but the reader did not accept the next chunk as {their} continuation";
  return words;
}

}  // namespace

std::string ProducerText(ProducerId producer, const std::string& name) {
  return name.empty() ? fmt::format("producer {}", Raw(producer))
                      : fmt::format("producer {} '{}'", Raw(producer), Printable(name));
}

std::string RemediesText(const Gap& gap) {
  const GapRemedies& remedies = gap.remedies;
  if (remedies.no_size_helps)
    return "no buffer size or read period helps, as the patch is not in the log: find out why its "
           "writer did not send it";
  if (remedies.larger_smb)
    return kMemoryRemedies.at(static_cast<size_t>(gap.abort.value_or(AbortFacts()).reason));
  if (!remedies.buffer_size && !remedies.flush && gap.Has(Cause::kAlreadyConsumed))
    return "no buffer size, read period or flush helps: the producer has to commit the chunks of a "
           "writer in the order of their ids";
  return "";
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
  std::string text = Name(fate);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string CauseText(const CauseCount& cause) {
  const bool is_one = cause.count.packets == 1;
  const char* words = kCauseWords.at(static_cast<size_t>(cause.cause));
  if (words == nullptr) words = "lost, the cause is unknown";
  std::string text = fmt::format(
      fmt::runtime(cause.own_fault ? OwnFaultWords(cause) : std::string(words)),
      fmt::arg("they", is_one ? "it" : "they"),
      fmt::arg("they_were", is_one ? "it was" : "they were"),
      fmt::arg("their", is_one ? "its" : "their"), fmt::arg("them", is_one ? "it" : "them"));
  if (cause.own_fault) return text;
  if (cause.cause == Cause::kUnknown && cause.fate == Fate::kDiscarded)
    return "discarded: the engine does not report why";
  if (cause.cause == Cause::kGivenUp && cause.loss_bits != 0)
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

std::string AbortReasonText(AbortReason reason) {
  return kAbortReasons.at(static_cast<size_t>(reason));
}

std::string MomentText(const SessionNotes& notes, const LogMoment& moment) {
  if (!moment.record) return "before the first record";
  if (!moment.time_ns) return fmt::format("record {}", *moment.record);
  return fmt::format("record {} ({})", *moment.record, TimeText(notes, moment.time_ns));
}

std::string ReasonText(const CounterRise& rise) {
  return fmt::format(fmt::runtime(kCountTexts.at(static_cast<size_t>(rise.reason))),
                     fmt::arg("found", Count(rise.found, "fragment")),
                     fmt::arg("counted", rise.fragments),
                     fmt::arg("bits", LossBitsText(rise.loss_bits)));
}

std::string WhoText(const CounterRise& rise) {
  if (!rise.sequence) return "-";
  const std::string sequence = ToString(*rise.sequence);
  return rise.chunk ? fmt::format("{}#{}", sequence, Raw(*rise.chunk)) : sequence;
}

namespace {

/// What of a recording is not exact: a noun, and a clause in which {} is how often, counted in
/// `counted`, and {was} is "was" or "were".
struct ReasonWords {
  const char* noun;
  const char* clause;
  const char* counted = "";
};

/// By InexactReason.
constexpr std::array<ReasonWords, 15> kReasonWords = {{
    {"the order of requests",
     "requests of different clients are in the order in which they were forwarded, which may not "
     "be the service's"},
    {"requests that cannot be confirmed",
     "the service offers no way to confirm the order of requests ({})", "client"},
    {"the instants of clones", "the instant of {} is an estimate", "clone"},
    {"which session some buffers belong to", "the session or buffer of {} is assumed",
     "data source"},
    {"requests at the end of connections",
     "the service ended {}, perhaps before it had handled the last requests", "connection"},
    {"what was scraped", "what the service scraped is an estimate ({})", "producer"},
    {"buffers that are not known", "size and policy of {} are not known", "buffer"},
    {"the reads",
     "when the buffers were read is not known exactly (a replay with --reads like=TRACE finds it)"},
    {"producers that it has not seen", "{} {was} not connected through the recorder", "producer"},
    {"what happened before it", "what happened before it is missing"},
    {"its gaps", "the recording has {}", "gap"},
    {"what happened after it", "what happened after it is missing: {} had not ended", "session"},
    {"what the buffers lost",
     "the log was made from a trace, which lacks what the buffers lost, so a replay cannot show "
     "what other sizes or reads would have kept"},
    {"the times of packets without a timestamp",
     "packets of the trace that have no timestamp are placed after the packet before them in their "
     "sequence, so when they were written is not known"},
    {"losses that the recorder may have caused",
     "requests of a producer were held back by the recorder, {}, while its shared memory was full",
     "time"},
}};

const ReasonWords& WordsFor(InexactReason reason) {
  return kReasonWords.at(static_cast<size_t>(reason));
}

/// @param times how often; for the kinds that are counted
std::string ClauseOf(InexactReason reason, uint64_t times) {
  const ReasonWords& words = WordsFor(reason);
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

std::string VerdictSentence(const Verdicts& verdicts, bool is_empty) {
  if (is_empty) return "Nothing was recorded: no producer committed anything.";
  if (verdicts.empty()) return "This recording is exact.";
  std::vector<std::string> nouns;
  for (const auto& [reason, times] : ByReason(verdicts)) nouns.emplace_back(WordsFor(reason).noun);
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
