#include "commands/replays/loss_words.h"

#include <fmt/format.h>

#include <array>

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
    "discarded: {their} chunk is larger than the buffer",
    "discarded: {their} chunk, or a newer one, left the buffer before {they_were} committed",
    "discarded: the re-commit of {their} chunk breaks the rules",
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
    "a packet is flagged {bits}",
    "no packet that needs incremental state can be used",
    "a producer did not acknowledge the flush in time",
    "counted with this record"};

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
    text += fmt::format(" ({})", LossBitsToString(cause.loss_bits));
  return text;
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
                     fmt::arg("bits", LossBitsToString(rise.loss_bits)));
}

std::string WhoText(const CounterRise& rise) {
  if (!rise.sequence) return "-";
  const std::string sequence = ToString(*rise.sequence);
  return rise.chunk ? fmt::format("{}#{}", sequence, Raw(*rise.chunk)) : sequence;
}

void ListFields(JsonFieldWriter& io, const CounterRise& rise) {
  io("counter", rise.counter, "count", rise.amount, "reason", rise.reason, "buffer", rise.buffer,
     "sequence", rise.sequence, "chunk", rise.chunk);
  ListFields(io, rise.at);
  io("loss_bits", rise.loss_bits, "text", ReasonText(rise));
}

}  // namespace ringscope
